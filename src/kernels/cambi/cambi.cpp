#include "kernels/cambi/cambi.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <string>

#include "base/rounding.h"
#include "kernels/cambi/cambi_heatmaps.h"
#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

constexpr double kTopk = 0.6;
constexpr std::string_view kEotf = "bt1886";

struct CambiOptions {
  double max_val = 1000, first_topk = kTopk, topk = kTopk, tvi_threshold = 0.019, vis_lum_threshold = 0;
  int enc_width = 0, enc_height = 0, enc_bitdepth = 0, src_width = 0, src_height = 0;
  int window_size = 65, max_log_contrast = 2, high_res_speedup = 0;
  bool full_ref = false;
  WritePath heatmaps_path = {""};
  std::string_view eotf = kEotf, first_eotf = kEotf;
};

/* topk counts before cambi_topk, and cambi_eotf before eotf. */
constexpr OptionInfo kOptions[] = {
    scoring(option<&CambiOptions::max_val>("cambi_max_val", "cmxv", 0, 1000, "largest score; larger ones are clipped")),
    option<&CambiOptions::enc_width>("enc_width", "encw", 144, 7680, "width of the encode (0: of the input)"),
    option<&CambiOptions::enc_height>("enc_height", "ench", 144, 7680, "height of the encode (0: of the input)"),
    option<&CambiOptions::enc_bitdepth>("enc_bitdepth", "encbd", 6, 16, "bit depth of the encode (0: of the input)"),
    option<&CambiOptions::src_width>("src_width", "srcw", 320, 7680,
                                     "width of the source, for full_ref (0: of the input)"),
    option<&CambiOptions::src_height>("src_height", "srch", 200, 4320,
                                      "height of the source, for full_ref (0: of the input)"),
    option<&CambiOptions::window_size>("window_size", "ws", 15, 127, "window at 3840x2160, where 65 is about 1 degree"),
    option<&CambiOptions::first_topk>("topk", "topk", 0.0001, 1, "share of samples that count; before cambi_topk"),
    option<&CambiOptions::topk>("cambi_topk", "ctpk", 0.0001, 1, "share of samples that count, those of the largest c"),
    option<&CambiOptions::tvi_threshold>("tvi_threshold", "tvit", 0.0001, 1,
                                         "relative step of luminance that can be seen"),
    option<&CambiOptions::vis_lum_threshold>("cambi_vis_lum_threshold", "vlt", 0, 300,
                                             "luminance below which nothing is seen, cd/m2"),
    option<&CambiOptions::max_log_contrast>("max_log_contrast", "mlc", 0, 5,
                                            "largest step of a band: 2^this levels at 10 bit"),
    option<&CambiOptions::heatmaps_path>("heatmaps_path", nullptr, "folder for pictures of the banding"),
    adding(option<&CambiOptions::full_ref>("full_ref", nullptr, "score the reference too")),
    option<&CambiOptions::eotf>("eotf", "eotf", "bt1886 or pq"),
    option<&CambiOptions::first_eotf>("cambi_eotf", "ceot", "bt1886 or pq; before eotf"),
    option<&CambiOptions::high_res_speedup>(
        "cambi_high_res_speedup", "hrs", 0, 2160,
        "leave the first scale out from this height on: 1080, 1440 or 2160 (0: never)"),
};

struct CambiScores {
  double dist, source, full_reference;
};

constexpr FeatureInfo kFeatures[] = {
    {.name = "Cambi_feature_cambi_score",
     .key = "cambi",
     .score = VMAFX_SCORE(CambiScores, dist),
     .worse = Worse::kHigh,
     .alone = true,
     .best = 0},
    {.name = "cambi_source",
     .key = "cambi_source",
     .score = VMAFX_SCORE(CambiScores, source),
     .bare = true,
     .worse = Worse::kNeither},
    {.name = "cambi_full_reference",
     .key = "cambi_full_reference",
     .score = VMAFX_SCORE(CambiScores, full_reference),
     .bare = true,
     .worse = Worse::kHigh},
};

/* The parameters of a frame's sums. */
struct CambiFrame {
  CambiParams params;
  CambiView dist, ref;
  VideoFormat format;
  bool full_ref;
  double max_val;
  std::unique_ptr<CambiHeatmaps> heatmaps;  // the distorted picture's, or null
};

size_t twin_scratch_bytes(const CambiFrame& frame) {
  const size_t ref = frame.full_ref ? cambi_scratch_bytes(frame.params, frame.ref) : 0;
  return std::max(cambi_scratch_bytes(frame.params, frame.dist), ref);
}

template <auto twin>
void run(const CambiFrame& frame, const FrameSet& frames, std::byte* scratch, CambiSums& sums) {
  CambiRowSink heatmap;
  if (frame.heatmaps) heatmap = std::bind_front(&CambiHeatmaps::put, frame.heatmaps.get(), frames.place);
  twin(frame.params, frame.dist, frames.dist.plane[0], scratch, heatmap, sums.dist);
  if (frame.full_ref) twin(frame.params, frame.ref, frames.ref.plane[0], scratch, {}, sums.ref);
}

OwnedDeviceTwin device_twin_of(const CambiFrame& frame, bool maps) {
  return cambi_hip(frame.params, frame.dist, frame.full_ref ? &frame.ref : nullptr, frame.format, maps);
}

constexpr Twins<CambiFrame, CambiSums> kTwins = {
    .plain = {twin_scratch_bytes, run<cambi_plain>},
    .simd = {twin_scratch_bytes, run<cambi_simd>},
    .device = [](const CambiFrame& frame) { return device_twin_of(frame, false); },
};

constexpr int kScaleWeights[kCambiScales] = {16, 8, 4, 2, 1};

/* -- Blocks, in sums with maps: they follow CambiSums, scale by scale ---------------------------------------------- */

/* The weight of a scale's sums in the score of the distorted picture. */
struct CambiWeight {
  int64_t wanted;  // samples
  double of_sum;   // of what they add up to

  CambiWeight(const CambiParams& params, const CambiView& view, int scale)
      : wanted(cambi_wanted(int64_t{view.scale_w(params, scale)} * view.scale_h(params, scale), params.topk)),
        of_sum(std::ldexp(kScaleWeights[scale], -cambi_sum_bits(view.window)) /
               (static_cast<double>(wanted) * view.window * view.window)) {}
};

/* Each block's share of the score, before that is clipped. Of samples at the threshold as many count as are wanted,
 * which is the same share in all blocks. */
void read_blocks(const CambiFrame& frame, const void* sums, std::span<double> values) {
  const auto& of_frame = *static_cast<const CambiSums*>(sums);
  const auto* block = reinterpret_cast<const CambiBlockSums*>(&of_frame + 1);
  std::ranges::fill(values, 0.0);
  for (int scale = 0; scale < kCambiScales; scale++) {
    const CambiWeight weight(frame.params, frame.dist, scale);
    const CambiScaleSums& s = of_frame.dist[scale];
    const double count = std::max(1.0, static_cast<double>(s.at_count));
    const double wanted = static_cast<double>(weight.wanted) - static_cast<double>(s.above_count);
    const double at = static_cast<double>(s.at) / count * wanted / count;
    for (double& value : values) {
      value += weight.of_sum * (static_cast<double>(block->above) + at * static_cast<double>(block->at_count));
      block++;
    }
  }
}

class Cambi : public Metric<CambiFrame, CambiSums, CambiScores> {
 public:
  using Metric::Metric;

  bool read_deviation(const void* sums, ScoreId score, size_t, std::span<double> values) const override {
    if (score != kFeatures[0].score) return false;
    read_blocks(params_, sums, values);
    for (double& value : values) value = -value;
    return true;
  }

  Reads reads() const override { return {.ref = params_.full_ref ? 1u : 0u, .dist = 1}; }

 private:
  Status close_output() const override { return params_.heatmaps ? params_.heatmaps->close() : Status(); }

  CambiScores scores(const CambiSums& sums) const override {
    const double dist = score(params_.dist, sums.dist), source = params_.full_ref ? score(params_.ref, sums.ref) : 0;
    const auto clipped = [this](double score) { return std::min(score, params_.max_val); };
    return {clipped(dist), clipped(source), clipped(std::max(0.0, dist - source))};
  }

  double score(const CambiView& view, const CambiScaleSums* sums) const {
    double score = 0;
    for (int scale = 0; scale < kCambiScales; scale++) {
      const CambiScaleSums& s = sums[scale];
      const int64_t n = int64_t{view.scale_w(params_.params, scale)} * view.scale_h(params_.params, scale);
      const int64_t wanted = cambi_wanted(n, params_.params.topk);
      const uint64_t sum = s.above + s.at / s.at_count * (static_cast<uint64_t>(wanted) - s.above_count);
      const double mean =
          std::ldexp(static_cast<double>(sum), -cambi_sum_bits(view.window)) / static_cast<double>(wanted);
      score += mean * kScaleWeights[scale];
    }
    return score / (view.window * view.window);
  }
};

/* -- From options to what the twins are given ---------------------------------------------------------------------- */

struct Size {
  int w, h;
};

/* The two options that count before others where they have no default value. */
double chosen_topk(const CambiOptions& options) {
  return options.first_topk != kTopk ? options.first_topk : options.topk;
}

StatusOr<Eotf> chosen_eotf(const CambiOptions& options) {
  const std::string name(options.first_eotf != kEotf ? options.first_eotf : options.eotf);
  if (name == kEotf) return Eotf{bt1886_luminance};
  if (name == "pq") return Eotf{pq_luminance};
  return error(EINVAL, "there is no eotf '%s'; there are: bt1886, pq", name.c_str());
}

/* An encode larger than the input was scaled down since: nothing is gained by scaling it up again. */
Size encoded_size(const CambiOptions& options, const VideoFormat& format) {
  const Size given = {options.enc_width, options.enc_height};
  const bool inside = given.w && given.h && given.w <= format.w && given.h <= format.h;
  return inside ? given : Size{format.w, format.h};
}

Size source_size(const CambiOptions& options, const VideoFormat& format) {
  const Size given = {options.src_width, options.src_height};
  return given.w && given.h ? given : Size{format.w, format.h};
}

bool leaves_first_scale_out(const CambiOptions& options, Size encode) {
  const int height = options.high_res_speedup;
  const bool known = height == 1080 || height == 1440 || height == 2160;
  return known && encode.w * encode.h >= height * height / 9 * 16;
}

std::vector<int> nearest(int from, int to) {
  std::vector<int> samples;
  float at = cambi_nearest_start(from, to);
  for (int i = 0; i < to; i++, at += cambi_nearest_step(from, to)) samples.push_back(cambi_nearest(at, from));
  return samples;
}

CambiView view_of(const CambiOptions& options, const VideoFormat& format, Size size, bool halved) {
  CambiView view = {size.w, size.h, 0, 0, {}, {}};
  view.window = options.window_size * (size.w + size.h) / 375 / 16;
  if (halved) view.window = (view.window + 1) / 2;
  view.window |= 1;
  /* Larger pictures have to be flatter: ⌈log2⌉ of their size in squares of 64. */
  const int squares = (size.w / 64) * (size.h / 64), log2 = squares > 1 ? std::bit_width(squares - 1u) : 0;
  view.mask_above = (48 + 3 * (log2 - 11)) >> 1;
  if (size.w != format.w || size.h != format.h) {
    view.columns = nearest(format.w, size.w);
    view.rows = nearest(format.h, size.h);
  }
  return view;
}

Status check_sizes(Size encode, Size source, const CambiView& dist, const CambiView& ref) {
  constexpr int kLeast = 216;
  for (const Size size : {encode, source})
    if (size.w < kLeast && size.h < kLeast)
      return error(EINVAL, "cambi needs pictures of %d samples in one direction; these are %dx%d", kLeast, size.w,
                   size.h);
  if ((source.w > encode.w && source.h < encode.h) || (source.w < encode.w && source.h > encode.h))
    return error(EINVAL,
                 "the source, %dx%d, is larger than the encode, %dx%d, in one direction and smaller in the other",
                 source.w, source.h, encode.w, encode.h);
  const int window = std::max(dist.window, ref.window);
  if (window > kCambiMostWindow)
    return error(EINVAL, "window_size gives a window of %d samples here; it can be up to %d", window, kCambiMostWindow);
  return {};
}

StatusOr<CambiFrame> frame_of(const CambiOptions& options, const VideoFormat& format) {
  VMAFX_ASSIGN(const Eotf eotf, chosen_eotf(options));
  const Size encode = encoded_size(options, format), source = source_size(options, format);
  const int depth = options.enc_bitdepth ? options.enc_bitdepth : format.bpc;
  CambiParams params = {format.bpc, depth < 10, leaves_first_scale_out(options, encode), chosen_topk(options), {}};
  params.levels = cambi_levels(eotf, options.tvi_threshold, options.vis_lum_threshold, 1 << options.max_log_contrast);
  const CambiView dist = view_of(options, format, encode, params.halved);
  const CambiView ref = view_of(options, format, source, params.halved);
  VMAFX_TRY(check_sizes(encode, source, dist, ref));
  return CambiFrame{params, dist, ref, format, options.full_ref, options.max_val, nullptr};
}

Created create(const CambiOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(CambiFrame frame, frame_of(options, format));
  if (!options.heatmaps_path.empty()) {
    VMAFX_ASSIGN(frame.heatmaps, CambiHeatmaps::create(options.heatmaps_path, frame.params, frame.dist));
  }
  const auto features = std::span(kFeatures).first(options.full_ref ? 3 : 1);
  return std::unique_ptr<Extractor>(new Cambi(std::move(frame), kTwins, features, placement));
}

Status fits_device(const Options& options, const VideoFormat&) {
  if (options.fields<CambiOptions>().heatmaps_path.empty()) return {};
  return error(ENOTSUP, "no kernel writes heatmaps");
}

/* -- Map: what each block adds to the score ------------------------------------------------------------------------ */

MapInfo map_of(const CambiFrame& frame) {
  const BlockGrid grid = cambi_blocks(frame.dist);
  const auto of_picture = [](int size, int encoded) {
    return static_cast<int>(std::lround(static_cast<double>(kCambiBlockSide) * size / encoded));
  };
  return {"cambi",
          "points",
          grid.w,
          grid.h,
          of_picture(frame.format.w, frame.dist.w),
          of_picture(frame.format.h, frame.dist.h)};
}

/* Raw sums: CambiSums, then the blocks' of each scale. The rows of c are kept until it is known which of them count. */
class CambiMapping final : public MappingExtractor {
 public:
  CambiMapping(CambiFrame frame, Reads reads, Placement placement)
      : MappingExtractor(reads, {map_of(frame)}), frame_(std::move(frame)),
        device_twin_(placement == Placement::kDevice ? device_twin_of(frame_, true).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }
  size_t sums_bytes() const override {
    return sizeof(CambiSums) + kCambiScales * cambi_blocks(frame_.dist).blocks() * sizeof(CambiBlockSums);
  }
  size_t scratch_bytes() const override { return twin_bytes() + first_key(kCambiScales) * sizeof(int32_t); }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override;
  void read_map(const void* sums, size_t, std::span<double> values) const override {
    read_blocks(frame_, sums, values);
  }

 private:
  size_t twin_bytes() const { return round_to_lines(twin_scratch_bytes(frame_)); }
  int w(int scale) const { return frame_.dist.scale_w(frame_.params, scale); }
  size_t first_key(int scale) const {
    size_t first = 0;
    for (int s = 0; s < scale; s++)
      first += static_cast<size_t>(w(s)) * static_cast<size_t>(frame_.dist.scale_h(frame_.params, s));
    return first;
  }
  void add_to_blocks(int scale, const int32_t* keys, const CambiScaleSums& sums, CambiBlockSums* blocks) const;

  const CambiFrame frame_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

void CambiMapping::extract(const FrameSet& frames, std::byte* scratch, void* sums) const {
  auto& of_frame = *static_cast<CambiSums*>(sums);
  auto* const keys = reinterpret_cast<int32_t*>(scratch + twin_bytes());
  const CambiRowSink keep = [&](int scale, int y, std::span<const int32_t> row) {
    std::ranges::copy(row, keys + first_key(scale) + static_cast<size_t>(y) * row.size());
  };
  const auto twin = use_plain_cpu() ? cambi_plain : cambi_simd;
  twin(frame_.params, frame_.dist, frames.dist.plane[0], scratch, keep, of_frame.dist);
  if (frame_.full_ref) twin(frame_.params, frame_.ref, frames.ref.plane[0], scratch, {}, of_frame.ref);
  auto* blocks = reinterpret_cast<CambiBlockSums*>(&of_frame + 1);
  for (int scale = 0; scale < kCambiScales; scale++, blocks += cambi_blocks(frame_.dist).blocks())
    add_to_blocks(scale, keys + first_key(scale), of_frame.dist[scale], blocks);
}

void CambiMapping::add_to_blocks(int scale, const int32_t* keys, const CambiScaleSums& sums,
                                 CambiBlockSums* blocks) const {
  const int sum_bits = cambi_sum_bits(frame_.dist.window), halvings = scale + frame_.params.halved;
  const uint64_t threshold = cambi_threshold(sums);
  const BlockGrid grid = cambi_blocks(frame_.dist);
  const size_t end = first_key(scale + 1) - first_key(scale);
  for (size_t i = 0; i < end; i++) {
    if (!keys[i]) continue;
    const uint64_t counted = cambi_counted(static_cast<uint32_t>(keys[i]), sum_bits);
    const int x = static_cast<int>(i) % w(scale), y = static_cast<int>(i) / w(scale);
    cambi_add_to_block(counted, threshold, blocks[grid.at(x << halvings, y << halvings)]);
  }
}

Created create_mapping(const CambiOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(CambiFrame frame, frame_of(options, format));
  const Reads reads = {.ref = frame.full_ref ? 1u : 0u, .dist = 1};
  return std::unique_ptr<Extractor>(new CambiMapping(std::move(frame), reads, placement));
}

}  // namespace

constexpr ExtractorInfo kCambiExtractor = {
    .name = "cambi",
    .measures = "banding",
    .help = "banding: false contours of the distorted picture",
    .range = "0 to 24; from 5 on it disturbs",
    .flags = kHip | kMaps,
    .features = kFeatures,
    .options = kOptions,
    .create = with_fields<create>,
    .create_mapping = with_fields<create_mapping>,
    .fits_device = fits_device,
};

}  // namespace vmafx
