/* Rows that are copied past the caches: all of their bytes, and none beside them, on every instruction set. */
#include "engine/frames/copy_rows.h"

#include <cstring>
#include <string>
#include <vector>

#include <check.h>  // after what includes streams: it defines a macro fail()

#include "tests/support/check_main.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr size_t kRows = 3, kMostBytes = 201;
constexpr ptrdiff_t kStride = 256;
constexpr std::byte kUntouched{0xA5};

struct alignas(64) Plane {
  std::byte bytes[kRows * kStride];
};

START_TEST(rows_are_copied_and_nothing_beside_them) {
  Plane to;
  std::vector<std::byte> from(kRows * kMostBytes + 1);
  for (size_t i = 0; i < from.size(); i++) from[i] = static_cast<std::byte>(i * 7 % 251);
  for_each_cpu_target([&](const std::string& target) {
    for (size_t row_bytes = 0; row_bytes <= kMostBytes; row_bytes++) {
      std::memset(to.bytes, static_cast<int>(kUntouched), sizeof to.bytes);
      const std::byte* const first = from.data() + row_bytes % 2;  // also where no vector begins
      copy_rows_past_caches(to.bytes, kStride, first, static_cast<ptrdiff_t>(kMostBytes), row_bytes, kRows);
      for (size_t y = 0; y < kRows; y++)
        for (size_t x = 0; x < static_cast<size_t>(kStride); x++) {
          const std::byte want = x < row_bytes ? first[y * kMostBytes + x] : kUntouched;
          ck_assert_msg(to.bytes[y * kStride + x] == want, "%s: %zu bytes, row %zu, byte %zu", target.c_str(),
                        row_bytes, y, x);
        }
    }
  });
}
END_TEST

START_TEST(rows_may_lie_upside_down) {
  Plane to, from;
  for (size_t i = 0; i < sizeof from.bytes; i++) from.bytes[i] = static_cast<std::byte>(i % 253);
  copy_rows_past_caches(to.bytes, kStride, from.bytes + (kRows - 1) * kStride, -kStride, kStride, kRows);
  for (size_t y = 0; y < kRows; y++)
    ck_assert(!std::memcmp(to.bytes + y * kStride, from.bytes + (kRows - 1 - y) * kStride, kStride));
}
END_TEST

}  // namespace

int main() {
  return run_suite("copy_rows",
                   {{"rows", rows_are_copied_and_nothing_beside_them}, {"upside_down", rows_may_lie_upside_down}});
}
