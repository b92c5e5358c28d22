/* adm's arithmetic in 32 bits (kernels/adm/adm_math.h, namespace narrow), which its kernels use, against the
 * definition's. */
#include <check.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "kernels/adm/adm_math.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* For millions of checks: those of Check's own take longer than what is checked. */
void assert_same(int64_t got, int64_t want, const char* what, int64_t a, int64_t b) {
  if (got != want)
    ck_abort_msg("%s of %lld and %lld is %lld, not %lld", what, static_cast<long long>(a), static_cast<long long>(b),
                 static_cast<long long>(got), static_cast<long long>(want));
}

/* The inverse as it may come from a device: off by up to 2^-21 of it. */
float inverse(uint32_t x, int off) { return static_cast<float>((1 + off * 0x1p-22) / x); }

/* With the sign that it had. */
int signed_again(int value, const narrow::Pair& pair) { return pair.sign ? -value : value; }

template <bool kWhole>
int restored_fine(int o, int t, bool aligned, const narrow::GainLimit& limit) {
  const narrow::Pair pair = narrow::pair(o, t);
  const narrow::Divisor divisor = narrow::divisor_fine(pair.o);
  const float near = inverse(divisor.leading, 1);
  return signed_again(narrow::restored_fine<kWhole>(pair, divisor, near, aligned, limit), pair);
}
template <bool kWhole>
int restored_coarse(int o, int t, bool aligned, const narrow::GainLimit& limit) {
  const narrow::Pair pair = narrow::pair(o, t);
  const narrow::Divisor divisor = narrow::divisor_coarse(pair.o);
  const float near = inverse(divisor.leading, 1);
  return signed_again(narrow::restored_coarse<kWhole>(pair, divisor, near, aligned, limit), pair);
}

}  // namespace

START_TEST(every_reciprocal) {
  for (uint32_t x = 1; x <= 32768; x++)
    for (int off = -2; off <= 2; off++)
      assert_same(narrow::reciprocal(x, inverse(x, off)), static_cast<uint32_t>(adm_reciprocal(x)), "reciprocal", x,
                  off);
}
END_TEST

/* Every coefficient o of scale 0, with t around it, around its multiples, and far off. */
START_TEST(narrow_arithmetic_of_scale_0) {
  constexpr int kLargest = 22930;
  std::mt19937 random(1);
  for (int o = -kLargest; o <= kLargest; o++) {
    for (int n = 0; n < 24; n++) {
      const int near = o * (n % 6) / 2 + static_cast<int>(random() % 5) - 2;
      const int far = static_cast<int>(random() % (2 * kLargest + 1)) - kLargest;
      const int t = std::clamp(n < 16 ? near : far, -kLargest, kLargest);
      const bool aligned = n % 2;
      const auto assert_restored = [&](int got, double limit) {
        assert_same(got, adm_restored(o, t, aligned, limit), "restored", o, t);
      };
      assert_restored(restored_fine<true>(o, t, aligned, {100, 100}), 100);
      assert_restored(restored_fine<true>(o, t, aligned, {1, 1}), 1);
      assert_restored(restored_fine<false>(o, t, aligned, {1.2, 0}), 1.2);
      assert_same(narrow::den_cube(0, narrow::magnitude(o), 0, 0), adm_den_cube(0, o, 0), "den_cube", o, 0);
      const auto product = n == 0 ? INT32_MIN + std::abs(o) : n == 1 ? o * 8192 : static_cast<int32_t>(random());
      for (int band = 0; band < kAdmBands; band++) {
        const int32_t weighted = adm_csf_fine(band, 1, product), negated = adm_csf_fine(band, ~0u, product);
        const uint32_t magnitude = narrow::magnitude(weighted);
        assert_same(narrow::csf_fine(band, product, 0), magnitude, "csf", band, product);
        assert_same(narrow::csf_fine(band, product, -1), narrow::magnitude(negated), "negated csf", band, product);
        assert_same(narrow::neighbor_fine(magnitude), adm_neighbor_fine(weighted), "neighbor", band, product);
        assert_same(narrow::center_fine(magnitude), adm_center_fine(weighted), "center", band, product);
      }
    }
  }
}
END_TEST

/* Numbers of every length, both signs. */
START_TEST(narrow_arithmetic_of_other_scales) {
  constexpr int kLargest = 2103110000;
  std::mt19937 random(2);
  const auto number = [&] {
    const auto magnitude = static_cast<int>(std::min<uint32_t>(random() >> 1 >> random() % 31, kLargest));
    return random() & 1 ? magnitude : -magnitude;
  };
  for (int n = 0; n < 2000000; n++) {
    const int o = number();
    const int64_t near = int64_t{o} * (n % 5) / 2 + (number() >> 20);
    const int t = n % 4 == 0 ? number() : static_cast<int>(std::clamp<int64_t>(near, -kLargest, kLargest));
    const bool aligned = n % 2;
    const auto assert_restored = [&](int got, double limit) {
      assert_same(got, adm_restored(o, t, aligned, limit), "restored", o, t);
    };
    assert_restored(restored_coarse<true>(o, t, aligned, {100, 100}), 100);
    assert_restored(restored_coarse<false>(o, t, aligned, {1.2, 0}), 1.2);
    const uint32_t rfactor = random();
    assert_same(narrow::csf_coarse(rfactor, o, 0), narrow::magnitude(adm_csf_coarse(rfactor, o)), "csf", rfactor, o);
    assert_same(narrow::csf_coarse(rfactor, o, -1), narrow::magnitude(adm_csf_coarse(rfactor, -o)), "negated csf",
                rfactor, o);
    for (int scale = 1; scale < kAdmScales; scale++)
      assert_same(static_cast<int64_t>(narrow::den_cube(scale, narrow::magnitude(o), n % 12, (1 << n % 12) / 2)),
                  static_cast<int64_t>(adm_den_cube(scale, o, n % 12)), "den_cube", scale, o);
    for (const int square_shift : {29, 30})
      assert_same(narrow::masked_cube(narrow::magnitude(o), t, square_shift, n % 12, (1 << n % 12) / 2),
                  adm_masked_cube(o < 0 ? -o : o, t, square_shift, n % 12), "masked_cube", o, t);
  }
}
END_TEST

START_TEST(no_cube_has_none) {
  for (int scale = 0; scale < 2; scale++)
    for (int band = 0; band < kAdmBands; band++)
      for (const uint32_t magnitude : {0u, 1u, 0x7FFFFFFFu, 0x80000000u})
        ck_assert_int_eq(
            narrow::masked_cube(magnitude, narrow::no_cube(scale, band) << adm_threshold_shift(scale, band),
                                adm_square_shift(scale, band), 0, 0),
            0);
}
END_TEST

/* Gradients at angles around one degree, and equal ones. */
START_TEST(narrow_alignment) {
  std::mt19937 random(3);
  for (int n = 0; n < 2000000; n++) {
    const double length = std::exp2(1 + random() % 14), angle = random() % 36000 / 100.0;
    const double turn = n % 3 == 0 ? 1 + (static_cast<int>(random() % 2001) - 1000) * 1e-6 : random() % 400 / 100.0;
    const auto at = [](double r, double degrees) {
      return std::pair(static_cast<int>(std::lround(r * std::cos(degrees * M_PI / 180))),
                       static_cast<int>(std::lround(r * std::sin(degrees * M_PI / 180))));
    };
    for (const double scale : {1.0, 65536.0}) {
      const auto [oh, ov] = at(length * scale, angle);
      const double t_length = length * scale * (1 + random() % 100 / 200.0) / 2;
      const auto [th, tv] = at(t_length, angle + (random() & 1 ? turn : -turn));
      const bool want = adm_aligned(oh, ov, th, tv);
      assert_same(narrow::aligned_coarse(oh, ov, th, tv), want, "coarse alignment, of h,", oh, th);
      if (scale == 1) assert_same(narrow::aligned_fine(oh, ov, th, tv), want, "fine alignment, of h,", oh, th);
    }
  }
}
END_TEST

int main() {
  return run_suite("adm_narrow", {{"reciprocals", every_reciprocal},
                                  {"narrow_0", narrow_arithmetic_of_scale_0},
                                  {"narrow_1_to_3", narrow_arithmetic_of_other_scales},
                                  {"no_cube", no_cube_has_none},
                                  {"alignment", narrow_alignment}});
}
