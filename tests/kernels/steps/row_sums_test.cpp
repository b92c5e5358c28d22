/* Sums in libvmaf's order: the strip gives the definition's bits, whatever its rows, and touches nothing else. */
#include "kernels/steps/row_sums.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "base/aligned.h"
#include "kernels/steps/rows.h"
#include "tests/support/check_main.h"
#include "tests/support/scratch.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* Planes of quantities * h rows of n values of many sizes, a row of each quantity after the other. */
std::vector<float> random_planes(int quantities, int n, int h) {
  std::mt19937 random(quantities * 7919 + n * 31 + h);
  std::lognormal_distribution<float> any(0, 4);
  std::vector<float> values(static_cast<size_t>(quantities) * n * h);
  for (float& v : values) v = random() % 4 ? any(random) : -any(random);
  return values;
}

void check(int quantities, int n, int h) {
  const std::vector<float> values = random_planes(quantities, n, h);
  const auto row = [&](int quantity, int y) { return values.data() + (y * quantities + quantity) * n; };

  const TestScratch scratch(RowStrip::bytes(quantities, n));
  std::vector<uint64_t> got(quantities);
  RowStrip strip(quantities, n, scratch.get(), got.data());
  for (int y = 0; y < h; y++) {
    for (int q = 0; q < quantities; q++) {
      ck_assert_uint_eq(reinterpret_cast<uintptr_t>(strip.row(q)) % kCacheLine, 0);
      std::memset(strip.row(q), 0xFF, sizeof(float) * (n + kRowSlack)); /* NaN behind the row */
      std::copy_n(row(q, y), n, strip.row(q));
    }
    strip.end_row();
  }
  strip.finish();

  for (int q = 0; q < quantities; q++) {
    RowSum want;
    for (int y = 0; y < h; y++) {
      for (int x = 0; x < n; x++) want.add(row(q, y)[x]);
      want.end_row();
    }
    ck_assert_msg(got[q] == want.word(), "%d of %d, %dx%d: %a, not %a", q, quantities, n, h, sum_of_word(got[q]),
                  sum_of_word(want.word()));
  }
}

}  // namespace

START_TEST(strips) {
  for (int quantities = 1; quantities <= 9; quantities++)
    for (int h = 0; h <= 19; h++) check(quantities, 1 + (quantities * 37 + h * 11) % 150, h);
  for (int n = 0; n <= 70; n++) check(2, n, 5);
  check(3, 1920, 17);
}
END_TEST

START_TEST(order) {
  /* A small value added to 2^24 is lost; in a row of its own it is not. */
  constexpr float kBig = 0x1p24f;
  RowSum sum;
  for (const float v : {kBig, 1.f, 1.f}) sum.add(v);
  sum.end_row();
  ck_assert(sum_of_word(sum.word()) == kBig);
  for (const float v : {1.f, 1.f}) sum.add(v);
  sum.end_row();
  ck_assert(sum_of_word(sum.word()) == kBig + 2);
  ck_assert_uint_eq(RowSum().word(), 0);
}
END_TEST

int main() { return run_suite("row_sums", {{"strips", strips}, {"order", order}}); }
