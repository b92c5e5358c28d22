/* Rows of floats: one float and vectors of them give the same bits, at every width, and touch nothing else. */
#include <check.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "kernels/steps/rows-inl.h"
#include "tests/kernels/steps/rows_lanes.h"
#include "tests/support/check_main.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr int kWidest = 3 * kRowSlack, kMargin = SomeFilter::kRadius;

void assert_same(const std::string& target, int n, const std::vector<float>& got, const std::vector<float>& want,
                 size_t count) {
  for (size_t i = 0; i < count; i++)
    ck_assert_msg(got[i] == want[i], "%s, %d wide, at %zu: %a, not %a", target.c_str(), n, i, got[i], want[i]);
}

template <class T>
void check_floats_of(const std::string& target, int n, float scale) {
  std::vector<T> samples(n);
  for (int i = 0; i < n; i++) samples[i] = static_cast<T>(i * 7919 + n);
  std::vector<float> got(n + 1, -1.f), want(n + 1, -1.f); /* exactly n are read and written */
  samples_to_floats(samples.data(), n, scale, want.data());
  for (int i = 0; i < n; i++) ck_assert(want[i] == samples[i] * scale);
  floats_of_lanes(samples.data(), n, scale, got.data());
  assert_same(target, n, got, want, got.size());
}

std::vector<float> random_row(int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> any(-300, 300);
  std::vector<float> row(kWidest + 2 * kMargin + kRowSlack);
  for (float& v : row) v = any(random);
  return row;
}

}  // namespace

START_TEST(samples) {
  for_each_cpu_target([](const std::string& target) {
    for (int n = 1; n <= kWidest; n++) {
      check_floats_of<uint8_t>(target, n, 1.f);
      check_floats_of<uint16_t>(target, n, scale_to_8_bits(16));
    }
  });
  ck_assert(scale_to_8_bits(8) == 1 && scale_to_8_bits(10) == 0.25f);
}
END_TEST

START_TEST(filters) {
  std::vector<std::vector<float>> rows;
  for (int i = 0; i < 2 * kMargin + 1; i++) rows.push_back(random_row(i));
  std::vector<const float*> at;
  for (const auto& row : rows) at.push_back(row.data());
  const float* const in = rows[0].data() + kMargin;
  for_each_cpu_target([&](const std::string& target) {
    for (int n = 1; n <= kWidest; n++) {
      std::vector<float> got(n + kRowSlack), want(n + kRowSlack);
      for (int x = 0; x < n; x++) want[x] = ordered_sum<SomeFilter>(AlongRow{in + x});
      along_lanes(in, n, got.data());
      assert_same(target, n, got, want, n);
      for (int x = 0; x < n; x++) want[x] = ordered_sum<SomeFilter>(AcrossRows{at.data() + kMargin, x});
      across_lanes(at.data() + kMargin, n, got.data());
      assert_same(target, n, got, want, n);
    }
  });
}
END_TEST

START_TEST(known_sums) {
  const float row[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
  const float in_order = -0.01f * 1 + 0.07f * 10 + 0.2f * 100 + 0.4f * 1000 + 0.2f * 10000 + 0.07f * 100000;
  ck_assert(ordered_sum<SomeFilter>(AlongRow{row + 3}) == in_order + -0.01f * 1000000);
}
END_TEST

START_TEST(ends) {
  float row[] = {0, 0, 0, 1, 2, 3, 4, 0, 0, 0};
  const float mirrored[] = {4, 3, 2, 1, 2, 3, 4, 3, 2, 1}, repeated[] = {3, 2, 1, 1, 2, 3, 4, 4, 3, 2};
  extend_mirrored(row + 3, 4, 3);
  for (int i = 0; i < 10; i++) ck_assert(row[i] == mirrored[i]);
  extend_repeated(row + 3, 4, 3);
  for (int i = 0; i < 10; i++) ck_assert(row[i] == repeated[i]);
}
END_TEST

/* Rows and what is around them share nothing, and end in the memory. */
START_TEST(ring) {
  for (const int w : {1, 16, 37, 1920}) {
    std::vector<std::byte> memory(RowRing<3>::bytes(w));
    const RowRing<3> rows(memory.data(), w);
    const int first = -RowRing<3>::kMargin, end = w + RowRing<3>::kMargin + kRowSlack;
    for (int y = 0; y < 3; y++) std::fill(rows.row(y) + first, rows.row(y) + end, static_cast<float>(y));
    for (int y = 0; y < 3; y++)
      for (int x = first; x < end; x++) ck_assert(rows.row(y + 3)[x] == static_cast<float>(y));
    ck_assert(rows.row(2) + end <= reinterpret_cast<float*>(memory.data() + memory.size()));
  }
}
END_TEST

int main() {
  return run_suite(
      "rows", {{"samples", samples}, {"filters", filters}, {"known_sums", known_sums}, {"ends", ends}, {"ring", ring}});
}
