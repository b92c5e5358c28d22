/* float_vif: VIF in floating point. vif.h has its formulas and the paper; here the eye's noise n is vif_sigma_nsq, g is
 * at most vif_enhn_gain_limit in num, a sample with s1 < n counts 1 - s2 n² / 255² in num, and the scores of scales 1
 * to 3 are at least vif_scaleN_min_val. vif_kernelscale widens the windows (gaussian_window.h); vif_prescale and
 * vif_prescale_method scale the pictures first (prescale.h).
 *
 * The scores are those of libvmaf f85a853 float_vif, its plain C code, to the last bit: its operations (log2 by its
 * polynomial) in its order, summed in single precision as row_sums.h says. Deviations: depths of 9, 11 and 13 to 15
 * bits, which it scales wrongly; pictures whose coarsest plane is smaller than a window's half are refused, where it
 * reads outside; with n = 0, where s1 / n is not a number, its logarithm counts as 128 (libvmaf: 128 to 129). den is
 * never 0: a sample adds at least 1. */
#ifndef VMAFX_KERNELS_VIF_FLOAT_VIF_H
#define VMAFX_KERNELS_VIF_FLOAT_VIF_H

#include <cstddef>
#include <memory>

#include "base/picture.h"
#include "kernels/blocks.h"
#include "kernels/forward.h"
#include "kernels/steps/gaussian_window.h"
#include "kernels/steps/prescale.h"
#include "kernels/vif/float_vif_math.h"

namespace vmafx {

struct FloatVifParams {
  int w = 0, h = 0;  // scale 0's, after scaling
  int bpc = 8;       // 8..16
  bool skip_scale0 = false;
  FloatVifEye eye;
  GaussianWindow window[kFloatVifScales];
  std::shared_ptr<const Prescaler> prescaler;  // null: pictures are w x h
  PrescaleSource source(const SamplePlane& plane) const {
    return {.plane = plane, .bpc = bpc, .offset = kFloatVifOffset};
  }
};

/* The raw sums of a frame. With skip_scale0 those of scale 0 stay zero. */
struct FloatVifSums {
  FloatVifScaleSums scale[kFloatVifScales];
};

/* Fill `sums` (zeroed by the caller) from the luma planes. `scratch` has the twin's scratch_bytes, 64-byte aligned. */
size_t float_vif_scratch_bytes_plain(const FloatVifParams& params);
void float_vif_plain(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                     FloatVifSums& sums);

size_t float_vif_scratch_bytes_simd(const FloatVifParams& params);
void float_vif_simd(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                    FloatVifSums& sums);

/* A block's share of num and den of a scale, in the order of its samples. */
struct FloatVifBlockSums {
  double num, den;
};

/* The blocks of all scales, of the same parts of the picture: `grid` cuts scale 0 into kFloatVifBlockSide samples. */
inline constexpr int kFloatVifBlockSide = 32;
struct FloatVifBlocks {
  FloatVifBlockSums* scale[kFloatVifScales];  // row by row; zeroed by the caller
  BlockGrid grid;

  FloatVifBlockSums& at(int index, int x, int y) const {
    return scale[index][BlockGrid{grid.side >> index, grid.w, grid.h}.at(x, y)];
  }
};

/* Fill in `blocks`, too, the same on all processors. Scratch is that of float_vif_plain() and float_vif_simd(). */
void float_vif_mapped_plain(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist,
                            std::byte* scratch, FloatVifSums& sums, const FloatVifBlocks& blocks);
void float_vif_mapped_simd(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist,
                           std::byte* scratch, FloatVifSums& sums, const FloatVifBlocks& blocks);

inline BlockGrid float_vif_blocks(const FloatVifParams& params) {
  return block_grid(params.w, params.h, kFloatVifBlockSide);
}

OwnedDeviceTwin float_vif_hip(const FloatVifParams& params);
/* Its sums: FloatVifSums, then FloatVifBlockSums of each scale. */
OwnedDeviceTwin float_vif_mapped_hip(const FloatVifParams& params);

extern const ExtractorInfo kFloatVifExtractor;

}  // namespace vmafx

#endif
