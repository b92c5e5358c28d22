#include "kernels/butteraugli/butteraugli.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <vector>

#include "kernels/butteraugli/butteraugli_params.h"
#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"
#include "kernels/steps/gray_file.h"

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
    read_alone(plain_feature("butteraugli", VMAFX_SCORE(ButteraugliScores, distance), Worse::kHigh)),
    plain_feature("butteraugli_pnorm", VMAFX_SCORE(ButteraugliScores, norm), Worse::kHigh),
};

// -- The extractor ---------------------------------------------------------------------------------------------------

/* The parameters of a frame's map of distances. */
struct ButteraugliFrame {
  ButteraugliParams params;
  std::unique_ptr<GrayFile> heatmaps;  // or null
};

Reads reads_of(const ButteraugliParams& params) {
  const unsigned planes = params.has_chroma ? 7 : 1;
  return {.ref = planes, .dist = planes, .whole_chroma = true};
}

class Butteraugli : public Metric<ButteraugliFrame, ButteraugliRow, ButteraugliScores> {
 public:
  using Metric::Metric;

  Reads reads() const override { return reads_of(params_.params); }
  size_t sums_bytes() const override { return sizeof(ButteraugliRow) * static_cast<size_t>(params_.params.h); }

 private:
  Status close_output() const override {
    const Status closed = params_.heatmaps ? params_.heatmaps->close() : Status();
    return closed.ok() ? closed : error(closed.code(), "butteraugli: %s", closed.message().c_str());
  }
  ButteraugliScores scores(const ButteraugliRow& first) const override;
};

/* The sums of all rows. */
ButteraugliRow all_rows(const ButteraugliParams& params, const ButteraugliRow* rows) {
  ButteraugliRow all = {};
  for (const ButteraugliRow& row : std::span(rows, static_cast<size_t>(params.h))) {
    all.most = std::max(all.most, row.most);
    for (int i = 0; i < 3; i++) all.powers[i] += row.powers[i];
  }
  return all;
}

/* A third of the i-th norm. */
double third_of_norm(const ButteraugliParams& params, const ButteraugliRow& all, int i) {
  const double samples = static_cast<double>(params.w) * params.h;
  return std::pow(all.powers[i] / samples, 1 / (params.norm * (1 << i))) / 3;
}

ButteraugliScores Butteraugli::scores(const ButteraugliRow& first) const {
  const ButteraugliRow all = all_rows(params_.params, &first);
  ButteraugliScores scores = {all.most, 0};
  for (int i = 0; i < 3; i++) scores.norm += third_of_norm(params_.params, all, i);
  return scores;
}

/* Thousandths of a distance, as far as they go. */
void put_row(GrayFile& file, int64_t frame, int y, std::span<const float> distances) {
  std::vector<uint16_t> samples;
  for (const float distance : distances)
    samples.push_back(static_cast<uint16_t>(std::min(std::lround(static_cast<double>(distance) * 1000), 65535L)));
  file.put(frame, y, samples);
}

ButteraugliRowSink sink_of(const ButteraugliFrame& frame, int64_t place) {
  if (!frame.heatmaps) return {};
  return [file = frame.heatmaps.get(), place](int y, std::span<const float> distances) {
    put_row(*file, place, y, distances);
  };
}

void run_plain(const ButteraugliFrame& frame, const FrameSet& frames, std::byte* scratch, ButteraugliRow& rows) {
  butteraugli_plain(frame.params, frames.ref, frames.dist, scratch, &rows, sink_of(frame, frames.place));
}

void run_encodes(const ButteraugliFrame& frame, std::span<const FrameSet> frames, std::byte* scratch,
                 std::span<ButteraugliRow* const> rows) {
  const Picture* dists[kMostEncodes];
  for (size_t i = 0; i < frames.size(); i++) dists[i] = &frames[i].dist;
  butteraugli_simd(frame.params, frames[0].ref, {dists, frames.size()}, scratch, rows, sink_of(frame, frames[0].place));
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

// -- Creation --------------------------------------------------------------------------------------------------------

Created create(const ButteraugliOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const ButteraugliParams params, butteraugli_params(options, format));
  std::unique_ptr<GrayFile> heatmaps;
  if (!options.heatmaps_path.empty()) {
    VMAFX_ASSIGN(heatmaps,
                 GrayFile::create(kHeatMaps, options.heatmaps_path, "butteraugli_heatmap", format.w, format.h));
  }
  return std::unique_ptr<Extractor>(new Butteraugli({params, std::move(heatmaps)}, kTwins, kFeatures, placement));
}

// -- Maps: the greatest distance of each block, and what it adds to butteraugli_pnorm ---------------------------------

/* Raw sums: those of all rows, then those of the blocks. */
class ButteraugliMapping final : public MappingExtractor {
 public:
  ButteraugliMapping(const ButteraugliParams& params, Reads reads, Placement placement)
      : MappingExtractor(reads, {map_of("butteraugli", params), map_of("butteraugli_pnorm", params)}), params_(params),
        device_twin_(placement == Placement::kDevice ? butteraugli_mapped_hip(params).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }
  size_t sums_bytes() const override {
    return sizeof(ButteraugliRow) * (static_cast<size_t>(params_.h) + grid().blocks());
  }
  size_t scratch_bytes() const override {
    return use_plain_cpu() ? butteraugli_scratch_bytes_plain(params_) : butteraugli_scratch_bytes_simd(params_, 1);
  }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override;
  void read_map(const void* sums, size_t map, std::span<double> values) const override;

 private:
  static MapInfo map_of(const char* name, const ButteraugliParams& params) {
    const BlockGrid grid = butteraugli_blocks(params);
    return {name, "distance", grid.w, grid.h, grid.side, grid.side};
  }
  BlockGrid grid() const { return butteraugli_blocks(params_); }

  const ButteraugliParams params_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

void ButteraugliMapping::extract(const FrameSet& frames, std::byte* scratch, void* sums) const {
  auto* const rows = static_cast<ButteraugliRow*>(sums);
  const ButteraugliRowSink add = [&](int y, std::span<const float> distances) {
    butteraugli_add_to_blocks(params_, y, distances, grid(), rows + params_.h);
  };
  if (use_plain_cpu()) return butteraugli_plain(params_, frames.ref, frames.dist, scratch, rows, add);
  const Picture* const dist = &frames.dist;
  butteraugli_simd(params_, frames.ref, {&dist, 1}, scratch, {&rows, 1}, add);
}

/* A block's share of a norm is that of the powers. */
void ButteraugliMapping::read_map(const void* sums, size_t map, std::span<double> values) const {
  const auto* const rows = static_cast<const ButteraugliRow*>(sums);
  const ButteraugliRow all = all_rows(params_, rows);
  double per_power[3];
  for (int i = 0; i < 3; i++) per_power[i] = all.powers[i] > 0 ? third_of_norm(params_, all, i) / all.powers[i] : 0;
  for (size_t n = 0; n < values.size(); n++) {
    const ButteraugliRow& block = rows[static_cast<size_t>(params_.h) + n];
    values[n] = map == 0 ? block.most : 0;
    for (int i = 0; map == 1 && i < 3; i++) values[n] += per_power[i] * block.powers[i];
  }
}

Created create_mapping(const ButteraugliOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const ButteraugliParams params, butteraugli_params(options, format));
  return std::unique_ptr<Extractor>(new ButteraugliMapping(params, reads_of(params), placement));
}

Status fits_device(const Options& options, const VideoFormat&) {
  if (options.fields<ButteraugliOptions>().heatmaps_path.empty()) return {};
  return error(ENOTSUP, "no kernel writes heatmaps");
}

}  // namespace

constexpr ExtractorInfo kButteraugliExtractor = {
    .name = "butteraugli",
    .measures = "difference",
    .help = "Butteraugli's distance and its norm, from linear light of the whole picture",
    .range = "from 0 up; about 1 is just visible",
    .flags = kHip | kColor | kWholeChroma | kMaps,
    .features = kFeatures,
    .main_score = "butteraugli",
    .options = kOptions,
    .create = with_fields<create>,
    .create_mapping = with_fields<create_mapping>,
    .fits_device = fits_device,
};

}  // namespace vmafx
