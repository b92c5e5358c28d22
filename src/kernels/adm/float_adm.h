/* float_adm: ADM in floating point: how much of the reference's detail the distorted picture keeps (DLM) and how much
 * it adds (AIM).
 *
 * S. Li, F. Zhang, L. Ma, K. N. Ngan, "Image quality assessment by separately evaluating detail losses and additive
 * impairments", IEEE Transactions on Multimedia 13(5), 2011, pp. 935-949. At each of four scales of a db2 wavelet
 * transform:
 *
 *   restored = the part of a distorted coefficient between 0 and the reference's; where the gradients differ by less
 *              than a degree, between 0 and adm_enhn_gain_limit times it
 *   added    = what is left of the distorted coefficient
 *   dlm      = Σ (|restored| - threshold(added))+^p      p = adm_p_norm
 *   aim      = Σ (|added| - threshold(restored))+^p
 *   den      = Σ |reference|^p
 *
 * all weighted by the eye's contrast sensitivity (kernels/adm/adm_csf.h); threshold is the local mean of what masks,
 * over the bands and a 3x3 window. num, aim_num and den add up the p-th roots, each with a noise floor, over bands and
 * scales. Then
 *
 *   adm2 = num / den    aim = min(aim_num / den, 1)    adm3 = max(w adm2 + (1 - w)(1 - aim), adm_min_val)
 *
 * or with adm_adm3_apply_hm the harmonic mean of adm2 and aim. All sums leave out a border of 10 % on each side.
 *
 * libvmaf (f85a853, float_adm.c) is followed operation for operation, its approximate division (float_adm_math.h) and
 * the order of its sums too: scores are its own to the last bit; for a p other than 3 they agree to 3e-7. Deviations,
 * where it has no defined value or is wrong:
 *  - den == 0 (adm_noise_weight=0 and a flat reference): aim is 0, as adm2 is 1; libvmaf reports an uninitialized
 *    variable. A scale with den == 0 scores 1; libvmaf reports 0/0. So too for an aim whose only scales with a den are
 *    left out.
 *  - 9, 11, 13, 14 and 15 bit are scaled by their depth; libvmaf reads them as bytes.
 *  - p-th powers with a large adm_p_norm do not overflow.
 *  - below 17 samples a side a band is narrower than the masking window: create() refuses.
 *
 * Options and features: float_adm.cpp. */
#ifndef VMAFX_KERNELS_ADM_FLOAT_ADM_H
#define VMAFX_KERNELS_ADM_FLOAT_ADM_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/picture.h"
#include "kernels/adm/float_adm_math.h"
#include "kernels/blocks.h"
#include "kernels/forward.h"

namespace vmafx {

struct FloatAdmParams {
  int bpc = 8;
  double gain_limit = 100;  // adm_enhn_gain_limit
  double p_norm = 3;
  bool masked = true;        // not adm_bypass_cm
  bool skip_scale0 = false;  // scale 0 then only feeds scale 1
  FloatAdmScale scale[kAdmScales];

  bool cubes() const { return p_norm == 3; }
  /* Raw sums of a frame: for each scale, FloatAdmSum and band, words as float_adm_math.h says. Sums of skipped bands
   * stay 0. */
  int words_per_sum() const { return cubes() ? 1 : kFloatAdmBins; }
  size_t sums_bytes() const { return size_t{kFloatAdmSums} * words_per_sum() * sizeof(uint64_t); }
};

/* EINVAL for sizes that cannot be scored. `options` are kFloatAdmExtractor's. */
StatusOr<FloatAdmParams> float_adm_params(const Options& options, const VideoFormat& format);

/* Fill `sums` (zeroed by the caller) from the luma planes. `scratch` has the twin's scratch_bytes, 64-byte aligned. */
size_t float_adm_scratch_bytes_plain(const FloatAdmParams& params);
void float_adm_plain(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                     uint64_t* sums);

size_t float_adm_scratch_bytes_simd(const FloatAdmParams& params);
void float_adm_simd(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                    uint64_t* sums);

/* Scores several encodes of one reference. */
size_t float_adm_encodes_scratch_bytes_simd(const FloatAdmParams& params, int encodes);
void float_adm_encodes_simd(const FloatAdmParams& params, const SamplePlane& ref, std::span<const SamplePlane> dist,
                            std::byte* scratch, std::span<uint64_t* const> sums);

/* A block's share of the sums of a scale, by FloatAdmSum and band, in the order of its samples. */
struct FloatAdmBlockSums {
  double of[kFloatAdmKinds][kAdmBands];
};

/* The blocks of all scales, cut from the bands of each. */
struct FloatAdmBlocks {
  FloatAdmBlockSums* scale[kAdmScales];  // row by row; zeroed by the caller

  static constexpr BlockGrid grid(const FloatAdmScale& scale, int index) {
    return block_grid(scale.w, scale.h, index == 0 ? 32 : 16);
  }
};

/* The blocks of the scales before this one: so many come first where those of all scales lie one behind the other. */
inline size_t float_adm_first_block(const FloatAdmParams& params, int scale) {
  return blocks_before(scale, [&](int s) { return FloatAdmBlocks::grid(params.scale[s], s); });
}

/* Fill in `blocks`, too, the same on all processors. Only for cubes. Scratch is that of float_adm_plain() and
 * float_adm_simd(). */
void float_adm_mapped_plain(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist,
                            std::byte* scratch, uint64_t* sums, const FloatAdmBlocks& blocks);
void float_adm_mapped_simd(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist,
                           std::byte* scratch, uint64_t* sums, const FloatAdmBlocks& blocks);

/* The HIP twin's kernels. */
OwnedDeviceTwin float_adm_hip(const FloatAdmParams& params);
/* Its sums: the frame's, then FloatAdmBlockSums of each scale, which stay 0 if sums are not of cubes. */
OwnedDeviceTwin float_adm_mapped_hip(const FloatAdmParams& params);

extern const ExtractorInfo kFloatAdmExtractor;

}  // namespace vmafx

#endif
