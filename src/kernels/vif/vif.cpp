#include "kernels/vif/vif.h"

#include <cerrno>

#include "base/cpu.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

using Type = OptionInfo::Type;

constexpr OptionInfo kOptions[] = {
    {"debug", nullptr, Type::kBool, 0, 0, 1, false, "also provide integer_vif and the num and den of every scale"},
    {"vif_enhn_gain_limit", "egl", Type::kDouble, 100, 1, 100, true,
     "upper bound of the enhancement gain; 1 gives no credit for enhancement"},
    {"vif_skip_scale0", "ssclz", Type::kBool, 0, 0, 1, true, "do not compute scale 0; its score is 0"},
};

constexpr FeatureInfo kFeatures[] = {
    {"VMAF_integer_feature_vif_scale0_score", "integer_vif_scale0"},
    {"VMAF_integer_feature_vif_scale1_score", "integer_vif_scale1"},
    {"VMAF_integer_feature_vif_scale2_score", "integer_vif_scale2"},
    {"VMAF_integer_feature_vif_scale3_score", "integer_vif_scale3"},
    {"integer_vif", "integer_vif"},
    neutral_feature("integer_vif_num"),
    neutral_feature("integer_vif_den"),
    neutral_feature("integer_vif_num_scale0"),
    neutral_feature("integer_vif_den_scale0"),
    neutral_feature("integer_vif_num_scale1"),
    neutral_feature("integer_vif_den_scale1"),
    neutral_feature("integer_vif_num_scale2"),
    neutral_feature("integer_vif_den_scale2"),
    neutral_feature("integer_vif_num_scale3"),
    neutral_feature("integer_vif_den_scale3"),
};
constexpr int kScaleScores = 0, kWholeScore = 4, kScaleParts = 7;  // where each group of features starts

/* The numerator and denominator of one scale. They are floats, and so is their quotient, as in libvmaf. */
struct Ratio {
  float num;
  float den;
  float score() const { return num / den; }
};

Ratio ratio(const VifScaleSums& s) {
  const double non_log = s.den_non_log - (s.num_non_log / 16384.0) / 65025.0;
  return {static_cast<float>(s.num_log / 2048.0 + non_log), static_cast<float>(s.den_log / 2048.0 + s.den_non_log)};
}

/* What a skipped scale reports. */
constexpr Ratio kSkipped = {0.0f, -1.0f};

class Vif : public Extractor {
 public:
  Vif(const VifParams& params, bool debug, Placement placement)
      : params_(params), debug_(debug), use_reference_(use_reference_cpu()),
        device_twin_(placement == Placement::kDevice ? vif_hip(params) : nullptr) {}

  std::span<const FeatureInfo> features() const override {
    return std::span(kFeatures).first(debug_ ? std::size(kFeatures) : kVifScales);
  }
  size_t sums_bytes() const override { return sizeof(VifSums); }
  size_t scratch_bytes() const override {
    return use_reference_ ? vif_scratch_bytes_ref(params_) : vif_scratch_bytes_simd(params_);
  }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    const auto twin = use_reference_ ? vif_ref : vif_simd;
    twin(params_, frames.ref.plane[0], frames.dist.plane[0], scratch, *static_cast<VifSums*>(sums));
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    Ratio scales[kVifScales];
    for (int s = 0; s < kVifScales; s++) scales[s] = ratio(static_cast<const VifSums*>(sums)->scale[s]);
    if (params_.skip_scale0) scales[0] = kSkipped;
    for (int s = 0; s < kVifScales; s++) {
      const bool skipped = s == 0 && params_.skip_scale0;
      sink.put(frame, kScaleScores + s, skipped ? 0.0 : scales[s].score());
    }
    if (debug_) put_debug(frame, scales, sink);
  }

  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  void put_debug(int64_t frame, const Ratio (&scales)[kVifScales], ScoreSink& sink) const {
    double num = 0, den = 0;
    for (int s = params_.skip_scale0 ? 1 : 0; s < kVifScales; s++) {
      num += scales[s].num;
      den += scales[s].den;
    }
    sink.put(frame, kWholeScore, num / den);
    sink.put(frame, kWholeScore + 1, num);
    sink.put(frame, kWholeScore + 2, den);
    for (int s = 0; s < kVifScales; s++) {
      sink.put(frame, kScaleParts + 2 * s, scales[s].num);
      sink.put(frame, kScaleParts + 2 * s + 1, scales[s].den);
    }
  }

  VifParams params_;
  bool debug_;
  bool use_reference_;
  std::unique_ptr<DeviceTwin> device_twin_;
};

StatusOr<std::unique_ptr<Extractor>> create(const Options& options, const VideoFormat& format, Placement placement) {
  if (format.w < kVifMinSize || format.h < kVifMinSize)
    return error(EINVAL, "vif: %dx%d is too small; its coarsest scale needs pictures of at least %dx%d", format.w,
                 format.h, kVifMinSize, kVifMinSize);
  const VifParams params = {format.w, format.h, format.bpc, options.number("vif_enhn_gain_limit"),
                            options.flag("vif_skip_scale0")};
  return std::unique_ptr<Extractor>(std::make_unique<Vif>(params, options.flag("debug"), placement));
}

}  // namespace

constexpr ExtractorInfo kVifExtractor = {
    .name = "vif",
    .help = "visual information fidelity at four scales, integer arithmetic",
    .flags = kHip,
    .features = kFeatures,
    .options = kOptions,
    .create = create,
};

}  // namespace vmafx
