/* float_adm: ADM in floating point. What it computes, and from what papers, adm.h says; here
 *
 *   dlm = Σ (|restored| - threshold(added))+^p    aim = Σ (|added| - threshold(restored))+^p    den = Σ |reference|^p
 *
 * with p = adm_p_norm; num, aim_num and den add up the p-th roots; aim is at most 1; and with adm_adm3_apply_hm adm3 is the harmonic
 * mean of adm2 and aim.
 *
 * libvmaf (f85a853, float_adm.c) is followed operation for operation, its approximate division (float_adm_math.h) and the order
 * of its sums too: scores are its own to the last bit; for a p other than 3 they agree to 3e-7. Deviations, where it has no defined
 * value or is wrong:
 *  - den == 0 and small sizes, as in adm.h. So too for an aim whose only scales with a den are left out.
 *  - 9, 11, 13, 14 and 15 bit are scaled by their depth; libvmaf reads them as bytes.
 *  - p-th powers with a large adm_p_norm do not overflow.
 *
 * Options and features: float_adm.cpp. */
#ifndef VMAFX_KERNELS_ADM_FLOAT_ADM_H
#define VMAFX_KERNELS_ADM_FLOAT_ADM_H

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/picture.h"
#include "kernels/adm/float_adm_math.h"
#include "kernels/metric.h"

namespace vmafx {

struct FloatAdmParams {
  int bpc = 8;
  double gain_limit = 100;  // adm_enhn_gain_limit
  double p_norm = 3;
  bool masked = true;        // not adm_bypass_cm
  bool skip_scale0 = false;  // scale 0 then only feeds scale 1
  FloatAdmScale scale[kAdmScales];

  bool cubes() const { return p_norm == 3; }
  /* Raw sums of a frame: for each scale, AdmKind and band, words as float_adm_math.h says. What is skipped stays 0. */
  int words_per_sum() const { return cubes() ? 1 : kFloatAdmBins; }
  size_t sums_bytes() const { return size_t{kFloatAdmSums} * words_per_sum() * sizeof(uint64_t); }
};

/* EINVAL for sizes that cannot be scored. `options` are kFloatAdmExtractor's. */
StatusOr<FloatAdmParams> float_adm_params(const Options& options, const VideoFormat& format);

/* Fill the words from `sums` on (zeroed by the caller) from the luma planes. `scratch` has the twin's scratch_bytes, 64-byte aligned. */
size_t float_adm_scratch_bytes_ref(const FloatAdmParams& params);
void float_adm_ref(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                   uint64_t& sums);

size_t float_adm_scratch_bytes_simd(const FloatAdmParams& params);
void float_adm_simd(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                    uint64_t& sums);

/* The HIP twin's kernels. */
std::unique_ptr<DeviceTwin> float_adm_hip(const FloatAdmParams& params);

extern const ExtractorInfo kFloatAdmExtractor;

}  // namespace vmafx

#endif
