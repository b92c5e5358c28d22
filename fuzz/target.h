/* The tools that fuzz targets share. A target is a source with libFuzzer's entry, which is given any bytes and returns
 * 0: it holds the library to its promises with REQUIRE. */
#ifndef VMAFX_FUZZ_TARGET_H
#define VMAFX_FUZZ_TARGET_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/status.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/* Ends the program if the promise is broken, which is what fuzzers look for. The printf-formatted words describe the
 * case. */
#define REQUIRE(condition, ...)                                                  \
  do {                                                                           \
    if (condition) break;                                                        \
    std::fprintf(stderr, "%s:%d: broken: %s: ", __FILE__, __LINE__, #condition); \
    std::fprintf(stderr, "%s\n", ::vmafx::format_text(__VA_ARGS__).c_str());     \
    std::abort();                                                                \
  } while (0)

/* Marks functions that make samples: neither sanitizers nor the fuzzer's guide look at them, which would take most of a
 * run's time. */
#ifdef __clang__
#define UNOBSERVED __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define UNOBSERVED
#endif

namespace vmafx::fuzz {

inline bool same(double a, double b) { return a == b || (a != a && b != b); }

/* A failure has a code and words for the user, which C can print. */
inline void require_reason(const Status& status) {
  REQUIRE(status.code() > 0, "code %d", status.code());
  REQUIRE(!status.message().empty(), "code %d without words", status.code());
}

/* The rest of an input, line by line: a script. The first character of a line says what it is about. */
class Script {
 public:
  Script(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  /* The next line that is not empty; false at the end. */
  bool next();

  char what() const { return what_; }

  /* The next word of the line as a number from `least` to `most`: others are folded into that range, no number is
   * `least`. */
  int number(int least, int most);
  double real();  // "nan" and "inf" are numbers; no number is 0

  /* The rest of the line; `\n`, `\r`, `\0` and `\\` in it stand for single characters. */
  std::string text();

 private:
  std::string_view word();

  std::string_view rest_, line_;
  char what_ = 0;
};

/* Picks the inputs for which costly checks are done. Their bytes choose, so that the same input does the same again.
 * With FUZZ_ALL=1 all checks are done for each of them. */
class Choice {
 public:
  Choice(const uint8_t* data, size_t size);

  /* Whether this is one of the inputs for which it is done; each call is about another thing. */
  bool one_in(unsigned inputs);

 private:
  uint64_t rest_;
};

/* A file that has no name: what is written to path() can be read again. */
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string pipe() const { return "pipe:" + std::to_string(fd_); }           // to write to
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }  // to read from
  void set(std::string_view text) const;
  std::string text() const;

 private:
  int fd_;
};

}  // namespace vmafx::fuzz

#endif
