/* The kernels of adm against its CPU twin. */
#include "tests/kernels/adm/adm_device.h"

#include <check.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/adm/adm.h"
#include "kernels/adm/adm_math.h"
#include "tests/kernels/adm/adm_options.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::test;

/* The inverse as it may come from a device: off by up to 2^-21 of it. */
float inverse(uint32_t x, int off) { return static_cast<float>((1 + off * 0x1p-22) / x); }

START_TEST(every_reciprocal) {
  for (uint32_t x = 1; x <= 32768; x++)
    for (int off = -2; off <= 2; off++)
      ck_assert_msg(narrow::reciprocal(x, inverse(x, off)) == static_cast<uint32_t>(adm_reciprocal(x)), "%u", x);
}
END_TEST

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
        ck_assert_msg(got == adm_restored(o, t, aligned, limit), "o %d, t %d, limit %g", o, t, limit);
      };
      assert_restored(restored_fine<true>(o, t, aligned, {100, 100}), 100);
      assert_restored(restored_fine<true>(o, t, aligned, {1, 1}), 1);
      assert_restored(restored_fine<false>(o, t, aligned, {1.2, 0}), 1.2);
      ck_assert_uint_eq(narrow::den_cube(0, narrow::magnitude(o), 0, 0), adm_den_cube(0, o, 0));
      const auto product = n == 0 ? INT32_MIN + std::abs(o) : n == 1 ? o * 8192 : static_cast<int32_t>(random());
      for (int band = 0; band < kAdmBands; band++) {
        const int32_t weighted = adm_csf_fine(band, 1, product), negated = adm_csf_fine(band, ~0u, product);
        ck_assert_uint_eq(narrow::csf_fine(band, product, 0), narrow::magnitude(weighted));
        ck_assert_uint_eq(narrow::csf_fine(band, product, -1), narrow::magnitude(negated));
        ck_assert_int_eq(narrow::neighbour_fine(narrow::magnitude(weighted)), adm_neighbour_fine(weighted));
        ck_assert_int_eq(narrow::centre_fine(narrow::magnitude(weighted)), adm_centre_fine(weighted));
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
      ck_assert_msg(got == adm_restored(o, t, aligned, limit), "o %d, t %d, limit %g", o, t, limit);
    };
    assert_restored(restored_coarse<true>(o, t, aligned, {100, 100}), 100);
    assert_restored(restored_coarse<false>(o, t, aligned, {1.2, 0}), 1.2);
    const uint32_t rfactor = random();
    ck_assert_uint_eq(narrow::csf_coarse(rfactor, o, 0), narrow::magnitude(adm_csf_coarse(rfactor, o)));
    ck_assert_uint_eq(narrow::csf_coarse(rfactor, o, -1), narrow::magnitude(adm_csf_coarse(rfactor, -o)));
    for (int scale = 1; scale < kAdmScales; scale++)
      ck_assert_uint_eq(narrow::den_cube(scale, narrow::magnitude(o), n % 12, (1 << n % 12) / 2),
                        adm_den_cube(scale, o, n % 12));
    for (const int square_shift : {29, 30})
      ck_assert_int_eq(narrow::masked_cube(narrow::magnitude(o), t, square_shift, n % 12, (1 << n % 12) / 2),
                       adm_masked_cube(o < 0 ? -o : o, t, square_shift, n % 12));
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
      ck_assert_msg(narrow::aligned_coarse(oh, ov, th, tv) == want, "(%d, %d) and (%d, %d)", oh, ov, th, tv);
      if (scale == 1)
        ck_assert_msg(narrow::aligned_fine(oh, ov, th, tv) == want, "(%d, %d) and (%d, %d)", oh, ov, th, tv);
    }
  }
}
END_TEST

START_TEST(every_size) { check_adm_sizes(kAdmExtractor); }
END_TEST
START_TEST(every_depth_and_fill) { check_adm_depths_and_fills(kAdmExtractor); }
END_TEST
START_TEST(every_option) { check_adm_options(kAdmExtractor, adm_option_sets()); }
END_TEST
START_TEST(batches) { check_adm_batches(kAdmExtractor); }
END_TEST
START_TEST(a_large_picture) { check_large_adm(kAdmExtractor, {}); }
END_TEST

/* Every kind of block of up to 16 samples, of every strength: the largest coefficients that the transform can make,
 * alone and side by side. */
START_TEST(steep_blocks) {
  for (const int bpc : {8, 16}) {
    with_sample_type(bpc, [&]<class T>(T) {
      constexpr int kFrames = 8, kW = 200, kH = 60;
      AdmFrames<T> frames(kAdmExtractor, kW, kH, bpc, kFrames);
      for (int frame = 0; frame < kFrames; frame++) {
        std::mt19937 random(frame);
        const int block_size = 2 << frame % 4;
        std::vector<uint32_t> bits(kW / block_size + 1);
        for (int y = 0; y < kH; y++) {
          if (y % block_size == 0)
            for (uint32_t& b : bits) b = random();
          for (int x = 0; x < kW; x++) {
            const uint32_t b = bits[x / block_size], max = (1u << bpc) - 1;
            frames.ref(frame, x, y) = static_cast<T>(b & 1 ? max : 0);
            frames.dist(frame, x, y) = static_cast<T>(b & 2 ? max : b & 4 ? 0 : max / 2 + (b & 1 ? max / 3 : 0));
          }
        }
      }
      for (const char* mode : {"0", "1", "2"}) frames.check(kFrames, {{"adm_csf_mode", mode}});
    });
  }
}
END_TEST

/* Blocks of 4x4 samples with the signs of the taps, so that scale 0's coefficients are the largest there are, and a
 * little larger still in the distorted picture: ratios right at 1, of reciprocals with few digits. */
START_TEST(strongest_coefficients) {
  constexpr int kLow[4] = {1, 1, 1, -1}, kHigh[4] = {-1, -1, 1, -1};
  constexpr int kW = 330, kH = 66;
  const std::pair<const int(&)[4], const int(&)[4]> kSigns[] = {{kHigh, kLow}, {kLow, kHigh}, {kHigh, kHigh}};
  AdmFrames<uint16_t> frames(kAdmExtractor, kW, kH, 16, 3);
  std::mt19937 random(5);
  for (int frame = 0; frame < 3; frame++) {
    int strength[2] = {};
    for (int y = 0; y < kH; y++) {
      for (int x = 0; x < kW; x++) {
        if ((x + 1) % 4 == 0 || x == 0) {
          strength[0] = 22000 + static_cast<int>(random() % 10000);
          strength[1] = std::min(strength[0] + static_cast<int>(random() % 100), 32767);
        }
        const int sign = kSigns[frame].first[(y + 1) % 4] * kSigns[frame].second[(x + 1) % 4];
        frames.ref(frame, x, y) = static_cast<uint16_t>(32768 + sign * strength[0]);
        frames.dist(frame, x, y) = static_cast<uint16_t>(32768 + sign * strength[1]);
      }
    }
  }
  for (const char* gain : {"1", "100"}) frames.check(3, {{"adm_enhn_gain_limit", gain}});
}
END_TEST

int main() {
  const int failed = run_suite("adm_narrow", {{"reciprocals", every_reciprocal},
                                              {"narrow_0", narrow_arithmetic_of_scale_0},
                                              {"narrow_1_to_3", narrow_arithmetic_of_other_scales},
                                              {"no_cube", no_cube_has_none},
                                              {"narrow_alignment", narrow_alignment}});
  return failed | run_suite_on_device("adm_hip", {{"sizes", every_size},
                                         {"depths_and_fills", every_depth_and_fill},
                                         {"options", every_option},
                                         {"steep", steep_blocks},
                                         {"strongest", strongest_coefficients},
                                         {"batches", batches},
                                         {"large", a_large_picture}});
}
