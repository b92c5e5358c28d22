/* ADM: how much of the reference's detail the distorted picture keeps (DLM) and how much it adds (AIM), at four scales.
 *
 * S. Li, F. Zhang, L. Ma, K. N. Ngan, "Image quality assessment by separately evaluating detail losses and additive
 * impairments", IEEE Transactions on Multimedia 13(5), 2011, pp. 935-949. Both lumas go through a db2 wavelet
 * transform (dwt2). Each detail band of the distorted picture is decoupled into what is the reference's detail,
 * restored, and the rest, added. Both are weighted by the eye's contrast sensitivity (csf), for the thresholds of
 * Watson, Yang, Solomon, Villasenor, "Visibility of wavelet quantization noise", IEEE Transactions on Image Processing
 * 6(8), 1997, or Barten's, or tabulated blends of the two (adm_csf.h). Contrast masking (cm) takes the local mean of
 * the one as the visibility threshold of the other:
 *
 *   dlm     = sum (|restored| - threshold(added))+^3
 *   aim     = sum (|added| - threshold(restored))+^3
 *   csf_den = sum |reference|^3
 *
 * num, aim_num and den add up their cube roots, each with a noise floor, over bands and scales. Then
 *
 *   adm2 = num / den      aim = aim_num / den      adm3 = max(w adm2 + (1 - w)(1 - aim), adm_min_val)
 *
 * All sums leave out a border of 10 % on each side.
 *
 * The arithmetic is libvmaf's integer form (f85a853, integer_adm.c, its plain C), to the last bit.
 *
 * Deviations, all where libvmaf has no defined value or an arithmetic overflow:
 *  - adm_csf_mode=1: libvmaf cuts Barten's factors, 1 to 30 and more, to 16 bits of a fixed point that ends at 0.03,
 *    and to 32 bits of one that ends at 1, so that its scores are near 0, or nan. Here the fixed point has a unit in
 *    which they fit; scores are those of float_adm within 5e-5, and within 3e-3 where adm_csf_scale and
 *    adm_csf_diag_scale are a hundred times apart.
 *  - den == 0 (adm_noise_weight=0 and a flat reference): aim is 0, as adm2 is 1; libvmaf reports an uninitialized
 *    variable. A scale with den == 0 scores 1; libvmaf reports 0/0.
 *  - below 33 samples a side libvmaf filters what lies before its planes at scale 3; here they reflect as everywhere
 *    else. Below 17 a band would be narrower than the masking window: create() refuses.
 *  - adm_csf_mode 2 and 3 know a table of viewing distances. For others libvmaf takes -22 as the sensitivity;
 *    create() refuses.
 *
 * Only csf and cm depend on how the picture is viewed. For several ways of viewing, all twins transform and decouple
 * once, then weigh and mask for each of them.
 *
 * Options and features: adm.cpp. */
#ifndef VMAFX_KERNELS_ADM_ADM_H
#define VMAFX_KERNELS_ADM_ADM_H

#include <cstddef>
#include <span>
#include <vector>

#include "base/picture.h"
#include "kernels/adm/adm_blocks.h"
#include "kernels/adm/adm_math.h"
#include "kernels/forward.h"

namespace vmafx {

struct AdmParams {
  int bpc = 8;
  double gain_limit = 100;   // adm_enhn_gain_limit
  bool measure_aim = true;   // not adm_skip_aim
  bool skip_scale0 = false;  // scale 0 then only feeds scale 1
  AdmScale scale[kAdmScales];
  std::vector<AdmView> views;  // all different, at least one and at most kAdmMostViews
};

/* EINVAL for sizes, viewing distances and modes that cannot be scored. `options` are kAdmExtractor's, and equal but for
 * how the picture is viewed. */
StatusOr<AdmParams> adm_params(std::span<const Options> options, const VideoFormat& format);

/* Fill `sums` (zeroed by the caller) from the luma planes: as many as there are views, one behind the other, of which
 * the first is given. `scratch` has the twin's scratch_bytes, 64-byte aligned. */
size_t adm_scratch_bytes_plain(const AdmParams& params);
void adm_plain(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               AdmSums& sums);

size_t adm_scratch_bytes_simd(const AdmParams& params);
void adm_simd(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
              AdmSums& sums);

/* Scores several encodes of one reference. */
size_t adm_encodes_scratch_bytes_simd(const AdmParams& params, int encodes);
void adm_encodes_simd(const AdmParams& params, const SamplePlane& ref, std::span<const SamplePlane> dist,
                      std::byte* scratch, std::span<AdmSums* const> sums);

/* Fill in `blocks`, too, which add up to `sums`. Of one view. Scratch is that of adm_plain() and adm_simd(). */
void adm_mapped_plain(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                      AdmSums& sums, const AdmBlocks& blocks);
void adm_mapped_simd(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                     AdmSums& sums, const AdmBlocks& blocks);

/* The HIP twin's kernels. */
OwnedDeviceTwin adm_hip(const AdmParams& params);
OwnedDeviceTwin adm_mapped_hip(
    const AdmParams& params);  // its sums: AdmSums of one view, then the blocks of each scale

extern const ExtractorInfo kAdmExtractor;

}  // namespace vmafx

#endif
