#include "fuzz/target.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/hash.h"

namespace vmafx::fuzz {

Choice::Choice(const uint8_t* data, size_t size) {
  Hash hash;
  hash.add(data, size);
  rest_ = hash.value();
}

bool Choice::one_in(unsigned inputs) {
  static const bool kAll = std::getenv("FUZZ_ALL");
  const bool is_one = rest_ % inputs == 0;
  rest_ /= inputs;
  return is_one || kAll;
}

bool Script::next() {
  do {
    if (rest_.empty()) return false;
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
  } while (line_.empty());
  what_ = line_[0];
  line_.remove_prefix(1);
  return true;
}

std::string_view Script::word() {
  line_.remove_prefix(std::min(line_.find_first_not_of(' '), line_.size()));
  const std::string_view word = line_.substr(0, line_.find(' '));
  line_.remove_prefix(word.size());
  return word;
}

int Script::number(int least, int most) {
  const std::string_view digits = word();
  int64_t number = least;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc()) return least;
  const int64_t count = int64_t{most} - least + 1;
  if (number < least || number > most) number = least + static_cast<int64_t>(static_cast<uint64_t>(number) % count);
  return static_cast<int>(number);
}

double Script::real() {
  const std::string_view digits = word();
  double number = 0;
  const bool is_number = std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc();
  return is_number ? number : 0;
}

std::string Script::text() {
  line_.remove_prefix(!line_.empty() && line_[0] == ' ');
  std::string text;
  for (size_t i = 0; i < line_.size(); i++) {
    const bool escaped = line_[i] == '\\' && i + 1 < line_.size();
    const char c = line_[i += escaped];
    text += !escaped ? c : c == 'n' ? '\n' : c == 'r' ? '\r' : c == '0' ? '\0' : c;
  }
  line_ = {};
  return text;
}

MemoryFile::MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) { REQUIRE(fd_ >= 0, "no memory for a file"); }

MemoryFile::~MemoryFile() { close(fd_); }

void MemoryFile::set(std::string_view text) const {
  REQUIRE(ftruncate(fd_, 0) == 0 && pwrite(fd_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()),
          "%zu bytes were not taken", text.size());
}

std::string MemoryFile::text() const {
  struct stat info = {};
  REQUIRE(fstat(fd_, &info) == 0, "there is no file");
  std::string text(static_cast<size_t>(info.st_size), '\0');
  REQUIRE(pread(fd_, text.data(), text.size(), 0) == info.st_size, "%zu bytes were not given", text.size());
  return text;
}

}  // namespace vmafx::fuzz
