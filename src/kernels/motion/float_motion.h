/* float_motion: how much the reference video moves, as the mean absolute difference of blurred neighboring frames, in
 * floating point.
 *
 * Measured on reference luma, and with motion_add_uv on both chroma planes, too, with G the separable blur of
 * motion_filter_size taps:
 *
 *     m[n] = fps_weight · Σ over planes (Σ |G(ref[n-1]) - G(ref[n])| / (w·h))             m[0] = 0
 *
 * (Li et al., "Toward a practical perceptual video quality metric", 2016). motion_add_scale1 adds the same of the
 * blurred frames at half the size, by bilinear interpolation (prescale_math.h). motion is min(m, max_val), with debug,
 * which is on unless switched off; motion2 and motion3 as in motion_scores.h. motion_force_zero makes every score 0.
 *
 * Scores are libvmaf's (f85a853, float_motion), to the last bit, whatever the options: blurs, bilinear weights and sums
 * (steps/row_sums.h) round in single precision in the same places. Deviations: depths of 9, 11 and 13 to 15 bits, which
 * it scales wrongly; planes smaller than the blur reaches are refused, where it reads outside; for chroma at half the
 * size in 4:2:0 and 4:2:2 it reads wrong rows; planes wider than 15,360 samples have a half size, too. */
#ifndef VMAFX_KERNELS_MOTION_FLOAT_MOTION_H
#define VMAFX_KERNELS_MOTION_FLOAT_MOTION_H

#include <cstddef>
#include <optional>

#include "base/picture.h"
#include "kernels/forward.h"
#include "kernels/motion/float_motion_math.h"
#include "kernels/steps/prescale.h"

namespace vmafx {

/* The parameters of the sums of each plane. */
struct FloatMotionParams {
  VideoFormat format;
  int taps = 5;  // the blur's: 1, 3 or 5
  int planes = 1;
  std::optional<Prescaler> half_size[3];  // with motion_add_scale1, of each plane
};

/* The raw sums of a frame, as row_sums.h has them. */
struct FloatMotionSums {
  FloatMotionPlaneSums plane[3];
};

/* The twins, for one plane: planes of equal size, at least taps / 2 + 1 each way. `scratch` has scratch_bytes of the
 * twin. */
size_t float_motion_scratch_bytes_plain(const FloatMotionParams& params);
void float_motion_plain(const FloatMotionParams& params, int plane, const SamplePlane& earlier,
                        const SamplePlane& current, std::byte* scratch, FloatMotionPlaneSums& sums);

size_t float_motion_scratch_bytes_simd(const FloatMotionParams& params);
void float_motion_simd(const FloatMotionParams& params, int plane, const SamplePlane& earlier,
                       const SamplePlane& current, std::byte* scratch, FloatMotionPlaneSums& sums);

/* The HIP twin. With params.planes 0 it launches nothing, and all sums stay 0. */
OwnedDeviceTwin float_motion_hip(const FloatMotionParams& params);

extern const ExtractorInfo kFloatMotionExtractor;

}  // namespace vmafx

#endif
