/* xpsnr: options, features, scores. */
#include "kernels/xpsnr/xpsnr.h"

#include <algorithm>
#include <cmath>

#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

/* Samples in all of a UHD picture, which is what blocks and weights are scaled by. */
constexpr double kUhdSamples = 3840.0 * 2160.0;
constexpr double kMostHdSamples = 2048 * 1152, kMostSmoothed = 640 * 480;

double luma_samples(const VideoFormat& format) { return static_cast<double>(format.w) * format.h; }

int block_size(const VideoFormat& format) {
  return 4 * static_cast<int>(std::floor(32 * std::sqrt(luma_samples(format) / kUhdSamples) + 0.5));
}

}  // namespace

XpsnrGrid xpsnr_grid(const VideoFormat& format, int planes) {
  const int size = block_size(format);
  XpsnrGrid grid;
  grid.has_activity = size > 0;
  grid.coarse = luma_samples(format) > kMostHdSamples;
  if (size) {
    grid.columns = static_cast<int32_t>(hip::blocks_for(format.w, size));
    grid.rows = static_cast<int32_t>(hip::blocks_for(format.h, size));
  }
  for (int p = 0; p < planes; p++) {
    XpsnrGrid::Plane& plane = grid.planes[p];
    plane = {format.plane_w(p), format.plane_h(p), format.plane_w(p), format.plane_h(p)};
    if (!size) continue;
    plane.block_w = p && format.chroma != Chroma::k444 ? size / 2 : size;
    plane.block_h = p && format.chroma == Chroma::k420 ? size / 2 : size;
  }
  return grid;
}

namespace {

/* -- Twins --------------------------------------------------------------------------------------------------------- */

XpsnrReference reference_of(const XpsnrParams& params, const FrameSet& frames) {
  const SamplePlane &now = frames.ref.plane[0], &before = frames.earlier_ref[0].plane[0],
                    &earlier = frames.earlier_ref[1].plane[0];
  return {now, before.data ? before : now, earlier.data ? earlier : now,
          xpsnr_time_weights(params.second_order, before.data, earlier.data)};
}

/* Block by block, which then stays in the cache. */
template <auto activity, auto sse>
void run_encodes(const XpsnrParams& params, std::span<const FrameSet> frames, std::byte*,
                 std::span<XpsnrBlock* const> sums) {
  const XpsnrGrid& grid = params.grid;
  const XpsnrReference ref = reference_of(params, frames[0]);
  for (int n = 0; n < grid.blocks(); n++) {
    const int column = n % grid.columns, row = n / grid.columns;
    const XpsnrArea luma = grid.block(0, column, row);
    XpsnrActivity of_ref = {};
    if (xpsnr_has_activity(grid, luma)) of_ref = activity(params, ref, luma);
    for (size_t i = 0; i < frames.size(); i++) {
      XpsnrBlock& block = sums[i][n];
      block.spatial = of_ref.spatial;
      block.temporal = of_ref.temporal;
      for (int p = 0; p < params.planes; p++)
        block.sse[p] =
            sse(frames[i].ref.plane[p], frames[i].dist.plane[p], grid.block(p, column, row), params.format.bpc);
    }
  }
}

size_t no_scratch(const XpsnrParams&, int) { return 0; }

template <auto run>
constexpr CpuTwin<XpsnrParams, XpsnrBlock> twin_of = {nullptr, of_one<run>, no_scratch, run};

constexpr Twins<XpsnrParams, XpsnrBlock> kTwins = {
    .plain = twin_of<run_encodes<xpsnr_activity_plain, xpsnr_sse_plain>>,
    .simd = twin_of<run_encodes<xpsnr_activity_simd, xpsnr_sse_simd>>,
    .device = xpsnr_hip,
};

/* -- Options and features ------------------------------------------------------------------------------------------ */

struct XpsnrOptions {
  bool enable_chroma = true, enable_axpsnr = true;
  double fps = 0;
};

constexpr OptionInfo kOptions[] = {
    option<&XpsnrOptions::enable_chroma>("enable_chroma", nullptr, "score the chroma planes too"),
    adding(option<&XpsnrOptions::enable_axpsnr>("enable_axpsnr", nullptr, "provide the XPSNR of the whole stream too")),
    option<&XpsnrOptions::fps>("fps", "fps", 0, 100000,
                               "frames per second; 0: those of the reference, if it says them"),
};

struct XpsnrScores {
  double xpsnr;  // the least of the planes
  double plane[3];
  double root[3];  // √wsse of each plane, for the scores of the stream
};

constexpr FeatureInfo kFeatures[] = {
    of_regions(in_unit("dB", plain_feature("xpsnr_y", VMAFX_SCORE(XpsnrScores, plane[0])))),
    of_regions(in_unit("dB", plain_feature("xpsnr_cb", VMAFX_SCORE(XpsnrScores, plane[1])))),
    of_regions(in_unit("dB", plain_feature("xpsnr_cr", VMAFX_SCORE(XpsnrScores, plane[2])))),
    of_regions(read_alone(in_unit("dB", plain_feature("xpsnr", VMAFX_SCORE(XpsnrScores, xpsnr))))),
};
constexpr const char* kStreamKeys[] = {"axpsnr", "axpsnr_y", "axpsnr_cb",
                                       "axpsnr_cr"};  // the least of the planes, then each

std::vector<FeatureInfo> provided(int planes) {
  std::vector<FeatureInfo> features(std::begin(kFeatures), std::end(kFeatures));
  features.erase(features.begin() + planes, features.begin() + 3);
  return features;
}

/* -- Weights ------------------------------------------------------------------------------------------------------- */

double samples_of(const XpsnrArea& area) {
  return static_cast<double>(area.x1 - area.x0) * static_cast<double>(area.y1 - area.y0);
}

double weight_of(const XpsnrParams& params, const XpsnrArea& block, const XpsnrBlock& sums) {
  const XpsnrGrid& grid = params.grid;
  if (!xpsnr_has_activity(grid, block)) return 1;
  const double spatial = static_cast<double>(sums.spatial) / samples_of(grid.inner(block));
  const double temporal = static_cast<double>(2 * sums.temporal) / samples_of(block);
  return 1 / std::max(spatial + temporal, static_cast<double>(1 << (params.format.bpc - 6)));
}

/* Each weight, row by row, is at most the largest of those of its neighbors on the left, above, which were smoothed
 * before, and on the right. The picture's last one stays where there is one row only. */
void smooth(const XpsnrGrid& grid, std::span<double> weights) {
  for (int n = 0; n < grid.blocks(); n++) {
    const int column = n % grid.columns;
    const bool is_last = n == grid.blocks() - 1;
    double most = 0;
    if (column > 0) most = std::max(most, weights[n - 1]);
    if (column < grid.columns - 1) most = std::max(most, weights[n + 1]);
    if (n >= grid.columns) most = std::max(most, weights[n - grid.columns]);
    if (most > 0 && !(is_last && grid.rows == 1)) weights[n] = std::min(weights[n], most);
  }
}

/* -- Scores -------------------------------------------------------------------------------------------------------- */

/* If the mean of the roots is below 1, some frame's is 0: it is without errors. */
double stream_value(const StreamSums& plane) {
  if (plane.whole < plane.frames) return HUGE_VAL;
  const double mean = plane.sum() / static_cast<double>(plane.frames);
  const double peak = static_cast<double>(plane.peak);
  return 10 * std::log10(static_cast<double>(plane.samples) * (peak * peak) / (mean * mean));
}

class Xpsnr : public Metric<XpsnrParams, XpsnrBlock, XpsnrScores> {
 public:
  Xpsnr(const XpsnrOptions& options, const XpsnrParams& params, Placement placement)
      : Metric(params, kTwins, provided(params.planes), placement), of_stream_(options.enable_axpsnr) {
    constexpr const char* kNames[] = {"xpsnr_y", "xpsnr_cb", "xpsnr_cr"};
    const XpsnrGrid& grid = params.grid;
    for (int p = 0; p < params.planes; p++)
      maps_.push_back({kNames[p], "weighted squared error", grid.columns, grid.rows, grid.planes[0].block_w,
                       grid.planes[0].block_h});
  }

  Reads reads() const override {
    const unsigned planes = (1u << params_.planes) - 1;
    const int before = params_.grid.has_activity ? 1 + params_.second_order : 0;
    return {.ref = planes,
            .dist = planes,
            .history = before,
            .every_frame = before > 0 || of_stream_,
            .whole_chroma = true,
            .reach = {.before = before}};
  }
  size_t sums_bytes() const override { return blocks() * sizeof(XpsnrBlock); }
  std::span<const MapInfo> maps() const override { return maps_; }
  void read_map(const void* sums, size_t map, std::span<double> values) const override;
  double score_region(const void* sums, ScoreId score, BlockShares shares) const override;

  std::unique_ptr<StreamScorer> make_scorer() const override { return std::make_unique<Stream>(*this); }
  std::span<const char* const> aggregates() const override {
    return std::span(kStreamKeys).first(of_stream_ ? 1 + static_cast<size_t>(params_.planes) : 0);
  }

 private:
  /* Adds up the stream so far. */
  class Stream final : public FrameScorer {
   public:
    explicit Stream(const Xpsnr& xpsnr);
    Status flush(ScoreSink& sink) override;

   private:
    void add(const XpsnrBlock&, const XpsnrScores& scores) override;

    const Xpsnr& xpsnr_;
    std::vector<StreamSums> planes_;
  };

  size_t blocks() const { return static_cast<size_t>(params_.grid.blocks()); }
  XpsnrScores scores(const XpsnrBlock& first) const override;
  std::vector<double> weights(std::span<const XpsnrBlock> blocks) const;
  double of_picture() const;
  double wsse(std::span<const XpsnrBlock> blocks, std::span<const double> weights, int p) const;
  StreamSums no_frames(int p) const;

  const bool of_stream_;
  std::vector<MapInfo> maps_;
};

/* None where pictures are too small to have activity. */
std::vector<double> Xpsnr::weights(std::span<const XpsnrBlock> blocks) const {
  const XpsnrGrid& grid = params_.grid;
  if (!grid.has_activity) return {};
  std::vector<double> weights(blocks.size());
  for (int n = 0; n < grid.blocks(); n++)
    weights[n] = weight_of(params_, grid.block(0, n % grid.columns, n / grid.columns), blocks[n]);
  if (luma_samples(params_.format) <= kMostSmoothed) smooth(grid, weights);
  return weights;
}

/* The factor of the picture's size and depth, a in xpsnr.h. */
double Xpsnr::of_picture() const {
  const double ratio = luma_samples(params_.format) / kUhdSamples;
  return std::sqrt(16.0 * (1 << (2 * params_.format.bpc - 9)) / std::sqrt(std::max(0.00001, ratio)));
}

/* The order of the operations is that of FFmpeg's filter. */
double Xpsnr::wsse(std::span<const XpsnrBlock> blocks, std::span<const double> weights, int p) const {
  if (!params_.grid.has_activity) return static_cast<double>(blocks[0].sse[p]);
  double sum = 0;
  for (size_t n = 0; n < blocks.size(); n++) sum += static_cast<double>(blocks[n].sse[p]) * weights[n];
  return std::floor(sum * of_picture() + 0.5);
}

/* The weighted errors before wsse() rounds their sum to a whole number. */
void Xpsnr::read_map(const void* sums, size_t p, std::span<double> values) const {
  const std::span<const XpsnrBlock> of_frame(static_cast<const XpsnrBlock*>(sums), blocks());
  const std::vector<double> of_blocks = weights(of_frame);
  for (size_t n = 0; n < values.size(); n++)
    values[n] = static_cast<double>(of_frame[n].sse[p]) * (of_blocks.empty() ? 1 : of_blocks[n] * of_picture());
}

/* Blocks have the weights of the whole picture. The sum is not rounded. */
double Xpsnr::score_region(const void* sums, ScoreId score, BlockShares shares) const {
  const XpsnrGrid& grid = params_.grid;
  double least = kNothingThere;
  for (size_t p = 0; p < maps_.size(); p++) {
    std::vector<double> errors(blocks());
    read_map(sums, p, errors);
    RegionSums of_region;
    for (size_t n = 0; n < errors.size(); n++) {
      const int block = static_cast<int>(n);
      const XpsnrArea area = grid.block(static_cast<int>(p), block % grid.columns, block / grid.columns);
      if (!area.is_empty()) of_region.add(shares[p][n], errors[n], samples_of(area));
    }
    const double peak = (1 << params_.format.bpc) - 1;
    const double of_plane = 10 * std::log10(peak * peak / of_region.mean());
    if (score == kFeatures[p].score) return of_plane;
    if (!(least <= of_plane)) least = of_plane;
  }
  return least;
}

StreamSums Xpsnr::no_frames(int p) const {
  const VideoFormat& format = params_.format;
  return {.plane = p,
          .samples = static_cast<uint64_t>(format.plane_w(p)) * static_cast<uint64_t>(format.plane_h(p)),
          .peak = (uint64_t{1} << format.bpc) - 1};
}

XpsnrScores Xpsnr::scores(const XpsnrBlock& first) const {
  const std::span<const XpsnrBlock> of_frame(&first, blocks());
  const std::vector<double> of_blocks = weights(of_frame);
  constexpr double kInfinite = HUGE_VAL;
  XpsnrScores scores = {kInfinite, {kInfinite, kInfinite, kInfinite}, {}};
  for (int p = 0; p < params_.planes; p++) {
    scores.root[p] = std::sqrt(wsse(of_frame, of_blocks, p));
    StreamSums frame = no_frames(p);
    frame.add_root(scores.root[p]);
    scores.plane[p] = stream_value(frame);
    scores.xpsnr = std::min(scores.xpsnr, scores.plane[p]);
  }
  return scores;
}

Xpsnr::Stream::Stream(const Xpsnr& xpsnr) : FrameScorer(xpsnr), xpsnr_(xpsnr) {
  for (int p = 0; p < xpsnr.params_.planes; p++) planes_.push_back(xpsnr.no_frames(p));
}

void Xpsnr::Stream::add(const XpsnrBlock&, const XpsnrScores& scores) {
  for (StreamSums& plane : planes_) plane.add_root(scores.root[plane.plane]);
}

Status Xpsnr::Stream::flush(ScoreSink& sink) {
  if (!xpsnr_.of_stream_ || !planes_[0].frames) return {};
  for (const StreamSums& plane : planes_) sink.put_aggregate(kStreamKeys[1 + plane.plane], {&plane, 1});
  sink.put_aggregate(kStreamKeys[0], planes_);
  return {};
}

constexpr double kFastFps = 32;  // from which on the difference in time is that of three pictures

Created create(const XpsnrOptions& options, const VideoFormat& format, Placement placement) {
  const bool with_chroma = options.enable_chroma && format.plane_w(1) > 0 && format.plane_h(1) > 0;
  const int planes = with_chroma ? format.planes() : 1;
  const double fps = options.fps > 0 ? options.fps : format.fps;
  const XpsnrParams params = {format, xpsnr_grid(format, planes), planes, fps >= kFastFps};
  return std::unique_ptr<Extractor>(new Xpsnr(options, params, placement));
}

}  // namespace

constexpr ExtractorInfo kXpsnrExtractor = {
    .name = "xpsnr",
    .measures = "fidelity",
    .help = "extended perceptually weighted PSNR (XPSNR) of every plane",
    .range = "from 0 up; infinite for equal pictures",
    .flags = kHip | kFps | kWholeChroma | kMaps,
    .features = kFeatures,
    .main_score = "xpsnr",
    .options = kOptions,
    .create = with_fields<create>,
    .stream_value = stream_value,
};

}  // namespace vmafx
