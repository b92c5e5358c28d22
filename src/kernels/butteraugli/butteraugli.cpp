#include "kernels/butteraugli/butteraugli.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "kernels/metric.h"
#include "kernels/steps/linear_light_of.h"

namespace vmafx {
namespace {

struct ButteraugliScores {
  double distance, norm;
};

constexpr OptionInfo kOptions[] = {
    option<&ButteraugliOptions::norm>("norm", "p", 1, kButteraugliMostNorm,
                                      "exponent of butteraugli_pnorm: higher counts great distances more"),
    option<&ButteraugliOptions::intensity_target>("intensity_target", "it", 0, 10000,
                                                  "light of white in cd/m2, not of PQ video; 0: 80, of HLG video 1000"),
};

constexpr FeatureInfo kFeatures[] = {
    plain_feature("butteraugli", VMAFX_SCORE(ButteraugliScores, distance), Worse::kHigh),
    plain_feature("butteraugli_pnorm", VMAFX_SCORE(ButteraugliScores, norm), Worse::kHigh),
};

// -- The extractor ---------------------------------------------------------------------------------------------------

class Butteraugli : public Metric<ButteraugliParams, ButteraugliRow, ButteraugliScores> {
 public:
  using Metric::Metric;

  Reads reads() const override {
    const unsigned planes = params_.has_chroma ? 7 : 1;
    return {.ref = planes, .dist = planes};
  }
  size_t sums_bytes() const override { return sizeof(ButteraugliRow) * static_cast<size_t>(params_.h); }

 private:
  ButteraugliScores scores(const ButteraugliRow& first) override;
};

ButteraugliScores Butteraugli::scores(const ButteraugliRow& first) {
  ButteraugliRow all = {};
  for (const ButteraugliRow& row : std::span(&first, static_cast<size_t>(params_.h))) {
    all.most = std::max(all.most, row.most);
    for (int i = 0; i < 3; i++) all.powers[i] += row.powers[i];
  }
  const double samples = static_cast<double>(params_.w) * params_.h;
  ButteraugliScores scores = {all.most, 0};
  for (int i = 0; i < 3; i++) scores.norm += std::pow(all.powers[i] / samples, 1 / (params_.norm * (1 << i))) / 3;
  return scores;
}

void run_ref(const ButteraugliParams& params, const FrameSet& frames, std::byte* scratch, ButteraugliRow& rows) {
  butteraugli_ref(params, frames.ref, frames.dist, scratch, &rows);
}

void run_encodes(const ButteraugliParams& params, std::span<const FrameSet> frames, std::byte* scratch,
                 std::span<ButteraugliRow* const> rows) {
  const Picture* dists[kMostEncodes];
  for (size_t i = 0; i < frames.size(); i++) dists[i] = &frames[i].dist;
  butteraugli_simd(params, frames[0].ref, {dists, frames.size()}, scratch, rows);
}

size_t scratch_bytes_of_one(const ButteraugliParams& params) { return butteraugli_scratch_bytes_simd(params, 1); }

constexpr Twins<ButteraugliParams, ButteraugliRow> kTwins = {
    .ref = {butteraugli_scratch_bytes_ref, run_ref},
    .simd = {scratch_bytes_of_one, of_one<run_encodes>, butteraugli_scratch_bytes_simd, run_encodes},
    .device = butteraugli_hip,
};

// -- Parameters ------------------------------------------------------------------------------------------------------

Status named(const Status& status) { return error(EINVAL, "butteraugli: %s", status.message().c_str()); }

/* What cones absorb of linear light of BT.709's primaries. */
constexpr double kCones[3][3] = {{0.29956550340058319, 0.63373087833825936, 0.077705617820981968},
                                 {0.22158691104574774, 0.69391388044116142, 0.0987313588422},
                                 {0.02, 0.02, 0.20480129041026129}};
constexpr double kSdrWhite = 80, kHlgPeak = 1000, kPqPeak = 10000;

/* The light of 1, in cd/m2. */
StatusOr<double> light_of_1(const ButteraugliOptions& options, const VideoFormat& format) {
  const double given = options.intensity_target;
  if (format.color.transfer == kPqTransfer) {
    if (given == 0) return kPqPeak;
    return error(EINVAL, "intensity_target is not for PQ video, whose samples say their light: leave it out");
  }
  if (given > 0) return given;
  return format.color.transfer == kHlgTransfer ? kHlgPeak : kSdrWhite;
}

Created create(const ButteraugliOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const ButteraugliParams params, butteraugli_params(options, format));
  return std::unique_ptr<Extractor>(new Butteraugli(params, kTwins, kFeatures, placement));
}

}  // namespace

StatusOr<ButteraugliParams> butteraugli_params(const ButteraugliOptions& options, const VideoFormat& format) {
  if (format.w < kButteraugliMinSize || format.h < kButteraugliMinSize)
    return error(EINVAL, "butteraugli: %dx%d is too small; it needs pictures of at least %dx%d", format.w, format.h,
                 kButteraugliMinSize, kButteraugliMinSize);
  const auto scale = light_of_1(options, format);
  if (!scale.ok()) return named(scale.status());
  const auto light = linear_light_of(format, scale.value());
  if (!light.ok()) return named(light.status());
  const auto primaries = primaries_to_bt709(format);
  if (!primaries.ok()) return named(primaries.status());
  ButteraugliParams params = {picture_light_of(format, light.value()), {}, options.norm};
  for (int i = 0; i < 9; i++) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += kCones[i / 3][k] * primaries.value()[3 * k + i % 3];
    params.absorbance[i] = static_cast<float>(sum * scale.value());
  }
  return params;
}

constexpr ExtractorInfo kButteraugliExtractor = {
    .name = "butteraugli",
    .help = "Butteraugli's distance and its norm, from linear light of the whole picture",
    .flags = kHip | kColor,
    .features = kFeatures,
    .main_score = "butteraugli",
    .options = kOptions,
    .create = with_fields<create>,
};

}  // namespace vmafx
