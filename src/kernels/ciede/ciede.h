/* ciede: the color difference CIEDE2000, on a scale like that of PSNR.
 *
 *     ciede2000 = 45 - 20·log10(mean ΔE₀₀)          over all luma samples, k_L = 0.65, k_C = 1, k_H = 4
 *
 * from: G. Sharma, W. Wu, E. N. Dalal, "The CIEDE2000 Color-Difference Formula", Color Research & Application 30, 2005;
 * weights and scale from av-metrics (https://github.com/rust-av/av-metrics). Samples are taken as Y'CbCr of BT.709 in
 * limited range, subsampled chroma is repeated. Equal pictures score infinity. No options.
 *
 * Matches libvmaf f85a853 `ciede` within 1e-6. It works in double and with angles; here hues are vectors of floats, so
 * that a pixel takes six powers, six cube roots and one exponential. 4:0:0 is refused.
 * Deviations: in 4:2:2 the columns of chroma are repeated, where libvmaf repeats the rows instead, so that it never
 * reads half of the chroma; any depth from 8 to 16 bit, where it takes 8, 10, 12 and 16; a last odd column or row of
 * luma has its neighbor's chroma, where libvmaf reads past the plane. */
#ifndef VMAFX_KERNELS_CIEDE_CIEDE_H
#define VMAFX_KERNELS_CIEDE_CIEDE_H

#include <cstddef>
#include <cstdint>

#include "base/picture.h"
#include "kernels/ciede/ciede_math.h"
#include "kernels/forward.h"

namespace vmafx {

/* The twins: the sum of differences. Pictures of equal format with three planes. */
int64_t ciede_plain(const CiedeParams& params, const Picture& ref, const Picture& dist, std::byte* scratch);
int64_t ciede_simd(const CiedeParams& params, const Picture& ref, const Picture& dist, std::byte* scratch);

/* The samples of the SIMD twin's rows for pictures w luma samples wide: three rows of offsets for each. */
size_t ciede_row_samples(int w);
inline size_t ciede_scratch_bytes(int w) { return 2 * ciede_row_samples(w) * 3 * sizeof(double); }

/* The HIP twin. */
OwnedDeviceTwin ciede_hip(const CiedeParams& params);
OwnedDeviceTwin ciede_mapped_hip(const CiedeParams& params);  // its sums: CiedeSums, then int64_t for each block

extern const ExtractorInfo kCiedeExtractor;

}  // namespace vmafx

#endif
