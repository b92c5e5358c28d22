#include "kernels/psnr/msad.h"

#include "kernels/device_twin.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

struct MsadOptions {
  bool enable_chroma = true;
};

constexpr OptionInfo kOptions[] = {
    option<&MsadOptions::enable_chroma>("enable_chroma", nullptr, "score the chroma planes too")};

struct MsadScores {
  double msad;  // the mean of the planes
  double plane[3];
};

constexpr FeatureInfo kFeatures[] = {
    read_alone(plain_feature("msad", VMAFX_SCORE(MsadScores, msad), Worse::kHigh)),
    plain_feature("msad_y", VMAFX_SCORE(MsadScores, plane[0]), Worse::kHigh),
    plain_feature("msad_cb", VMAFX_SCORE(MsadScores, plane[1]), Worse::kHigh),
    plain_feature("msad_cr", VMAFX_SCORE(MsadScores, plane[2]), Worse::kHigh),
};

class Msad : public Metric<PsnrParams, MsadSums, MsadScores> {
 public:
  using Metric::Metric;

  Reads reads() const override {
    const unsigned planes = (1u << params_.planes) - 1;
    return {.ref = planes, .dist = planes, .whole_chroma = true};
  }

 private:
  MsadScores scores(const MsadSums& sums) const override {
    const VideoFormat& format = params_.format;
    MsadScores scores = {};
    for (int p = 0; p < params_.planes; p++) {
      const double samples = static_cast<double>(format.plane_w(p)) * format.plane_h(p);
      scores.plane[p] = static_cast<double>(sums.sad[p]) / samples / ((1 << format.bpc) - 1);
      scores.msad += scores.plane[p];
    }
    scores.msad /= params_.planes;
    return scores;
  }
};

template <auto sad>
void run(const PsnrParams& params, const FrameSet& frames, std::byte*, MsadSums& sums) {
  for (int p = 0; p < params.planes; p++)
    sums.sad[p] = sad(frames.ref.plane[p], frames.dist.plane[p], params.format.bpc);
}

constexpr Twins<PsnrParams, MsadSums> kTwins = {
    .plain = {nullptr, run<msad_plain>},
    .simd = {nullptr, run<msad_simd>},
    .device = msad_hip,
};

Created create(const MsadOptions& options, const VideoFormat& format, Placement placement) {
  const bool with_chroma = options.enable_chroma && format.plane_w(1) > 0 && format.plane_h(1) > 0;
  const PsnrParams params = {format, with_chroma ? format.planes() : 1};
  const auto features = std::span(kFeatures).first(1 + static_cast<size_t>(params.planes));
  return std::unique_ptr<Extractor>(new Msad(params, kTwins, features, placement));
}

}  // namespace

constexpr ExtractorInfo kMsadExtractor = {
    .name = "msad",
    .measures = "fidelity",
    .help = "mean absolute difference of every plane, at most 1",
    .range = "0 to 1",
    .flags = kHip | kWholeChroma,
    .features = kFeatures,
    .options = kOptions,
    .create = with_fields<create>,
};

}  // namespace vmafx
