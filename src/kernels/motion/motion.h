/* motion: how much the reference video moves, as the mean absolute difference of blurred neighboring frames.
 *
 * Of reference luma, with G the separable five-tap blur of motion_math.h, rounded after each of its two passes:
 *
 *     sad[n] = min(Σ |G(ref[n-1] - ref[n])| / 256 / (w·h) · fps_weight, max_val)           sad[0] = 0
 *     motion2[n] = min(sad[n], sad[n+1]); of the last frame sad[n]; of frame 0: 0
 *     motion3[n] = min(motion2[n]·f + (1 - f)·min(offset, motion2[n]), max_val), with motion2[0] taken as sad[1]
 *
 * The difference is blurred where the VMAF paper (Li et al., "Toward a practical perceptual video quality metric",
 * 2016) subtracts blurred frames: the same but for rounding. motion_five_frame_window compares with frame n-2
 * instead, and motion2[n] is min(sad[n-1], sad[n+1]); frames 0 and 1 are then what frame 0 is above.
 * motion_moving_average halves motion3 with that of the frame before. motion_force_zero makes every score 0.
 *
 * A frame's motion2 and motion3 are known one frame later (frames before the first difference: when that is known).
 *
 * Matches libvmaf f85a853 `motion`: sums equal, scores equal in double arithmetic. Deviations: rows wider than
 * 65,537 samples, where libvmaf's 32-bit row sum may wrap; fewer than three columns or rows are refused, where it
 * reads outside the picture. */
#ifndef VMAFX_KERNELS_MOTION_MOTION_H
#define VMAFX_KERNELS_MOTION_MOTION_H

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/motion/motion_math.h"
#include "kernels/metric.h"

namespace vmafx {

/* The twins. Planes of equal size, at least kMotionMinSize each way; samples below 2^bpc. `scratch` holds
 * motion_scratch_bytes(w). */
inline constexpr int kMotionMinSize = 3;  // the blur reaches two samples out, reflected once
size_t motion_scratch_bytes(int w);
uint64_t motion_sad_ref(const SamplePlane& earlier, const SamplePlane& current, int bpc, std::byte* scratch);
uint64_t motion_sad_simd(const SamplePlane& earlier, const SamplePlane& current, int bpc, std::byte* scratch);

/* The HIP twin: kernels that compare with the frame `step` before, 1 or 2; with 0 nothing, so that all sums stay 0. */
std::unique_ptr<DeviceTwin> motion_hip(const VideoFormat& format, int step);

extern const ExtractorInfo kMotionExtractor;

}  // namespace vmafx

#endif
