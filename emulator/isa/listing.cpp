#include "emulator/isa/listing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "emulator/runtime/report.h"

namespace vmafx::emulator::isa {
namespace {

/* Names that Debian and LLVM give it; the first that exists is taken. */
constexpr const char* kPrograms[] = {"llvm-objdump-19", "llvm-objdump-20", "llvm-objdump-21", "llvm-objdump-22",
                                     "llvm-objdump"};

bool is_installed(const std::string& program) {
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "/usr/bin:/bin");
  for (std::string folder; std::getline(path, folder, ':');)
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

std::string find_program() {
  std::string names;
  for (const char* program : kPrograms) {
    if (is_installed(program)) return program;
    names += (names.empty() ? "" : ", ") + std::string(program);
  }
  die("machine code is decoded by llvm-objdump, and there is none of %s: install the package llvm-19", names.c_str());
}

/* A file in memory, which the program reads by its number. */
std::string disassemble(std::span<const uint8_t> code_object) {
  const int file = memfd_create("code object", 0);
  if (file < 0 || write(file, code_object.data(), code_object.size()) != static_cast<ssize_t>(code_object.size()))
    die("cannot hand a code object over to llvm-objdump");
  const std::string command = text("LD_PRELOAD= %s -d /dev/fd/%d", find_program().c_str(), file);
  FILE* output = popen(command.c_str(), "r");
  if (!output) die("cannot run %s", command.c_str());
  std::string listing;
  char buffer[1 << 16];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, output)) > 0;) listing.append(buffer, n);
  if (pclose(output)) die("%s failed", command.c_str());
  close(file);
  return listing;
}

/* "\tv_mov_b32_e32 v1, 0      // 000000001234: 7E020280": the text, the address, the words. */
Line parse(const std::string& line) {
  const size_t comment = line.rfind("// ");
  if (comment == std::string::npos) die("llvm-objdump gives no address: %s", line.c_str());
  const size_t end = line.find_last_not_of(" \t", comment - 1);
  char* rest = nullptr;
  const uint64_t address = std::strtoull(line.c_str() + comment + 3, &rest, 16);
  unsigned size = 0;
  std::istringstream words(*rest ? rest + 1 : "");
  for (std::string word; words >> word && std::isxdigit(static_cast<unsigned char>(word[0]));) size += 4;
  return {line.substr(1, end), address, size};
}

}  // namespace

Listing::Listing(std::span<const uint8_t> code_object) : text_(disassemble(code_object)) {
  for (size_t begin = 0; begin < text_.size();) {
    const size_t end = std::min(text_.find('\n', begin), text_.size());
    if (std::isdigit(static_cast<unsigned char>(text_[begin]))) {  // "0000000000012600 <name>:"
      const size_t name = text_.find('<', begin) + 1;
      begins_[text_.substr(name, text_.find('>', name) - name)] = end + 1;
    }
    begin = end + 1;
  }
}

std::vector<Line> Listing::lines(const std::string& function) const {
  std::vector<Line> lines;
  const auto found = begins_.find(function);
  if (found == begins_.end()) return lines;
  for (size_t begin = found->second; begin < text_.size() && text_[begin] == '\t';) {
    const size_t end = std::min(text_.find('\n', begin), text_.size());
    Line line = parse(text_.substr(begin, end - begin));
    if (line.text != "s_code_end") lines.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

}  // namespace vmafx::emulator::isa
