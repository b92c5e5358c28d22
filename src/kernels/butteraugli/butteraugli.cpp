#include "kernels/butteraugli/butteraugli.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <vector>

#include "kernels/metric.h"
#include "kernels/steps/gray_file.h"
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
    option<&ButteraugliOptions::version>("version", "v", "which libjxl's program: 0.8 (all since, too) or 0.7"),
    option<&ButteraugliOptions::heatmaps_path>("heatmaps_path", nullptr, "folder for pictures of the distances"),
};

constexpr FeatureInfo kFeatures[] = {
    plain_feature("butteraugli", VMAFX_SCORE(ButteraugliScores, distance), Worse::kHigh),
    plain_feature("butteraugli_pnorm", VMAFX_SCORE(ButteraugliScores, norm), Worse::kHigh),
};

Status named(const Status& status) { return error(status.code(), "butteraugli: %s", status.message().c_str()); }

// -- The extractor ---------------------------------------------------------------------------------------------------

/* What is computed of a frame. */
struct ButteraugliFrame {
  ButteraugliParams params;
  std::unique_ptr<GrayFile> heatmaps;  // or null
};

class Butteraugli : public Metric<ButteraugliFrame, ButteraugliRow, ButteraugliScores> {
 public:
  using Metric::Metric;

  Reads reads() const override {
    const unsigned planes = params_.params.has_chroma ? 7 : 1;
    return {.ref = planes,
            .dist = planes,
            .whole_chroma = true,
            .reach = {.whole_stream = params_.heatmaps ? "heatmaps_path" : nullptr}};
  }
  size_t sums_bytes() const override { return sizeof(ButteraugliRow) * static_cast<size_t>(params_.params.h); }
  Status flush(ScoreSink&) override {
    const Status closed = params_.heatmaps ? params_.heatmaps->close() : Status();
    return closed.ok() ? closed : named(closed);
  }

 private:
  ButteraugliScores scores(const ButteraugliRow& first) override;
};

ButteraugliScores Butteraugli::scores(const ButteraugliRow& first) {
  const ButteraugliParams& params = params_.params;
  ButteraugliRow all = {};
  for (const ButteraugliRow& row : std::span(&first, static_cast<size_t>(params.h))) {
    all.most = std::max(all.most, row.most);
    for (int i = 0; i < 3; i++) all.powers[i] += row.powers[i];
  }
  const double samples = static_cast<double>(params.w) * params.h;
  ButteraugliScores scores = {all.most, 0};
  for (int i = 0; i < 3; i++) scores.norm += std::pow(all.powers[i] / samples, 1 / (params.norm * (1 << i))) / 3;
  return scores;
}

/* Thousandths of a distance, as far as they go. */
void put_row(GrayFile& file, int64_t frame, int y, std::span<const float> distances) {
  std::vector<uint16_t> samples;
  for (const float distance : distances)
    samples.push_back(static_cast<uint16_t>(std::min(std::lround(static_cast<double>(distance) * 1000), 65535L)));
  file.put(frame, y, samples);
}

ButteraugliRowSink sink_of(const ButteraugliFrame& frame, int64_t index) {
  if (!frame.heatmaps) return {};
  return [file = frame.heatmaps.get(), index](int y, std::span<const float> distances) {
    put_row(*file, index, y, distances);
  };
}

void run_plain(const ButteraugliFrame& frame, const FrameSet& frames, std::byte* scratch, ButteraugliRow& rows) {
  butteraugli_plain(frame.params, frames.ref, frames.dist, scratch, &rows, sink_of(frame, frames.index));
}

void run_encodes(const ButteraugliFrame& frame, std::span<const FrameSet> frames, std::byte* scratch,
                 std::span<ButteraugliRow* const> rows) {
  const Picture* dists[kMostEncodes];
  for (size_t i = 0; i < frames.size(); i++) dists[i] = &frames[i].dist;
  butteraugli_simd(frame.params, frames[0].ref, {dists, frames.size()}, scratch, rows, sink_of(frame, frames[0].index));
}

size_t scratch_bytes_plain(const ButteraugliFrame& frame) { return butteraugli_scratch_bytes_plain(frame.params); }
size_t scratch_bytes_simd(const ButteraugliFrame& frame, int encodes) {
  return butteraugli_scratch_bytes_simd(frame.params, encodes);
}
size_t scratch_bytes_of_one(const ButteraugliFrame& frame) { return scratch_bytes_simd(frame, 1); }

constexpr Twins<ButteraugliFrame, ButteraugliRow> kTwins = {
    .plain = {scratch_bytes_plain, run_plain},
    .simd = {scratch_bytes_of_one, of_one<run_encodes>, scratch_bytes_simd, run_encodes},
    .device = [](const ButteraugliFrame& frame) { return butteraugli_hip(frame.params); },
};

// -- Parameters ------------------------------------------------------------------------------------------------------

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

StatusOr<ButteraugliVersion> version_of(std::string_view name) {
  if (name == "0.8") return ButteraugliVersion::k08;
  if (name == "0.7") return ButteraugliVersion::k07;
  return error(EINVAL, "butteraugli: version '%.*s' is not known: use 0.8, which libjxl 0.8 to 0.12 have, or 0.7",
               static_cast<int>(name.size()), name.data());
}

Created create(const ButteraugliOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const ButteraugliParams params, butteraugli_params(options, format));
  std::unique_ptr<GrayFile> heatmaps;
  if (!options.heatmaps_path.empty()) {
    VMAFX_ASSIGN(heatmaps, GrayFile::create(options.heatmaps_path, "butteraugli_heatmap", format.w, format.h));
  }
  return std::unique_ptr<Extractor>(new Butteraugli({params, std::move(heatmaps)}, kTwins, kFeatures, placement));
}

Status fits_device(const Options& options, const VideoFormat&) {
  if (options.fields<ButteraugliOptions>().heatmaps_path.empty()) return {};
  return error(ENOTSUP, "no kernel writes heatmaps");
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
  VMAFX_ASSIGN(const ButteraugliVersion version, version_of(options.version));
  ButteraugliParams params = {picture_light_of(format, light.value()), {}, options.norm, version};
  for (int i = 0; i < 9; i++) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += kCones[i / 3][k] * primaries.value()[3 * k + i % 3];
    params.absorbance[i] = static_cast<float>(sum * scale.value());
  }
  return params;
}

constexpr ExtractorInfo kButteraugliExtractor = {
    .name = "butteraugli",
    .measures = "difference",
    .help = "Butteraugli's distance and its norm, from linear light of the whole picture",
    .flags = kHip | kColor | kWholeChroma,
    .features = kFeatures,
    .main_score = "butteraugli",
    .options = kOptions,
    .create = with_fields<create>,
    .fits_device = fits_device,
};

}  // namespace vmafx
