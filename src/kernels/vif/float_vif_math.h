/* Constants and sums that the twins of float_vif share besides arithmetic. */
#ifndef VMAFX_KERNELS_VIF_FLOAT_VIF_MATH_H
#define VMAFX_KERNELS_VIF_FLOAT_VIF_MATH_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

inline constexpr int kFloatVifScales = 4;
inline constexpr float kFloatVifOffset = -128;  // samples are -128 to 127: squares of means lose fewer bits

/* A scale's sums, in words of row_sums.h. */
struct FloatVifScaleSums {
  uint64_t num, den;
};

struct FloatVifEye {
  double noise = 2;                // n
  float least_variance = 2;        // the first float that is n or more
  float inverse_noise = 0.5f;      // 1 / n where n is a power of two, else 0
  float flat_loss = 4 / 65025.0f;  // n² / 255²
  float gain_limit = 100;
};

/* log2(1 + r), 0 <= r < 1, over r: coefficients of r^7 to r^0 (libvmaf f85a853, vif_tools.c). */
inline constexpr int kFloatVifLog2Terms = 8;
VMAFX_CONSTANT float kFloatVifLog2[kFloatVifLog2Terms] = {
    -0.012671635276421f, 0.064841182402670f, -0.157048836463065f, 0.257167726303123f,
    -0.353800560300520f, 0.480131410397451f, -0.721314327952201f, 1.442694803896991f,
};

}  // namespace vmafx

#endif
