/* siti: spatial and temporal information, how much detail and motion each of the two videos has.
 *
 *     si = stddev of |Sobel(luma)| over the samples that have eight neighbors
 *     ti = stddev of (luma - luma of the picture before) over all samples; 0 for the first picture
 *
 * both on the scale of 8 bit (divided by 2^(bpc-8)), of code values as they are: no conversion of range or light.
 * ITU-T P.910, "Subjective video quality assessment methods for multimedia applications", clause on spatial and
 * temporal information, in its form for luma code values. A standard deviation divides by the number of samples.
 *
 * Sums of squares, and those of changes, are exact. A magnitude is the root of a float, rounded to a multiple of
 * 2^(bpc-28), so that no order of adding matters. With a mean magnitude of m (on the scale of 8 bit), si² is
 * within m²·2^-22 + m·2^-20 of that in doubles: si within 3e-6 of itself where m is up to 3·si and si at least 1, as in
 * pictures that cameras took. */
#ifndef VMAFX_KERNELS_SITI_SITI_H
#define VMAFX_KERNELS_SITI_SITI_H

#include "base/picture.h"
#include "kernels/forward.h"
#include "kernels/siti/siti_math.h"

namespace vmafx {

/* The twins: the sums of a luma, and of the one before, whose data is null if there is none. Samples are below
 * 2^bpc. */
SitiSums siti_plain(const SamplePlane& now, const SamplePlane& before, int bpc);
SitiSums siti_simd(const SamplePlane& now, const SamplePlane& before, int bpc);
OwnedDeviceTwin siti_hip(const VideoFormat& format);

extern const ExtractorInfo kSitiExtractor;

}  // namespace vmafx

#endif
