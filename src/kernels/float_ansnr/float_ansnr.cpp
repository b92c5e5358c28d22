#include "kernels/float_ansnr/float_ansnr.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "kernels/device_twin.h"
#include "kernels/metric.h"
#include "kernels/steps/row_sums.h"

namespace vmafx {
namespace {

struct AnsnrScores {
  double ansnr, anpsnr;
};

constexpr FeatureInfo kFeatures[] = {
    in_unit("dB", plain_feature("float_ansnr", VMAFX_SCORE(AnsnrScores, ansnr))),
    in_unit("dB", plain_feature("float_anpsnr", VMAFX_SCORE(AnsnrScores, anpsnr))),
};

class Ansnr : public Metric<VideoFormat, AnsnrSums, AnsnrScores> {
 public:
  using Metric::Metric;

 private:
  AnsnrScores scores(const AnsnrSums& words) const override {
    const int bpc = params_.bpc;
    const float signal = sum_of_word(words.signal), noise = sum_of_word(words.noise);
    const double peak = ((1 << bpc) - 1) / static_cast<double>(1 << (bpc - 8)), limit = 6. * bpc + 12;
    const double peaks = peak * peak * params_.w * params_.h;
    return {noise == 0 ? limit : 10 * std::log10(static_cast<double>(signal / noise)),
            std::min(10 * std::log10(peaks / std::max<double>(noise, 1e-10)), limit)};
  }
};

constexpr Twins<VideoFormat, AnsnrSums> kTwins = {
    .plain = {ansnr_scratch_bytes, on_luma<ansnr_plain>},
    .simd = {ansnr_scratch_bytes, on_luma<ansnr_simd>},
    .device = ansnr_hip,
};

Created create(const NoOptions&, const VideoFormat& format, Placement placement) {
  if (format.w < kAnsnrMinSize || format.h < kAnsnrMinSize)
    return error(EINVAL, "float_ansnr needs pictures of at least %dx%d; these are %dx%d", kAnsnrMinSize, kAnsnrMinSize,
                 format.w, format.h);
  return std::unique_ptr<Extractor>(new Ansnr(format, kTwins, kFeatures, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatAnsnrExtractor = {
    .name = "float_ansnr",
    .measures = "fidelity",
    .help = "signal-to-noise ratio of the smoothed luma",
    .range = "from 0 up",
    .flags = kHip,
    .features = kFeatures,
    .create = with_fields<create>,
};

}  // namespace vmafx
