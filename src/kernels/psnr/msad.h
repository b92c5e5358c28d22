/* msad: mean absolute difference of every plane, as a share of the largest sample.
 *
 *     msad_y = Σ |ref - dist| / (w·h) / (2^bpc - 1)         likewise msad_cb, msad_cr; msad is the mean of the planes
 *
 * 0 for equal pictures, 1 where black meets white. The numbers are those of FFmpeg's filter msad, which has them for
 * pictures whose chroma is rounded up at odd sizes, too. Chroma planes that are not there have no score. */
#ifndef VMAFX_KERNELS_PSNR_MSAD_H
#define VMAFX_KERNELS_PSNR_MSAD_H

#include "kernels/psnr/psnr.h"

namespace vmafx {

/* The twins: Σ |ref - dist| of one plane. Planes of equal size; samples below 2^bpc. */
uint64_t msad_plain(const SamplePlane& ref, const SamplePlane& dist, int bpc);
uint64_t msad_simd(const SamplePlane& ref, const SamplePlane& dist, int bpc);
OwnedDeviceTwin msad_hip(const PsnrParams& params);

extern const ExtractorInfo kMsadExtractor;

}  // namespace vmafx

#endif
