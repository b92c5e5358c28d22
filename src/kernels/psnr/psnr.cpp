#include "kernels/psnr/psnr.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

template <auto sse>
void run(const PsnrParams& params, const FrameSet& frames, std::byte*, PsnrSums& sums) {
  for (int p = 0; p < params.planes; p++)
    sums.sse[p] = sse(frames.ref.plane[p], frames.dist.plane[p], params.format.bpc);
}

constexpr Twins<PsnrParams, PsnrSums> kTwins = {
    .plain = {nullptr, run<psnr_sse_plain>},
    .simd = {nullptr, run<psnr_sse_simd>},
    .device = psnr_hip,
};

/* -- psnr ---------------------------------------------------------------------------------------------------------- */

struct PsnrOptions {
  bool enable_chroma = true, enable_mse = false, enable_apsnr = false, reduced_hbd_peak = false;
  double min_sse = 0;
};

constexpr OptionInfo kOptions[] = {
    adding(option<&PsnrOptions::enable_chroma>("enable_chroma", nullptr, "score the chroma planes too")),
    adding(option<&PsnrOptions::enable_mse>("enable_mse", nullptr, "provide the mean squared error too")),
    adding(option<&PsnrOptions::enable_apsnr>("enable_apsnr", nullptr, "provide the PSNR of the whole stream too")),
    option<&PsnrOptions::reduced_hbd_peak>("reduced_hbd_peak", nullptr,
                                           "scale the peak of high bit depths to that of 8 bit"),
    option<&PsnrOptions::min_sse>("min_sse", nullptr, 0, std::numeric_limits<double>::max(),
                                  "sum of squared errors that sets the highest score"),
};

struct PsnrScores {
  double psnr[3], mse[3];
};

constexpr FeatureInfo kFeatures[] = {
    of_regions(read_alone(in_unit("dB", plain_feature("psnr_y", VMAFX_SCORE(PsnrScores, psnr[0]))))),
    of_regions(plain_feature("mse_y", VMAFX_SCORE(PsnrScores, mse[0]), Worse::kHigh)),
    of_regions(in_unit("dB", plain_feature("psnr_cb", VMAFX_SCORE(PsnrScores, psnr[1])))),
    of_regions(plain_feature("mse_cb", VMAFX_SCORE(PsnrScores, mse[1]), Worse::kHigh)),
    of_regions(in_unit("dB", plain_feature("psnr_cr", VMAFX_SCORE(PsnrScores, psnr[2])))),
    of_regions(plain_feature("mse_cr", VMAFX_SCORE(PsnrScores, mse[2]), Worse::kHigh)),
};
constexpr const char* kStreamKeys[] = {"apsnr_y", "apsnr_cb", "apsnr_cr"};

/* The features of the planes that exist, with or without mse. */
std::vector<FeatureInfo> provided(int planes, bool with_mse) {
  std::vector<FeatureInfo> features;
  for (int p = 0; p < planes; p++) {
    features.push_back(kFeatures[2 * p]);
    if (with_mse) features.push_back(kFeatures[2 * p + 1]);
  }
  return features;
}

int peak_of(const PsnrOptions& options, int bpc) {
  return options.reduced_hbd_peak ? 255 << (bpc - 8) : (1 << bpc) - 1;
}

/* The order of the operations is libvmaf's, as in scores() and limit() below: its scores are met to the bit. */
double stream_value(const StreamSums& plane) {
  const double peak = static_cast<double>(plane.peak), peak_squared = peak * peak;
  const double count = static_cast<double>(plane.frames) * static_cast<double>(plane.samples);
  const double limit = std::ceil(10 * std::log10(peak_squared * count * 2));
  return std::min(10 * (std::log10(peak_squared) + std::log10(count) - std::log10(plane.sum())), limit);
}

constexpr int kBlockSide = 16;  // of maps, samples of a plane

/* The squared errors of a region, in sums with maps: PsnrSums, then the blocks' of each plane. */
RegionSums errors_of(const PsnrParams& params, const void* sums, size_t plane, std::span<const double> shares) {
  const auto* block = reinterpret_cast<const uint64_t*>(static_cast<const PsnrSums*>(sums) + 1);
  const auto grid = [&](int p) { return block_grid(params.format.plane_w(p), params.format.plane_h(p), kBlockSide); };
  const int p = static_cast<int>(plane);
  block += blocks_before(p, grid);
  return sum_region(grid(p), params.format.plane_w(p), params.format.plane_h(p), shares,
                    [block](size_t n) { return static_cast<double>(block[n]); });
}

class Psnr : public Metric<PsnrParams, PsnrSums, PsnrScores> {
 public:
  Psnr(const PsnrOptions& options, const PsnrParams& params, Placement placement)
      : Metric(params, kTwins, provided(params.planes, options.enable_mse), placement), options_(options),
        peak_(peak_of(options, params.format.bpc)), peak_squared_(static_cast<double>(peak_) * peak_) {}

  Reads reads() const override {
    const unsigned planes = (1u << params_.planes) - 1;
    return {.ref = planes, .dist = planes, .history = 0, .every_frame = options_.enable_apsnr};
  }

  std::unique_ptr<StreamScorer> make_scorer() const override { return std::make_unique<Stream>(*this); }
  double score_region(const void* sums, ScoreId score, BlockShares shares) const override;
  std::span<const char* const> aggregates() const override {
    return std::span(kStreamKeys).first(options_.enable_apsnr ? static_cast<size_t>(params_.planes) : 0);
  }

 private:
  /* Adds up the stream so far. */
  class Stream final : public FrameScorer {
   public:
    explicit Stream(const Psnr& psnr);
    Status flush(ScoreSink& sink) override;

   private:
    void add(const PsnrSums& sums, const PsnrScores&) override;

    const Psnr& psnr_;
    std::vector<StreamSums> planes_;
  };

  PsnrScores scores(const PsnrSums& sums) const override;

  /* Libvmaf counts the samples of a plane in 32 bits. */
  uint32_t samples(int p) const {
    return static_cast<uint32_t>(params_.format.plane_w(p)) * static_cast<uint32_t>(params_.format.plane_h(p));
  }
  double limit(double samples) const;                // dB
  double psnr_of(double mse, double samples) const;  // dB

  const PsnrOptions options_;
  const int peak_;
  const double peak_squared_;
};

double Psnr::limit(double samples) const {
  if (options_.min_sse == 0.0) return 6 * params_.format.bpc + 12;
  return std::ceil(10. * std::log10(peak_squared_ / (options_.min_sse / samples)));
}

double Psnr::psnr_of(double mse, double samples) const {
  return std::min(10. * std::log10(peak_squared_ / std::max(mse, 1e-16)), limit(samples));
}

PsnrScores Psnr::scores(const PsnrSums& sums) const {
  PsnrScores scores = {};
  for (int p = 0; p < params_.planes; p++) {
    scores.mse[p] = static_cast<double>(sums.sse[p]) / samples(p);
    scores.psnr[p] = psnr_of(scores.mse[p], samples(p));
  }
  return scores;
}

double Psnr::score_region(const void* sums, ScoreId score, BlockShares shares) const {
  for (size_t p = 0; p < shares.size(); p++) {
    const RegionSums errors = errors_of(params_, sums, p, shares[p]);
    if (!errors.cells) continue;
    if (score == kFeatures[2 * p].score) return psnr_of(errors.mean(), errors.cells);
    if (score == kFeatures[2 * p + 1].score) return errors.mean();
  }
  return kNothingThere;
}

Psnr::Stream::Stream(const Psnr& psnr) : FrameScorer(psnr), psnr_(psnr) {
  for (int p = 0; p < psnr.params_.planes; p++)
    planes_.push_back({.plane = p, .samples = psnr.samples(p), .peak = static_cast<uint64_t>(psnr.peak_)});
}

void Psnr::Stream::add(const PsnrSums& sums, const PsnrScores&) {
  for (StreamSums& plane : planes_) plane.add(static_cast<uint64_t>(sums.sse[plane.plane]));
}

Status Psnr::Stream::flush(ScoreSink& sink) {
  if (!psnr_.options_.enable_apsnr) return {};
  for (const StreamSums& plane : planes_)
    if (plane.frames) sink.put_aggregate(kStreamKeys[plane.plane], {&plane, 1});
  return {};
}

PsnrParams params_of(const PsnrOptions& options, const VideoFormat& format) {
  const bool with_chroma = options.enable_chroma && format.plane_w(1) > 0 && format.plane_h(1) > 0;
  return {format, with_chroma ? format.planes() : 1};
}

Created create(const PsnrOptions& options, const VideoFormat& format, Placement placement) {
  return std::unique_ptr<Extractor>(new Psnr(options, params_of(options, format), placement));
}

/* -- Maps: the sum of squared errors of each block ----------------------------------------------------------------- */

std::vector<MapInfo> maps_of(std::span<const char* const> names, const PsnrParams& params) {
  std::vector<MapInfo> maps;
  for (int p = 0; p < params.planes; p++) {
    const VideoFormat& format = params.format;
    const BlockGrid grid = psnr_blocks(format, p);
    const int across = p && format.chroma != Chroma::k444 ? 2 : 1, down = p && format.chroma == Chroma::k420 ? 2 : 1;
    maps.push_back(
        {names[static_cast<size_t>(p)], "squared error", grid.w, grid.h, grid.side * across, grid.side * down});
  }
  return maps;
}

/* Raw sums: PsnrSums, then the blocks' of each plane. */
class PsnrMapping final : public MappingExtractor {
 public:
  PsnrMapping(const PsnrParams& params, Reads reads, std::span<const char* const> names, Placement placement)
      : MappingExtractor(reads, maps_of(names, params)), params_(params),
        device_twin_(placement == Placement::kDevice ? psnr_mapped_hip(params).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }
  size_t sums_bytes() const override { return sizeof(PsnrSums) + first_block(maps_.size()) * sizeof(uint64_t); }
  size_t scratch_bytes() const override { return 0; }
  void extract(const FrameSet& frames, std::byte*, void* sums) const override;
  void read_map(const void* sums, size_t map, std::span<double> values) const override {
    const auto* const blocks = reinterpret_cast<const uint64_t*>(static_cast<const PsnrSums*>(sums) + 1);
    std::copy_n(blocks + first_block(map), values.size(), values.begin());
  }

 private:
  BlockGrid grid(size_t p) const { return psnr_blocks(params_.format, static_cast<int>(p)); }
  size_t first_block(size_t p) const {
    return blocks_before(static_cast<int>(p), [this](int before) { return grid(static_cast<size_t>(before)); });
  }

  const PsnrParams params_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

void PsnrMapping::extract(const FrameSet& frames, std::byte*, void* sums) const {
  auto& of_frame = *static_cast<PsnrSums*>(sums);
  auto* block = reinterpret_cast<uint64_t*>(&of_frame + 1);
  const auto sse = use_plain_cpu() ? psnr_sse_plain : psnr_sse_simd;
  const int bpc = params_.format.bpc;
  for (size_t p = 0; p < maps_.size(); p++)
    for (size_t n = 0; n < grid(p).blocks(); n++, block++) {
      *block =
          sse(block_of(frames.ref.plane[p], grid(p), n, bpc), block_of(frames.dist.plane[p], grid(p), n, bpc), bpc);
      of_frame.sse[p] += *block;
    }
}

constexpr const char* kMapNames[] = {"psnr_y", "psnr_cb", "psnr_cr"};

Created create_mapping(const PsnrOptions& options, const VideoFormat& format, Placement placement) {
  const PsnrParams params = params_of(options, format);
  const Reads reads = Psnr(options, params, Placement::kCpu).reads();
  return std::unique_ptr<Extractor>(new PsnrMapping(params, reads, kMapNames, placement));
}

/* -- float_psnr ---------------------------------------------------------------------------------------------------- */

struct FloatPsnrScores {
  double psnr;
};

constexpr const char* kFloatMapNames[] = {"float_psnr"};

constexpr FeatureInfo kFloatFeatures[] = {
    of_regions(read_alone(in_unit("dB", plain_feature("float_psnr", VMAFX_SCORE(FloatPsnrScores, psnr)))))};

class FloatPsnr : public Metric<PsnrParams, PsnrSums, FloatPsnrScores> {
 public:
  using Metric::Metric;

  double score_region(const void* sums, ScoreId, BlockShares shares) const override {
    const RegionSums errors = errors_of(params_, sums, 0, shares[0]);
    return errors.cells ? psnr_of(errors.values, errors.cells) : kNothingThere;
  }

 private:
  FloatPsnrScores scores(const PsnrSums& sums) const override {
    return {psnr_of(static_cast<double>(sums.sse[0]), static_cast<double>(params_.format.w) * params_.format.h)};
  }
  double psnr_of(double errors, double samples) const {
    const int bpc = params_.format.bpc;
    const double scale = 1 << (bpc - 8), peak = ((1 << bpc) - 1) / scale;
    const double sse = errors / (scale * scale), mse = sse / samples;
    return std::min(10 * std::log10(peak * peak / std::max(mse, 1e-10)), 6. * bpc + 12);
  }
};

Created create_float(const NoOptions&, const VideoFormat& format, Placement placement) {
  return std::unique_ptr<Extractor>(new FloatPsnr({format, 1}, kTwins, kFloatFeatures, placement));
}

Created create_float_mapping(const NoOptions&, const VideoFormat& format, Placement placement) {
  return std::unique_ptr<Extractor>(new PsnrMapping({format, 1}, {}, kFloatMapNames, placement));
}

}  // namespace

constexpr ExtractorInfo kPsnrExtractor = {
    .name = "psnr",
    .measures = "fidelity",
    .help = "peak signal-to-noise ratio of every plane",
    .range = "0 to 60 at 8 bits, 72 at 10, 84 at 12",
    .flags = kHip | kMaps,
    .features = kFeatures,
    .options = kOptions,
    .create = with_fields<create>,
    .create_mapping = with_fields<create_mapping>,
    .stream_value = stream_value,
};

constexpr ExtractorInfo kFloatPsnrExtractor = {
    .name = "float_psnr",
    .measures = "fidelity",
    .help = "peak signal-to-noise ratio of the luma, on the scale of 8 bit",
    .range = "0 to 60 at 8 bits, 72 at 10, 84 at 12",
    .flags = kHip | kMaps,
    .features = kFloatFeatures,
    .create = with_fields<create_float>,
    .create_mapping = with_fields<create_float_mapping>,
};

}  // namespace vmafx
