/* float_moment: the first two moments of the luma of each picture, on the scale of 8 bit.
 *
 *     ref1st = Σ ref / (w·h) / 2^(bpc-8)         ref2nd = Σ ref² / (w·h) / 4^(bpc-8)         likewise dis1st, dis2nd
 *
 * Matches libvmaf f85a853 `float_moment`, which squares and adds in floating point, within 1e-7 of the score.
 * Deviation: 9, 11 and 13 to 15 bit are scaled like the others, where it takes their bytes for samples. */
#ifndef VMAFX_KERNELS_FLOAT_MOMENT_FLOAT_MOMENT_H
#define VMAFX_KERNELS_FLOAT_MOMENT_FLOAT_MOMENT_H

#include "base/picture.h"
#include "kernels/float_moment/float_moment_math.h"
#include "kernels/forward.h"

namespace vmafx {

/* The twins. Samples are below 2^bpc. */
MomentSums moment_plain(const SamplePlane& plane, int bpc);
MomentSums moment_simd(const SamplePlane& plane, int bpc);
OwnedDeviceTwin moment_hip(const VideoFormat& format);

extern const ExtractorInfo kFloatMomentExtractor;

}  // namespace vmafx

#endif
