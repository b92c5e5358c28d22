/* float_psnr: the luma's PSNR on the scale of 8 bit.
 *
 *     mse        = Σ (ref - dist)² / (w·h) / 4^(bpc-8)
 *     float_psnr = min(10·log10(peak² / max(mse, 1e-10)), 6·bpc + 12)         peak = (2^bpc - 1) / 2^(bpc-8)
 *
 * Matches libvmaf f85a853 `float_psnr`, which squares and adds in floating point, within 1e-6. Deviation: any depth from 8 to 16
 * bit, where it takes 8, 10, 12 and 16. The sum is the one that psnr has of the luma, and so are the twins. */
#include <algorithm>
#include <cmath>

#include "kernels/metric.h"
#include "kernels/psnr/psnr.h"

namespace vmafx {
namespace {

struct FloatPsnrScores {
  double psnr;
};

constexpr FeatureInfo kFeatures[] = {plain_feature("float_psnr", VMAFX_SCORE(FloatPsnrScores, psnr))};

class FloatPsnr : public Metric<PsnrParams, PsnrSums, FloatPsnrScores> {
 public:
  using Metric::Metric;

 private:
  FloatPsnrScores scores(const PsnrSums& sums) override {
    const VideoFormat& format = params_.format;
    const double scale = 1 << (format.bpc - 8), peak = ((1 << format.bpc) - 1) / scale;
    const double sse = static_cast<double>(sums.sse[0]) / (scale * scale);
    const double mse = sse / (static_cast<double>(format.w) * format.h);
    return {std::min(10 * std::log10(peak * peak / std::max(mse, 1e-10)), 6. * format.bpc + 12)};
  }
};

Created create(const NoOptions&, const VideoFormat& format, Placement placement) {
  return std::unique_ptr<Extractor>(new FloatPsnr({format, 1}, kPsnrTwins, kFeatures, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatPsnrExtractor = {
    .name = "float_psnr",
    .help = "peak signal-to-noise ratio of the luma, on the scale of 8 bit",
    .flags = kHip,
    .features = kFeatures,
    .options = {},
    .create = with_fields<create>,
};

}  // namespace vmafx
