/* cvvdp: options, features, scores. */
#include "kernels/cvvdp/cvvdp.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <vector>

#include "kernels/cvvdp/cvvdp_params.h"
#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

/* -- Twins --------------------------------------------------------------------------------------------------------- */

void run_plain(const CvvdpParams& params, const FrameSet& frames, std::byte* scratch, CvvdpSums& sums) {
  cvvdp_plain(params, frames.converted_ref, frames.converted_dist, scratch, sums);
}

void run_encodes(const CvvdpParams& params, std::span<const FrameSet> frames, std::byte* scratch,
                 std::span<CvvdpSums* const> sums) {
  CvvdpPictures dists[kMostEncodes];
  for (size_t i = 0; i < frames.size(); i++) dists[i] = frames[i].converted_dist;
  cvvdp_simd(params, frames[0].converted_ref, {dists, frames.size()}, scratch, sums);
}

size_t scratch_bytes_of_any(const CvvdpParams& params, int) { return cvvdp_scratch_bytes_simd(params); }

constexpr Twins<CvvdpParams, CvvdpSums> kTwins = {
    .plain = {cvvdp_scratch_bytes_plain, run_plain},
    .simd = {cvvdp_scratch_bytes_simd, of_one<run_encodes>, scratch_bytes_of_any, run_encodes},
    .device = cvvdp_hip,
};

/* -- Options and features ------------------------------------------------------------------------------------------ */

struct CvvdpOptions {
  std::string_view display = "";
  std::string_view display_file = "";
  double pix_per_degree = 0, fps = 0;
};

constexpr OptionInfo kOptions[] = {
    option<&CvvdpOptions::display>("display", "display",
                                   "what the video is shown on; empty: standard_4k, for PQ standard_hdr_pq, for HLG "
                                   "standard_hdr_hlg"),
    option<&CvvdpOptions::display_file>("display_file", nullptr,
                                        "JSON file that describes the display, as ColorVideoVDP's display_models.json"),
    option<&CvvdpOptions::pix_per_degree>("pix_per_degree", "ppd", 0, 1000,
                                          "samples in a degree of what is seen; 0: those of the display"),
    option<&CvvdpOptions::fps>("fps", "fps", 0, 512, "frames per second; 0: those of the reference"),
};

/* -- Pooling ------------------------------------------------------------------------------------------------------- */

constexpr double kChannelWeight[kCvvdpChannels] = {1, 1, 1, 0.8081134557723999};
constexpr double kBaseWeight[kCvvdpChannels] = {0.0036334486212581396, 1.6627724170684814, 4.11874532699585,
                                                25.25969886779785};
constexpr double kPicture = 0.577918291091919;  // factor for a stream of one frame
constexpr double kJodScale = 0.0439569391310215, kJodPower = 0.9302042722702026, kLinearUpTo = 0.1;

double safe_power(double v, double p) { return std::pow(v + kCvvdpSmall, p) - std::pow(kCvvdpSmall, p); }

/* The JOD of a difference between two pictures. */
double jod(double difference) {
  if (difference <= kLinearUpTo) return 10 - kJodScale * std::pow(kLinearUpTo, kJodPower - 1) * difference;
  return 10 - kJodScale * std::pow(difference, kJodPower);
}

/* The inverse of jod(). */
double difference_by(double jod) {
  const double most_linear = kJodScale * std::pow(kLinearUpTo, kJodPower), lost = 10 - jod;
  if (lost <= most_linear) return lost * kLinearUpTo / most_linear;
  return std::pow(lost / kJodScale, 1 / kJodPower);
}

/* A stream's JOD from those of its frames. */
double jod_of_stream(std::span<const double> jods) {
  if (jods.size() == 1) return jods.front();
  double squares = 0;
  for (const double each : jods) squares += safe_power(difference_by(each), 2);
  return jod(safe_power(squares / static_cast<double>(jods.size()), 0.5));
}

/* A band's share of the norm over bands, to the fourth power. */
double term_of_band(const CvvdpParams& params, const CvvdpSums& sums, int channel, int b) {
  const double samples = static_cast<double>(params.band[b].w) * params.band[b].h;
  const double of_band = safe_power(sums.band[b].of[channel].value() / samples, 0.5);
  const double weight = kChannelWeight[channel] * (b + 1 == params.bands ? kBaseWeight[channel] : 1);
  return safe_power(of_band * weight, 4);
}

double over_bands(const CvvdpParams& params, const CvvdpSums& sums, int channel) {
  double total = 0;
  for (int b = 0; b < params.bands; b++) total += term_of_band(params, sums, channel, b);
  return safe_power(total, 0.25);
}

/* A frame's difference, over the first so many channels. */
double difference_of(const CvvdpParams& params, const CvvdpSums& sums, int channels) {
  double total = 0;
  for (int c = 0; c < channels; c++) total += safe_power(over_bands(params, sums, c), 4);
  return safe_power(total, 0.25);
}

/* -- The extractor ------------------------------------------------------------------------------------------------- */

constexpr FeatureInfo kFeatures[] = {{.name = "cvvdp",
                                      .key = "cvvdp",
                                      .score = {},
                                      .first_score = FirstScore::kWithTheNextFrame,
                                      .worse = Worse::kLow,
                                      .mean = jod_of_stream,
                                      .unit = "JOD",
                                      .alone = true}};

/* The first frame's score waits until it is known whether more frames come: a picture alone has another score. */
class CvvdpScorer final : public StreamScorer {
 public:
  explicit CvvdpScorer(const CvvdpParams& params) : params_(params) {}

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    const CvvdpSums& of_frame = *static_cast<const CvvdpSums*>(sums);
    const double score = jod(difference_of(params_, of_frame, kCvvdpChannels));
    if (frames_++ == 0) {
      first_ = {frame, score, jod(kPicture * difference_of(params_, of_frame, kCvvdpPlanes))};
      return;
    }
    if (frames_ == 2) sink.put(first_.frame, 0, first_.of_video);
    sink.put(frame, 0, score);
  }
  Status flush(ScoreSink& sink) override {
    if (frames_ == 1) sink.put(first_.frame, 0, first_.of_picture);
    return {};
  }

 private:
  const CvvdpParams& params_;
  int64_t frames_ = 0;  // so far
  struct {
    int64_t frame = 0;
    double of_video = 0, of_picture = 0;  // as one of several frames, or alone
  } first_;
};

Reads reads_of(const CvvdpParams& params) {
  const unsigned planes = params.has_chroma ? 7 : 1;
  const int before = params.taps - 1;
  return {.ref = planes,
          .dist = planes,
          .converted = before,
          .every_frame = true,
          .whole_chroma = true,
          .reach = {.before = before, .first = 2}};
}

class Cvvdp : public TwinExtractor<CvvdpParams, CvvdpSums> {
 public:
  Cvvdp(const CvvdpParams& params, Placement placement)
      : TwinExtractor(params, kTwins, kFeatures, placement),
        convert_(use_plain_cpu() ? cvvdp_convert_plain : cvvdp_convert_simd) {}

  Reads reads() const override { return reads_of(params_); }
  size_t converted_bytes() const override { return cvvdp_converted_bytes(params_); }
  void convert(const Picture& picture, std::byte* converted) const override {
    convert_(params_, picture, reinterpret_cast<float*>(converted));
  }

  std::unique_ptr<StreamScorer> make_scorer() const override { return std::make_unique<CvvdpScorer>(params_); }

 private:
  void (*const convert_)(const CvvdpParams&, const Picture&, float*);
};

StatusOr<CvvdpParams> params_of(const CvvdpOptions& options, const VideoFormat& format) {
  auto params = cvvdp_params({.display = std::string(options.display),
                              .display_file = std::string(options.display_file),
                              .pixels_per_degree = options.pix_per_degree,
                              .fps = options.fps > 0 ? options.fps : format.fps},
                             format);
  if (!params.ok()) return error(params.status().code(), "cvvdp: %s", params.status().message().c_str());
  return params;
}

Created create(const CvvdpOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const CvvdpParams params, params_of(options, format));
  return std::unique_ptr<Extractor>(new Cvvdp(params, placement));
}

/* -- Map: what each block adds to the frame's difference ----------------------------------------------------------- */

/* Raw sums: CvvdpSums, then the blocks' of each band. On the CPU, the definition makes them. */
class CvvdpMapping final : public MappingExtractor {
 public:
  CvvdpMapping(const CvvdpParams& params, Placement placement)
      : MappingExtractor(reads_of(params), {map_of(params)}), params_(params),
        device_twin_(placement == Placement::kDevice ? cvvdp_mapped_hip(params).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }
  size_t sums_bytes() const override {
    return sizeof(CvvdpSums) + cvvdp_first_block(params_, params_.bands) * sizeof(CvvdpBandSums);
  }
  size_t scratch_bytes() const override { return cvvdp_scratch_bytes_plain(params_); }
  size_t converted_bytes() const override { return cvvdp_converted_bytes(params_); }
  void convert(const Picture& picture, std::byte* converted) const override {
    const auto twin = use_plain_cpu() ? cvvdp_convert_plain : cvvdp_convert_simd;
    twin(params_, picture, reinterpret_cast<float*>(converted));
  }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    auto& of_frame = *static_cast<CvvdpSums*>(sums);
    CvvdpBlocks blocks;
    for (int b = 0; b < params_.bands; b++)
      blocks.band[b] = reinterpret_cast<CvvdpBandSums*>(&of_frame + 1) + cvvdp_first_block(params_, b);
    cvvdp_mapped_plain(params_, frames.converted_ref, frames.converted_dist, scratch, of_frame, blocks);
  }
  void read_map(const void* sums, size_t, std::span<double> values) const override;

 private:
  static BlockGrid grid_of(const CvvdpParams& params) { return block_grid(params.w, params.h, kCvvdpBlockSide); }
  static MapInfo map_of(const CvvdpParams& params) {
    const BlockGrid grid = grid_of(params);
    return {"cvvdp", "difference", grid.w, grid.h, grid.side, grid.side};
  }

  const CvvdpParams params_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

/* A channel's share of the difference is that of its fourth power, a band's share of that likewise, and a block's that
 * of the squares. */
void CvvdpMapping::read_map(const void* sums, size_t, std::span<double> values) const {
  const auto& of_frame = *static_cast<const CvvdpSums*>(sums);
  const auto* const blocks = reinterpret_cast<const CvvdpBandSums*>(&of_frame + 1);
  double channels = 0;
  for (int c = 0; c < kCvvdpChannels; c++) channels += safe_power(over_bands(params_, of_frame, c), 4);
  std::ranges::fill(values, 0.0);
  for (int c = 0; c < kCvvdpChannels && channels > 0; c++) {
    const double of_channel = safe_power(over_bands(params_, of_frame, c), 4);
    double bands = 0;
    for (int b = 0; b < params_.bands; b++) bands += term_of_band(params_, of_frame, c, b);
    for (int b = 0; b < params_.bands; b++) {
      const double squares = of_frame.band[b].of[c].value();
      if (!(squares > 0) || !(bands > 0)) continue;
      const double share = of_channel / channels * term_of_band(params_, of_frame, c, b) / bands / squares;
      const BlockGrid grid = CvvdpBlocks::grid(params_, b);
      std::vector<double> of_band;
      for (size_t n = 0; n < grid.blocks(); n++)
        of_band.push_back(difference_of(params_, of_frame, kCvvdpChannels) * share *
                          blocks[cvvdp_first_block(params_, b) + n].of[c].value());
      spread_blocks({params_.w, params_.h, grid.w, grid.side << b, grid.side << b}, of_band, grid_of(params_), values);
    }
  }
}

Created create_mapping(const CvvdpOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const CvvdpParams params, params_of(options, format));
  return std::unique_ptr<Extractor>(new CvvdpMapping(params, placement));
}

}  // namespace

constexpr ExtractorInfo kCvvdpExtractor = {
    .name = "cvvdp",
    .measures = "quality",
    .help = "ColorVideoVDP: quality as seen on a display, in JOD (just objectionable differences): 10 is best",
    .range = "up to 10",
    .flags = kHip | kColor | kFps | kWholeChroma | kMaps,
    .features = kFeatures,
    .options = kOptions,
    .create = with_fields<create>,
    .create_mapping = with_fields<create_mapping>,
};

}  // namespace vmafx
