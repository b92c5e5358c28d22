/* motion: how much the reference video moves, as the mean absolute difference of blurred neighboring frames.
 *
 * Measured on reference luma, with G the separable five-tap blur of motion_math.h, rounded after each of its two
 * passes:
 *
 *     sad[n] = min(Σ |G(ref[n-1] - ref[n])| / 256 / (w·h) · fps_weight, max_val)           sad[0] = 0
 *
 * The difference is blurred where the VMAF paper (Li et al., "Toward a practical perceptual video quality metric",
 * 2016) subtracts blurred frames: the same but for rounding. motion_five_frame_window compares with frame n-2
 * instead. motion_force_zero makes every score 0. motion2 and motion3 as in motion_scores.h.
 *
 * Matches libvmaf f85a853 `motion`: sums equal, scores equal in double arithmetic. Deviations: rows wider than
 * 65,537 samples, where libvmaf's 32-bit row sum may wrap; fewer than three columns or rows are refused, where it
 * reads outside the picture. */
#ifndef VMAFX_KERNELS_MOTION_MOTION_H
#define VMAFX_KERNELS_MOTION_MOTION_H

#include <cstddef>
#include <cstdint>

#include "base/picture.h"
#include "kernels/forward.h"
#include "kernels/motion/motion_math.h"

namespace vmafx {

struct MotionParams {
  VideoFormat format;
  int step;  // frames between the two that are compared, 1 or 2; frames before that have no difference
  bool force_zero;
};

/* The twins. Planes of equal size, at least kMotionMinSize each way; samples below 2^bpc. `scratch` holds
 * motion_scratch_bytes. */
inline constexpr int kMotionMinSize = 3;  // the blur reaches two samples out, reflected once
size_t motion_scratch_bytes(const MotionParams& params);
uint64_t motion_sad_plain(const SamplePlane& earlier, const SamplePlane& current, int bpc, std::byte* scratch);
uint64_t motion_sad_simd(const SamplePlane& earlier, const SamplePlane& current, int bpc, std::byte* scratch);

/* The HIP twin. With force_zero it launches nothing, and all sums stay 0. */
OwnedDeviceTwin motion_hip(const MotionParams& params);

extern const ExtractorInfo kMotionExtractor;

}  // namespace vmafx

#endif
