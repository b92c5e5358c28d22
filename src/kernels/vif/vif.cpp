#include "kernels/vif/vif.h"

#include <cerrno>

#include "kernels/device_twin.h"
#include "kernels/metric.h"
#include "kernels/vif/vif_scores.h"

namespace vmafx {
namespace {

constexpr OptionInfo kOptions[] = {
    scoring(adding(
        option<&VifOptions::debug>("debug", nullptr, "also provide integer_vif and the num and den of every scale"))),
    kVifGainLimit<VifOptions>,
    kVifSkipScale0<VifOptions>,
};

constexpr FeatureInfo kFeatures[] = {VMAFX_VIF_FEATURES("integer_")};

/* The numerator and denominator of one scale are floats, and so is their quotient, as in libvmaf. */
struct FloatRatio {
  float num, den;
};
FloatRatio ratio(const VifScaleSums& s) {
  const double non_log = s.den_non_log - (s.num_non_log / 16384.0) / 65025.0;
  return {static_cast<float>(s.num_log / 2048.0 + non_log), static_cast<float>(s.den_log / 2048.0 + s.den_non_log)};
}

class Vif : public Metric<VifParams, VifSums, VifScores> {
 public:
  using Metric::Metric;

 private:
  VifScores scores(const VifSums& sums) const override {
    VifRatio scales[kVifScales];
    for (int s = 0; s < kVifScales; s++) {
      const auto [num, den] = ratio(sums.scale[s]);
      scales[s] = {num, den, num / den};
    }
    return vif_scores(scales, params_.skip_scale0);
  }
};

constexpr Twins<VifParams, VifSums> kTwins = {
    .plain = {vif_scratch_bytes_plain, on_luma<vif_plain>},
    .simd = {vif_scratch_bytes_simd, on_luma<vif_simd>, vif_encodes_scratch_bytes_simd,
             on_luma_of_encodes<vif_encodes_simd>},
    .device = vif_hip,
};

Created create(const VifOptions& options, const VideoFormat& format, Placement placement) {
  if (format.w < kVifMinSize || format.h < kVifMinSize)
    return error(EINVAL, "vif: %dx%d is too small; its coarsest scale needs pictures of at least %dx%d", format.w,
                 format.h, kVifMinSize, kVifMinSize);
  const VifParams params = {format.w, format.h, format.bpc, options.gain_limit, options.skip_scale0};
  return std::unique_ptr<Extractor>(new Vif(params, kTwins, vif_provided(kFeatures, options.debug), placement));
}

}  // namespace

constexpr ExtractorInfo kVifExtractor = {
    .name = "vif",
    .measures = "information",
    .help = "visual information fidelity at four scales, integer arithmetic",
    .range = "0 to 1; more where contrast is raised",
    .flags = kHip,
    .features = kFeatures,
    .options = kOptions,
    .create = with_fields<create>,
};

}  // namespace vmafx
