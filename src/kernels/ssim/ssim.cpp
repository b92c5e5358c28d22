/* float_ssim: options, features, scores. */
#include "kernels/ssim/ssim.h"

#include <algorithm>
#include <cerrno>

#include "kernels/ssim/ssim_extractor.h"
#include "kernels/ssim/ssim_math.h"

namespace vmafx {
namespace {

using Type = OptionInfo::Type;

constexpr OptionInfo kOptions[] = {
    {"enable_lcs", nullptr, Type::kBool, 0, 0, 1, false, "also provide the means of luminance, contrast and structure"},
    {"enable_db", nullptr, Type::kBool, 0, 0, 1, false, "give the score in dB"},
    {"clip_db", nullptr, Type::kBool, 0, 0, 1, false, "limit scores in dB to that of half a squared error per picture"},
    {"scale", nullptr, Type::kInt, 0, 0, 10, false, "what width and height are divided by first; 0: to about 256 rows"},
};

constexpr FeatureInfo kFeatures[] = {
    {"float_ssim", "float_ssim"},
    {"float_ssim_l", "float_ssim_l"},
    {"float_ssim_c", "float_ssim_c"},
    {"float_ssim_s", "float_ssim_s"},
};

class FloatSsim : public SsimExtractor {
 public:
  FloatSsim(const SsimParams& params, const Options& options, Placement placement)
      : SsimExtractor(params, options, placement) {}

  std::span<const FeatureInfo> features() const override {
    return std::span(kFeatures).first(with_lcs() ? std::size(kFeatures) : 1);
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    const SsimMeanScores mean = mean_scores(sums, 0);
    sink.put(frame, 0, in_unit(mean.lcs));
    if (!with_lcs()) return;
    sink.put(frame, 1, mean.l);
    sink.put(frame, 2, mean.c);
    sink.put(frame, 3, mean.s);
  }
};

/* The nearest whole number to min(w, h) / 256. */
int automatic_factor(const VideoFormat& format) { return std::max(1, (std::min(format.w, format.h) + 128) / 256); }

StatusOr<std::unique_ptr<Extractor>> create(const Options& options, const VideoFormat& format, Placement placement) {
  SsimParams params = {.w = format.w, .h = format.h, .bpc = format.bpc};
  params.factor = options.integer("scale") ? options.integer("scale") : automatic_factor(format);
  const int w = ssim_reduced(format.w, params.factor), h = ssim_reduced(format.h, params.factor);
  if (std::min(w, h) < SsimWindow::kLength)
    return Status(EINVAL, "float_ssim needs at least 11x11 samples after dividing by its scale, " +
                              std::to_string(params.factor) + "; here are " + std::to_string(w) + "x" +
                              std::to_string(h));
  return std::unique_ptr<Extractor>(new FloatSsim(params, options, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatSsimExtractor = {
    .name = "float_ssim",
    .help = "structural similarity of luma, at one scale",
    .flags = kHip,
    .features = kFeatures,
    .options = kOptions,
    .create = create,
};

}  // namespace vmafx
