#include "kernels/ssimulacra2/ssimulacra2.h"

#include <cerrno>
#include <cmath>

#include "kernels/metric.h"
#include "kernels/ssimulacra2/ssimulacra2_weights.h"
#include "kernels/steps/linear_light_of.h"

namespace vmafx {
namespace {

struct Ssimulacra2Scores {
  double ssimulacra2;
};

constexpr FeatureInfo kFeatures[] = {plain_feature("ssimulacra2", VMAFX_SCORE(Ssimulacra2Scores, ssimulacra2))};

// -- Score -----------------------------------------------------------------------------------------------------------

/* The weighted errors of all maps. Weights are used up in order, by the scales that are there. */
double weighted(const Ssimulacra2Sums& sums, int w, int h) {
  const int scales = ssimulacra2_scales(w, h);
  double total = 0;
  int weight = 0;
  for (int channel = 0; channel < 3; channel++)
    for (int scale = 0; scale < scales; scale++) {
      const double samples = static_cast<double>(ssimulacra2_size(w, scale)) * ssimulacra2_size(h, scale);
      const auto& maps = sums.map[scale][channel];
      for (const auto& map : maps)
        total += kSsimulacra2Weights[weight++] * (from_fixed<kSsimulacra2SumBits>(map.sum) / samples);
      for (const auto& map : maps) {
        const double mean = map.fourth_powers.value() / kSsimulacra2FourthScale / samples;
        total += kSsimulacra2Weights[weight++] * std::sqrt(std::sqrt(mean));
      }
    }
  return total;
}

/* Fitted by the reference to the scale of JPEG qualities. */
double bent(double errors) {
  const double e = errors * 0.9562382616834844;
  const double cubic = 2.326765642916932 * e - 0.020884521182843837 * e * e + 6.248496625763138e-05 * e * e * e;
  return cubic > 0 ? 100.0 - 10.0 * std::pow(cubic, 0.6276336467831387) : 100.0;
}

// -- The extractor ---------------------------------------------------------------------------------------------------

class Ssimulacra2 : public Metric<Ssimulacra2Params, Ssimulacra2Sums, Ssimulacra2Scores> {
 public:
  using Metric::Metric;

  Reads reads() const override {
    const unsigned planes = params_.has_chroma ? 7 : 1;
    return {.ref = planes, .dist = planes};
  }

 private:
  Ssimulacra2Scores scores(const Ssimulacra2Sums& sums) override {
    return {bent(weighted(sums, params_.w, params_.h))};
  }
};

template <auto twin>
void run(const Ssimulacra2Params& params, const FrameSet& frames, std::byte* scratch, Ssimulacra2Sums& sums) {
  twin(params, frames.ref, frames.dist, scratch, sums);
}

constexpr Twins<Ssimulacra2Params, Ssimulacra2Sums> kTwins = {
    .ref = {ssimulacra2_scratch_bytes_ref, run<ssimulacra2_ref>},
    .simd = {ssimulacra2_scratch_bytes_simd, run<ssimulacra2_simd>},
    .device = ssimulacra2_hip,
};

Status named(const Status& status) { return error(EINVAL, "ssimulacra2: %s", status.message().c_str()); }

}  // namespace

/* What cones absorb of linear light of BT.709's primaries. Each row adds up to 1. */
constexpr double kOpsin[9] = {0.30,
                              0.622,
                              0.078,
                              0.23,
                              0.692,
                              0.078,
                              0.24342268924547819,
                              0.20476744424496821,
                              1 - 0.24342268924547819 - 0.20476744424496821};

StatusOr<Ssimulacra2Params> ssimulacra2_params(const VideoFormat& format) {
  if (format.w < kSsimulacra2MinSize || format.h < kSsimulacra2MinSize)
    return error(EINVAL, "ssimulacra2: %dx%d is too small; it needs pictures of at least %dx%d", format.w, format.h,
                 kSsimulacra2MinSize, kSsimulacra2MinSize);
  const auto light = linear_light_of(format);
  if (!light.ok()) return named(light.status());
  const auto primaries = primaries_to_bt709(format);
  if (!primaries.ok()) return named(primaries.status());
  Ssimulacra2Params params = {.w = format.w,
                              .h = format.h,
                              .bpc = format.bpc,
                              .has_chroma = format.planes() == 3,
                              .across = chroma_across(format),
                              .down = chroma_down(format),
                              .light = light.value(),
                              .absorbance = {}};
  for (int i = 0; i < 9; i++) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += kOpsin[i / 3 * 3 + k] * primaries.value()[3 * k + i % 3];
    params.absorbance[i] = static_cast<float>(sum);
  }
  return params;
}

namespace {

Created create(const NoOptions&, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const Ssimulacra2Params params, ssimulacra2_params(format));
  return std::unique_ptr<Extractor>(new Ssimulacra2(params, kTwins, kFeatures, placement));
}

}  // namespace

constexpr ExtractorInfo kSsimulacra2Extractor = {
    .name = "ssimulacra2",
    .help = "SSIMULACRA 2.1, from linear light of the whole picture",
    .flags = kHip | kColor,
    .features = kFeatures,
    .options = {},
    .create = with_fields<create>,
};

}  // namespace vmafx
