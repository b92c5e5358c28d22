#include "kernels/float_moment/float_moment.h"

#include "kernels/device_twin.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

struct MomentScores {
  double ref_first, dist_first, ref_second, dist_second;
};

constexpr FeatureInfo kFeatures[] = {
    neutral_feature("float_moment_ref1st", VMAFX_SCORE(MomentScores, ref_first)),
    neutral_feature("float_moment_dis1st", VMAFX_SCORE(MomentScores, dist_first)),
    neutral_feature("float_moment_ref2nd", VMAFX_SCORE(MomentScores, ref_second)),
    neutral_feature("float_moment_dis2nd", VMAFX_SCORE(MomentScores, dist_second)),
};

class Moment : public Metric<VideoFormat, MomentPair, MomentScores> {
 public:
  using Metric::Metric;

 private:
  MomentScores scores(const MomentPair& sums) const override {
    const double samples = static_cast<double>(params_.w) * params_.h, scale = 1 << (params_.bpc - 8);
    const auto first = [&](const MomentSums& of) { return static_cast<double>(of.first) / scale / samples; };
    const auto second = [&](const MomentSums& of) {
      return static_cast<double>(of.second) / (scale * scale) / samples;
    };
    return {first(sums.ref), first(sums.dist), second(sums.ref), second(sums.dist)};
  }
};

template <auto sums_of>
void run(const VideoFormat& format, const FrameSet& frames, std::byte*, MomentPair& sums) {
  sums = {sums_of(frames.ref.plane[0], format.bpc), sums_of(frames.dist.plane[0], format.bpc)};
}

constexpr Twins<VideoFormat, MomentPair> kTwins = {
    .plain = {nullptr, run<moment_plain>},
    .simd = {nullptr, run<moment_simd>},
    .device = moment_hip,
};

Created create(const NoOptions&, const VideoFormat& format, Placement placement) {
  return std::unique_ptr<Extractor>(new Moment(format, kTwins, kFeatures, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatMomentExtractor = {
    .name = "float_moment",
    .measures = "brightness",
    .help = "mean and mean square of the luma of each picture",
    .range = "0 to 255, as 8-bit samples",
    .flags = kHip,
    .features = kFeatures,
    .create = with_fields<create>,
};

}  // namespace vmafx
