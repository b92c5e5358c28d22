/* vif_add_sample() of vif_math.h for the device: without a branch, so that the samples of a run overlap. */
#ifndef VMAFX_KERNELS_VIF_VIF_LOGS_HIP
#define VMAFX_KERNELS_VIF_VIF_LOGS_HIP

#include <bit>

#include "kernels/gpu/gpu.h"
#include "kernels/vif/vif_math.h"

namespace vmafx::vif_device {

using namespace gpu;

/* The sums of a run: 8 samples and below 2^16 each, but for num_non_log. */
struct RunSums {
  int32_t num_log, den_log;
  int32_t non_logs;  // samples without the log form
  int64_t num_non_log;
};

/* vif_log2(x) - 17 * 2048 for x >= 2^17, rounded toward zero: exponent and leading bits are where vif_log2_entry() has
 * them when it shifts by 15, and so is its `bulge`, in [2^23, 2^24), below the exponent 0x4b. */
VMAFX_DEVICE int32_t log2_above_noise(float x) {
  constexpr uint32_t kZero = ((127u + 17) << 26) + 0x4b000000u;
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const float u = std::bit_cast<float>((bits & 0x007fff00) | 0x3f800000) - 1.5f;
  float bulge = kVifLog2Poly[kVifLog2Degree];
  VMAFX_UNROLL
  for (int k = kVifLog2Degree - 1; k >= 0; k--) bulge = multiply_add(bulge, u, kVifLog2Poly[k]);
  return static_cast<int32_t>((((bits & 0xffffff00) << 3) + std::bit_cast<uint32_t>(bulge) - kZero) >> 15);
}

/* A sample without the log form takes part with sigma1_sq = kVifNoise, which adds 2048 to den_log, and with sigma12 =
 * 0, which adds nothing to num_log. */
VMAFX_DEVICE void add_sample(int32_t s1, int32_t s2, int32_t s12, double gain_limit, RunSums& sums) {
  const bool has_log = s1 >= kVifNoise;
  const int32_t sigma1_sq = has_log ? s1 : kVifNoise, sigma2_sq = s2 > 0 ? s2 : 0;
  const int32_t sigma12 = has_log && s2 > 0 && s12 > 0 ? s12 : 0;

  const double s1_as_double = sigma1_sq, s12_as_double = sigma12;
  const double g = divide(s12_as_double, s1_as_double + kVifEpsilon);
  const double residual = sigma2_sq - g * s12_as_double;
  const int32_t sv = static_cast<int32_t>(residual);  // > -2^25: |sigma12| is at most sqrt(s1 * s2) and some rounding
  const uint32_t noise = static_cast<uint32_t>((sv > 0 ? sv : 0) + kVifNoise);
  const double gain = g < gain_limit ? g : gain_limit;
  const uint64_t total = static_cast<uint64_t>(gain * gain * s1_as_double) + noise;

  sums.num_log += log2_above_noise(float_toward_zero(total)) - log2_above_noise(float_toward_zero(noise));
  sums.den_log += log2_above_noise(float_toward_zero(static_cast<uint32_t>(sigma1_sq + kVifNoise)));
  sums.non_logs += !has_log;
  sums.num_non_log += has_log ? 0 : sigma2_sq;
}

}  // namespace vmafx::vif_device

#endif
