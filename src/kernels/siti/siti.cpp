#include "kernels/siti/siti.h"

#include <algorithm>
#include <cmath>

#include "kernels/device_twin.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

struct SitiScores {
  double si_dist, si_ref, ti_dist, ti_ref;
};

constexpr FeatureInfo kFeatures[] = {
    read_alone(neutral_feature("si_distorted", VMAFX_SCORE(SitiScores, si_dist))),
    read_alone(neutral_feature("si_reference", VMAFX_SCORE(SitiScores, si_ref))),
    read_alone(neutral_feature("ti_distorted", VMAFX_SCORE(SitiScores, ti_dist))),
    read_alone(neutral_feature("ti_reference", VMAFX_SCORE(SitiScores, ti_ref))),
};

/* The standard deviation of values from their sum and that of their squares; 0 if there are none. */
double deviation(double sum, double squares, double count) {
  if (count <= 0) return 0;
  const double mean = sum / count;
  return std::sqrt(std::max(squares / count - mean * mean, 0.0));
}

class Siti : public Metric<VideoFormat, SitiPair, SitiScores> {
 public:
  using Metric::Metric;

  Reads reads() const override {
    return {.ref = 1, .dist = 1, .history = 1, .every_frame = true, .reach = {.before = 1}};
  }

 private:
  SitiScores scores(const SitiPair& sums) const override {
    return {spatial(sums.dist), spatial(sums.ref), temporal(sums.dist), temporal(sums.ref)};
  }

  double spatial(const SitiSums& sums) const {
    const double count = std::max(params_.w - 2, 0) * static_cast<double>(std::max(params_.h - 2, 0));
    const double gradients = static_cast<double>(sums.gradients) / static_cast<double>(siti_units(params_.bpc));
    return deviation(gradients, static_cast<double>(sums.gradient_squares), count) / scale();
  }
  double temporal(const SitiSums& sums) const {
    const double count = static_cast<double>(params_.w) * params_.h;
    return deviation(static_cast<double>(sums.changes), static_cast<double>(sums.change_squares), count) / scale();
  }
  double scale() const { return 1 << (params_.bpc - 8); }
};

template <auto sums_of>
void run(const VideoFormat& format, const FrameSet& frames, std::byte*, SitiPair& sums) {
  sums = {sums_of(frames.ref.plane[0], frames.earlier_ref[0].plane[0], format.bpc),
          sums_of(frames.dist.plane[0], frames.earlier_dist[0].plane[0], format.bpc)};
}

constexpr Twins<VideoFormat, SitiPair> kTwins = {
    .plain = {nullptr, run<siti_plain>},
    .simd = {nullptr, run<siti_simd>},
    .device = siti_hip,
};

Created create(const NoOptions&, const VideoFormat& format, Placement placement) {
  return std::unique_ptr<Extractor>(new Siti(format, kTwins, kFeatures, placement));
}

}  // namespace

constexpr ExtractorInfo kSitiExtractor = {
    .name = "siti",
    .measures = "complexity",
    .help = "spatial and temporal information (P.910) of each picture",
    .range = "from 0 up; mostly below 150",
    .flags = kHip,
    .features = kFeatures,
    .create = with_fields<create>,
};

}  // namespace vmafx
