/* Arithmetic that is written once: one float and vectors of them give the same bits, sums the same words in any order,
 * and the functions of transcendental-inl.h are as exact as it says. */
#include <check.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/kernels/arithmetic/twin_lanes.h"
#include "tests/kernels/arithmetic/twin_sample-inl.h"
#include "tests/support/check_main.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

float of_one(Function function, float a, float b) {
  switch (function) {
    case Function::kEverything: return everything(a, b);
    case Function::kLogarithm2: return logarithm2(a);
    case Function::kPowerOf2: return power_of_2(a);
    case Function::kPower: return power(a, b);
    case Function::kCubeRoot: return cube_root(a);
    case Function::kFused: return fused_sample(a, b);
    case Function::kFusedHalfway: return fused_halfway_sample(a, b);
    case Function::kDoublePower: return double_power_sample(a);
  }
  return a;
}

/* `count` floats whose bits are evenly spread between those of two of one sign. */
std::vector<float> spread(float from, float to, size_t count) {
  const double low = std::bit_cast<uint32_t>(from), high = std::bit_cast<uint32_t>(to);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; i++)
    values[i] = std::bit_cast<float>(static_cast<uint32_t>(low + (high - low) * i / (count - 1)));
  return values;
}

constexpr size_t kMost = 1 << 16, kLess = 16;
static_assert(kMost / kLess % kLaneMultiple == 0);
const size_t kCount = kMost / every_under_sanitizers(kLess);

void assert_same_bits(Function function, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> want(a.size()), got(a.size());
  for (size_t i = 0; i < a.size(); i++) want[i] = of_one(function, a[i], b[i]);
  for_each_cpu_target([&](const std::string& target) {
    apply_lanes(function, a.data(), b.data(), got.data(), a.size());
    for (size_t i = 0; i < a.size(); i++)
      if (std::bit_cast<uint32_t>(want[i]) != std::bit_cast<uint32_t>(got[i]))
        ck_abort_msg("%s, function %d of %a and %a: %a, not %a", target.c_str(), static_cast<int>(function), a[i], b[i],
                     got[i], want[i]);
  });
}

template <class Exact>
void assert_exact(Function function, float from, float to, float y, double most, Exact exact) {
  const std::vector<float> xs = spread(from, to, kCount), ys(kCount, y);
  for (const float x : xs) {
    const long double want = exact(static_cast<long double>(x));
    const double error = std::fabs(static_cast<double>((of_one(function, x, y) - want) / want));
    if (!(error <= most))
      ck_abort_msg("function %d of %a and %g is off by %g", static_cast<int>(function), x, y, error);
  }
  assert_same_bits(function, xs, ys);
}

constexpr float kSmallest = 0x1p-126f, kLargest = 0x1.fffffep127f;

}  // namespace

START_TEST(all_operations) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> a(kCount), b(kCount);
  for (size_t i = 0; i < kCount; i++) {
    a[i] = normal(random);
    b[i] = i % 5 ? normal(random) : a[i];
  }
  assert_same_bits(Function::kEverything, a, b);
}
END_TEST

/* Fused operations round alike on instruction sets that have none, down to subnormal results. */
START_TEST(fused_operations) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 3);
  for (const float scale : {1.f, 0x1p-60f, 0x1p-68f, 0x1p50f}) {
    std::vector<float> a(kCount), b(kCount);
    for (size_t i = 0; i < kCount; i++) {
      a[i] = scale * normal(random);
      b[i] = i % 7 ? scale * normal(random) : i % 2 ? 0.f : a[i];
    }
    assert_same_bits(Function::kFused, a, b);
  }
  ck_assert(fused(0x1.000002p0f, 0x1.000002p0f, -0x1.000004p0f) == 0x1p-46f);
}
END_TEST

/* Products of 2^-24, less so little that their sums with floats from 1 to 2 are halfway between two floats as doubles,
 * too. */
START_TEST(fused_operations_near_halfway) {
  std::vector<float> a, b;
  for (int i = 0; i < 256; i++)
    for (const float sign : {0x1p-12f, -0x1p-12f}) {
      a.push_back(sign * (1 + static_cast<float>(i) * 0x1p-23f));
      b.push_back(0x1p-12f * (1 - static_cast<float>(i) * 0x1p-23f));
    }
  assert_same_bits(Function::kFusedHalfway, a, b);
  ck_assert(fused_halfway_sample(a[2], b[2]) == 1 + 0x1p-23f);
}
END_TEST

START_TEST(logarithms) {
  const auto exact = [](long double x) { return std::log2(x); };
  assert_exact(Function::kLogarithm2, kSmallest, kLargest, 0, 2e-7, exact);
  assert_exact(Function::kLogarithm2, 0.5f, 0.99999994f, 0, 2e-7, exact);
  assert_exact(Function::kLogarithm2, 1.0000001f, 2, 0, 2e-7, exact);
  ck_assert(logarithm2(1.f) == 0 && logarithm2(8.f) == 3 && logarithm2(0x1p-126f) == -126);
}
END_TEST

START_TEST(powers_of_2) {
  const auto exact = [](long double x) { return std::exp2(x); };
  assert_exact(Function::kPowerOf2, 1e-20f, 127.49f, 0, 1.1e-7, exact);
  assert_exact(Function::kPowerOf2, -1e-20f, -126.f, 0, 1.1e-7, exact);
  ck_assert(power_of_2(0.f) == 1 && power_of_2(-3.f) == 0.125f && power_of_2(127.f) == 0x1p127f);
  ck_assert(power_of_2(-126.f) == kSmallest && power_of_2(-1e30f) == kSmallest);
}
END_TEST

START_TEST(powers) {
  for (const float y : std::vector{2.4f, 1 / 2.4f, 3.f, -0.75f, 7.f, 8.f, -8.f, 0.f}) {
    const float span = std::exp2(y == 0 ? 126 : std::min(126 / std::fabs(y), 126.f));
    assert_exact(Function::kPower, 1 / span, span, y, 1.2e-7 + 5e-8 * std::fabs(y),
                 [y](long double x) { return std::pow(x, static_cast<long double>(y)); });
    ck_assert(power(1.f, y) == 1);
  }
}
END_TEST

START_TEST(powers_of_doubles) {
  for (const double y : {2.4, 2.8 / 2.4, 1 / 2.4, 1., -3.})
    for (double w = 1; w > 0x1p-60; w *= 0.9973) {
      const long double want = std::pow(static_cast<long double>(w), static_cast<long double>(y));
      const double error = std::fabs(static_cast<double>((power(w, y) - want) / want));
      ck_assert_msg(error <= 2e-16 * (1 + std::fabs(y * std::log2(w))), "%a to the %g is off by %g", w, y, error);
    }
  const std::vector<float> xs = spread(0x1p-60f, 2, kCount);
  assert_same_bits(Function::kDoublePower, xs, xs);
}
END_TEST

START_TEST(cube_roots) {
  const auto exact = [](long double x) { return std::cbrt(x); };
  assert_exact(Function::kCubeRoot, kSmallest, kLargest, 0, 1e-7, exact);
  assert_exact(Function::kCubeRoot, 0.5f, 4, 0, 1e-7, exact);
  ck_assert(cube_root(0.f) == 0);
}
END_TEST

START_TEST(sums_in_any_order) {
  std::mt19937 random(2);
  std::normal_distribution<float> logarithm(-4, 3);
  std::vector<float> values(kCount);
  for (float& v : values) v = (random() & 1 ? 1 : -1) * std::exp(std::min(logarithm(random), 8.f));
  int64_t one_word = 0;
  Fixed2<kTwoWordBits> two_words;
  Fixed3<kTwoWordBits> three_words;
  long double exact = 0;
  for (const float v : values) {
    one_word += to_fixed<kSumBits>(v);
    two_words += v;
    three_words += v;
    exact += v;
  }
  for_each_cpu_target([&](const std::string& target) {
    std::shuffle(values.begin(), values.end(), random);
    const Sums sums = sum_lanes(values.data(), values.size());
    const bool same_words = sums.two_words.coarse == two_words.coarse && sums.two_words.fine == two_words.fine;
    const Fixed3<kTwoWordBits>& three = sums.three_words;
    const bool same_three =
        three.coarse == three_words.coarse && three.fine == three_words.fine && three.finest == three_words.finest;
    ck_assert_msg(sums.one_word == one_word && same_words && same_three, "%s", target.c_str());
  });
  for (const float v : values)
    ck_assert(std::fabs(static_cast<double>(from_fixed<kSumBits>(one_word) - exact)) < kCount * 0x1p-31);
  ck_assert(std::fabs(static_cast<double>(two_words.value() - exact)) < kCount * 0x1p-51);
  Fixed3<kTwoWordBits> small;
  for (int i = 1; i <= 1000; i++) small += 0x1.fedcbap-64 / i;
  double want = 0;
  for (int i = 1; i <= 1000; i++) want += 0x1.fedcbap-64 / i;
  ck_assert(std::fabs(small.value() - want) < 1000 * 0x1p-89);
}
END_TEST

int main() {
  return run_suite("twin", {{"operations", all_operations},
                            {"fused", fused_operations},
                            {"fused_near_halfway", fused_operations_near_halfway},
                            {"logarithms", logarithms},
                            {"powers_of_2", powers_of_2},
                            {"powers", powers},
                            {"powers_of_doubles", powers_of_doubles},
                            {"cube_roots", cube_roots},
                            {"sums", sums_in_any_order}});
}
