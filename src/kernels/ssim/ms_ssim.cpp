/* float_ms_ssim: options, features, scores. */
#include <algorithm>
#include <cerrno>
#include <cmath>

#include "kernels/ssim/ssim.h"
#include "kernels/ssim/ssim_extractor.h"

namespace vmafx {
namespace {

using Type = OptionInfo::Type;

constexpr OptionInfo kOptions[] = {
    {"enable_lcs", nullptr, Type::kBool, 0, 0, 1, false,
     "also provide the means of luminance, contrast and structure at every scale"},
    {"enable_db", nullptr, Type::kBool, 0, 0, 1, false, "give the score in dB"},
    {"clip_db", nullptr, Type::kBool, 0, 0, 1, false, "limit scores in dB to that of half a squared error per picture"},
};

constexpr FeatureInfo kFeatures[] = {
    {"float_ms_ssim", "float_ms_ssim"},
    {"float_ms_ssim_l_scale0", "float_ms_ssim_l_scale0"},
    {"float_ms_ssim_l_scale1", "float_ms_ssim_l_scale1"},
    {"float_ms_ssim_l_scale2", "float_ms_ssim_l_scale2"},
    {"float_ms_ssim_l_scale3", "float_ms_ssim_l_scale3"},
    {"float_ms_ssim_l_scale4", "float_ms_ssim_l_scale4"},
    {"float_ms_ssim_c_scale0", "float_ms_ssim_c_scale0"},
    {"float_ms_ssim_c_scale1", "float_ms_ssim_c_scale1"},
    {"float_ms_ssim_c_scale2", "float_ms_ssim_c_scale2"},
    {"float_ms_ssim_c_scale3", "float_ms_ssim_c_scale3"},
    {"float_ms_ssim_c_scale4", "float_ms_ssim_c_scale4"},
    {"float_ms_ssim_s_scale0", "float_ms_ssim_s_scale0"},
    {"float_ms_ssim_s_scale1", "float_ms_ssim_s_scale1"},
    {"float_ms_ssim_s_scale2", "float_ms_ssim_s_scale2"},
    {"float_ms_ssim_s_scale3", "float_ms_ssim_s_scale3"},
    {"float_ms_ssim_s_scale4", "float_ms_ssim_s_scale4"},
};
constexpr int kL = 1, kC = 6, kS = 11;  // where the features of each kind start

/* The exponents, floats as in libvmaf. That of the luminance is 0 but for the last scale, where it is the same. */
constexpr float kExponents[kMsSsimScales] = {0.0448f, 0.2856f, 0.3001f, 0.2363f, 0.1333f};

double weighted(double mean, int scale) { return std::pow(mean, static_cast<double>(kExponents[scale])); }

/* So that an 11x11 window fits the last scale, as libvmaf counts it. */
constexpr int kLeastSize = 11 << (kMsSsimScales - 1);

class FloatMsSsim : public SsimExtractor {
 public:
  FloatMsSsim(const SsimParams& params, const Options& options, Placement placement)
      : SsimExtractor(params, options, placement) {}

  std::span<const FeatureInfo> features() const override {
    return std::span(kFeatures).first(with_lcs() ? std::size(kFeatures) : 1);
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    double score = 1;
    for (int s = 0; s < kMsSsimScales; s++) {
      const SsimMeanScores mean = mean_scores(sums, s);
      const double l = s == kMsSsimScales - 1 ? weighted(mean.l, s) : 1;
      score *= l * weighted(mean.c, s) * weighted(std::max(mean.s, 0.f), s);
      if (!with_lcs()) continue;
      sink.put(frame, kL + s, mean.l);
      sink.put(frame, kC + s, mean.c);
      sink.put(frame, kS + s, mean.s);
    }
    sink.put(frame, 0, in_unit(score));
  }
};

StatusOr<std::unique_ptr<Extractor>> create(const Options& options, const VideoFormat& format, Placement placement) {
  if (std::min(format.w, format.h) < kLeastSize)
    return Status(EINVAL, "float_ms_ssim needs at least 176x176 samples, for its five scales; here are " +
                              std::to_string(format.w) + "x" + std::to_string(format.h));
  SsimParams params = {.w = format.w, .h = format.h, .bpc = format.bpc};
  params.scales = kMsSsimScales;
  params.every_l = options.flag("enable_lcs");
  return std::unique_ptr<Extractor>(new FloatMsSsim(params, options, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatMsSsimExtractor = {
    .name = "float_ms_ssim",
    .help = "structural similarity of luma, at five scales",
    .flags = kHip,
    .features = kFeatures,
    .options = kOptions,
    .create = create,
};

}  // namespace vmafx
