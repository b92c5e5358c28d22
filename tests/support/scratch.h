/* Test scratch: memory as a twin gets it, full of rubbish, past whose end nothing may be written. */
#ifndef VMAFX_TESTS_SUPPORT_SCRATCH_H
#define VMAFX_TESTS_SUPPORT_SCRATCH_H

#include <cstring>

#include "base/aligned.h"
#include "tests/support/check_main.h"

namespace vmafx::test {

inline constexpr int kRubbish = 0xA5, kRubbishNan = 0xFF;  // bytes; a float of the second ones is no number

/* The test fails where the scratch memory ends and a byte behind it has changed. */
class TestScratch {
 public:
  explicit TestScratch(size_t bytes, int rubbish = kRubbish)
      : bytes_(bytes), rubbish_(rubbish), memory_(allocate_aligned(bytes + kGuard)) {
    spoil();
    std::memset(memory_.get() + bytes, rubbish, kGuard);
  }
  ~TestScratch() {
    size_t i = 0;  // one assertion for all bytes: Check writes down where each one stands
    while (i < kGuard && memory_[bytes_ + i] == std::byte(rubbish_)) i++;
    ck_assert_msg(i == kGuard, "byte %zu behind %zu bytes of scratch memory is written", i, bytes_);
  }
  TestScratch(const TestScratch&) = delete;
  TestScratch& operator=(const TestScratch&) = delete;

  /* Makes rubbish of what a run left there. */
  void spoil() { std::memset(memory_.get(), rubbish_, bytes_); }
  std::byte* get() const { return memory_.get(); }

 private:
  static constexpr size_t kGuard = 256;

  const size_t bytes_;
  const int rubbish_;
  const AlignedBytes memory_;
};

}  // namespace vmafx::test

#endif
