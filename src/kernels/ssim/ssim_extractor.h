/* What the extractors float_ssim and float_ms_ssim share: sums, means and decibels. */
#ifndef VMAFX_KERNELS_SSIM_SSIM_EXTRACTOR_H
#define VMAFX_KERNELS_SSIM_SSIM_EXTRACTOR_H

#include "kernels/device_twin.h"
#include "kernels/ssim/ssim.h"

namespace vmafx {

/* Means of one scale, floats as in libvmaf. */
struct SsimMeanScores {
  float l, c, s, lcs;
};

class SsimExtractor : public Extractor {
 public:
  size_t sums_bytes() const override { return params_.scales * sizeof(SsimSums); }
  size_t scratch_bytes() const override;
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override;
  DeviceTwin* device_twin() override { return device_twin_.get(); }

 protected:
  SsimExtractor(const SsimParams& params, const Options& options, Placement placement);

  bool with_lcs() const { return with_lcs_; }
  SsimMeanScores mean_scores(const void* sums, int scale) const;
  /* A score as it is or in dB. A perfect one, or one above 1 by rounding, is as high as can be. */
  double in_unit(double score) const;

 private:
  const SsimParams params_;
  const bool with_lcs_, in_db_, use_reference_;
  const double most_db_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

}  // namespace vmafx

#endif
