#include "kernels/vif/float_vif.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

#include "base/cpu.h"
#include "kernels/steps/row_sums.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

using Type = OptionInfo::Type;

constexpr OptionInfo kOptions[] = {
    {"debug", nullptr, Type::kBool, 0, 0, 1, false, "also provide vif and the num and den of every scale"},
    {"vif_enhn_gain_limit", "egl", Type::kDouble, 100, 1, 100, true,
     "upper bound of the enhancement gain; 1 gives no credit for enhancement"},
    {"vif_kernelscale", "ks", Type::kDouble, 1, 0.1, 4, true, "factor of the windows' sizes, one of libvmaf's list"},
    {"vif_prescale", "ps", Type::kDouble, 1, 0.1, 4, true, "factor that scales the pictures first"},
    {"vif_scale1_min_val", "s1miv", Type::kDouble, 0, 0, 1, true, "smallest score of scale 1; smaller ones are raised"},
    {"vif_scale2_min_val", "s2miv", Type::kDouble, 0, 0, 1, true, "smallest score of scale 2; smaller ones are raised"},
    {"vif_scale3_min_val", "s3miv", Type::kDouble, 0, 0, 1, true, "smallest score of scale 3; smaller ones are raised"},
    {"vif_prescale_method", "pm", Type::kString, 0, 0, 0, true, "nearest, bilinear, bicubic or lanczos4", "nearest"},
    {"vif_sigma_nsq", "snsq", Type::kDouble, 2, 0, 5, true, "noise variance of the eye"},
    {"vif_skip_scale0", "ssclz", Type::kBool, 0, 0, 1, true, "do not compute scale 0; its score is 0"},
};

constexpr FeatureInfo kFeatures[] = {
    {"VMAF_feature_vif_scale0_score", "vif_scale0"},
    {"VMAF_feature_vif_scale1_score", "vif_scale1"},
    {"VMAF_feature_vif_scale2_score", "vif_scale2"},
    {"VMAF_feature_vif_scale3_score", "vif_scale3"},
    {"vif", "vif"},
    neutral_feature("vif_num"),
    neutral_feature("vif_den"),
    neutral_feature("vif_num_scale0"),
    neutral_feature("vif_den_scale0"),
    neutral_feature("vif_num_scale1"),
    neutral_feature("vif_den_scale1"),
    neutral_feature("vif_num_scale2"),
    neutral_feature("vif_den_scale2"),
    neutral_feature("vif_num_scale3"),
    neutral_feature("vif_den_scale3"),
};
constexpr int kScaleScores = 0, kWholeScore = 4, kScaleParts = 7;  // where each group of features starts

struct Ratio {
  double num;
  double den;
  double score() const { return num / den; }
};

/* What a skipped scale reports. */
constexpr Ratio kSkipped = {0, -1};

class FloatVif : public Extractor {
 public:
  FloatVif(const FloatVifParams& params, const Options& options, Placement placement)
      : params_(params), debug_(options.flag("debug")),
        least_{0, options.number("vif_scale1_min_val"), options.number("vif_scale2_min_val"),
               options.number("vif_scale3_min_val")},
        device_twin_(placement == Placement::kDevice ? float_vif_hip(params) : nullptr) {}

  std::span<const FeatureInfo> features() const override {
    return std::span(kFeatures).first(debug_ ? std::size(kFeatures) : kFloatVifScales);
  }
  size_t sums_bytes() const override { return sizeof(FloatVifSums); }
  size_t scratch_bytes() const override {
    return use_reference_ ? float_vif_scratch_bytes_ref(params_) : float_vif_scratch_bytes_simd(params_);
  }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    const auto twin = use_reference_ ? float_vif_ref : float_vif_simd;
    twin(params_, frames.ref.plane[0], frames.dist.plane[0], scratch, *static_cast<FloatVifSums*>(sums));
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    Ratio scales[kFloatVifScales];
    for (int s = 0; s < kFloatVifScales; s++) {
      const FloatVifScaleSums& sum = static_cast<const FloatVifSums*>(sums)->scale[s];
      const bool skipped = s == 0 && params_.skip_scale0;
      scales[s] = skipped ? kSkipped : Ratio{sum_of_word(sum.num), sum_of_word(sum.den)};
      const double score = skipped ? 0 : scales[s].score();
      sink.put(frame, kScaleScores + s, s == 0 ? score : std::max(score, least_[s]));
    }
    if (debug_) put_debug(frame, scales, sink);
  }

  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  void put_debug(int64_t frame, const Ratio (&scales)[kFloatVifScales], ScoreSink& sink) const {
    Ratio whole = {0, 0};
    for (int s = params_.skip_scale0 ? 1 : 0; s < kFloatVifScales; s++) {
      whole.num += scales[s].num;
      whole.den += scales[s].den;
    }
    sink.put(frame, kWholeScore, whole.score());
    sink.put(frame, kWholeScore + 1, whole.num);
    sink.put(frame, kWholeScore + 2, whole.den);
    for (int s = 0; s < kFloatVifScales; s++) {
      sink.put(frame, kScaleParts + 2 * s, scales[s].num);
      sink.put(frame, kScaleParts + 2 * s + 1, scales[s].den);
    }
  }

  const FloatVifParams params_;
  const bool debug_;
  const double least_[kFloatVifScales];
  const bool use_reference_ = use_reference_cpu();
  const std::unique_ptr<DeviceTwin> device_twin_;
};

FloatVifEye eye_of(const Options& options) {
  FloatVifEye eye;
  eye.noise = options.number("vif_sigma_nsq");
  const auto noise = static_cast<float>(eye.noise);
  eye.least_variance = noise < eye.noise ? std::nextafter(noise, std::numeric_limits<float>::infinity()) : noise;
  int exponent;
  eye.inverse_noise = std::frexp(eye.noise, &exponent) == 0.5 ? 1 / noise : 0;
  eye.flat_loss = static_cast<float>(noise * noise / 65025.0);
  eye.gain_limit = static_cast<float>(options.number("vif_enhn_gain_limit"));
  return eye;
}

/* Windows reflect once: the planes that they run on, their own scale's and the one before, exceed their half. */
Status check_sizes(const FloatVifParams& params) {
  for (int s = 0; s < kFloatVifScales; s++) {
    const int least = params.window[s].half + 1;
    if (params.w >> s < least || params.h >> s < least)
      return error(EINVAL, "float_vif: %dx%d is too small; with these options it needs pictures of at least %dx%d",
                   params.w, params.h, least << s, least << s);
  }
  return {};
}

StatusOr<std::unique_ptr<Extractor>> create(const Options& options, const VideoFormat& format, Placement placement) {
  const double kernelscale = options.number("vif_kernelscale"), prescale = options.number("vif_prescale");
  if (!is_vif_kernelscale(kernelscale))
    return error(EINVAL, "float_vif: vif_kernelscale %g is none of %s", kernelscale, kVifKernelscales);
  PrescaleMethod method;
  VMAFX_ASSIGN(method, prescale_method("float_vif", options.text("vif_prescale_method")));

  FloatVifParams params;
  params.w = prescaled_size(format.w, prescale);
  params.h = prescaled_size(format.h, prescale);
  params.bpc = format.bpc;
  params.skip_scale0 = options.flag("vif_skip_scale0");
  params.eye = eye_of(options);
  for (int s = 0; s < kFloatVifScales; s++) params.window[s] = vif_window(s, kernelscale);
  VMAFX_TRY(check_sizes(params));
  if (params.w != format.w || params.h != format.h)
    params.prescaler = std::make_shared<Prescaler>(method, format.w, format.h, params.w, params.h);
  return std::unique_ptr<Extractor>(new FloatVif(params, options, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatVifExtractor = {
    .name = "float_vif",
    .help = "visual information fidelity at four scales, floating-point arithmetic",
    .flags = kHip,
    .features = kFeatures,
    .options = kOptions,
    .create = create,
};

}  // namespace vmafx
