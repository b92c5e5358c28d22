#include "kernels/cambi/cambi.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <optional>
#include <string>

#include "base/cpu.h"
#include "kernels/cambi/cambi_heatmaps.h"
#include "kernels/cambi/cambi_luminance.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

using Type = OptionInfo::Type;

constexpr double kTopk = 0.6;
constexpr const char* kEotf = "bt1886";

constexpr OptionInfo kOptions[] = {
    {"cambi_max_val", "cmxv", Type::kDouble, 1000, 0, 1000, true, "largest score; larger ones are clipped"},
    {"enc_width", "encw", Type::kInt, 0, 180, 7680, true, "width of the encode (0: of the input)"},
    {"enc_height", "ench", Type::kInt, 0, 150, 7680, true, "height of the encode (0: of the input)"},
    {"enc_bitdepth", "encbd", Type::kInt, 0, 6, 16, true, "bit depth of the encode (0: of the input)"},
    {"src_width", "srcw", Type::kInt, 0, 320, 7680, true, "width of the source, for full_ref (0: of the input)"},
    {"src_height", "srch", Type::kInt, 0, 200, 4320, true, "height of the source, for full_ref (0: of the input)"},
    {"window_size", "ws", Type::kInt, 65, 15, 127, true, "window at 3840x2160, where 65 is about 1 degree"},
    {"topk", nullptr, Type::kDouble, kTopk, 0.0001, 1, true, "share of samples that count; before cambi_topk"},
    {"cambi_topk", "ctpk", Type::kDouble, kTopk, 0.0001, 1, true,
     "share of samples that count, those of the largest c"},
    {"tvi_threshold", "tvit", Type::kDouble, 0.019, 0.0001, 1, true, "relative step of luminance that can be seen"},
    {"cambi_vis_lum_threshold", "vlt", Type::kDouble, 0, 0, 300, true, "luminance below which nothing is seen, cd/m2"},
    {"max_log_contrast", "mlc", Type::kInt, 2, 0, 5, true, "largest step of a band: 2^this levels at 10 bit"},
    {"heatmaps_path", nullptr, Type::kString, 0, 0, 0, false, "folder for pictures of the banding"},
    {"full_ref", nullptr, Type::kBool, 0, 0, 1, false, "score the reference too"},
    {"eotf", nullptr, Type::kString, 0, 0, 0, true, "bt1886 or pq", kEotf},
    {"cambi_eotf", "ceot", Type::kString, 0, 0, 0, true, "bt1886 or pq; before eotf", kEotf},
    {"cambi_high_res_speedup", "hrs", Type::kInt, 0, 0, 2160, true,
     "leave the first scale out from this height on: 1080, 1440 or 2160 (0: never)"},
};

constexpr FeatureInfo kFeatures[] = {
    {.name = "Cambi_feature_cambi_score", .key = "cambi", .worse = Worse::kHigh},
    {.name = "cambi_source", .key = "cambi_source", .bare = true, .worse = Worse::kNeither},
    {.name = "cambi_full_reference", .key = "cambi_full_reference", .bare = true, .worse = Worse::kHigh},
};

constexpr int kScaleWeights[kCambiScales] = {16, 8, 4, 2, 1};

class Cambi : public Extractor {
 public:
  Cambi(const CambiParams& params, const CambiView& dist, const CambiView& ref, bool full_ref, double max_val,
        std::unique_ptr<CambiHeatmaps> heatmaps, std::unique_ptr<DeviceTwin> device_twin)
      : params_(params), dist_(dist), ref_(ref), full_ref_(full_ref), max_val_(max_val), heatmaps_(std::move(heatmaps)),
        device_twin_(std::move(device_twin)) {}

  std::span<const FeatureInfo> features() const override { return {kFeatures, full_ref_ ? 3u : 1u}; }
  Reads reads() const override { return {.ref = full_ref_ ? 1u : 0u, .dist = 1}; }
  size_t sums_bytes() const override { return sizeof(CambiSums); }
  size_t scratch_bytes() const override {
    return std::max(cambi_scratch_bytes(params_, dist_), full_ref_ ? cambi_scratch_bytes(params_, ref_) : 0);
  }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    CambiSums& result = *static_cast<CambiSums*>(sums);
    std::optional<CambiHeatmaps::Frame> heatmaps;
    if (heatmaps_) heatmaps.emplace(*heatmaps_, frames.index);
    twin_(params_, dist_, frames.dist.plane[0], scratch, heatmaps ? &*heatmaps : nullptr, result.dist);
    if (full_ref_) twin_(params_, ref_, frames.ref.plane[0], scratch, nullptr, result.ref);
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override;
  DeviceTwin* device_twin() override { return device_twin_.get(); }
  Status flush(ScoreSink&) override { return heatmaps_ ? heatmaps_->close() : Status(); }

 private:
  double score(const CambiView& view, const CambiScaleSums* sums) const;

  const CambiParams params_;
  const CambiView dist_, ref_;
  const bool full_ref_;
  const double max_val_;
  decltype(&cambi_simd) const twin_ = use_reference_cpu() ? cambi_ref : cambi_simd;
  const std::unique_ptr<CambiHeatmaps> heatmaps_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

double Cambi::score(const CambiView& view, const CambiScaleSums* sums) const {
  double score = 0;
  for (int scale = 0; scale < kCambiScales; scale++) {
    const CambiScaleSums& s = sums[scale];
    const int64_t n = int64_t{view.scale_w(params_, scale)} * view.scale_h(params_, scale);
    const int64_t wanted = cambi_wanted(n, params_.topk);
    const uint64_t sum = s.above + s.at / s.at_count * (static_cast<uint64_t>(wanted) - s.above_count);
    const double mean = std::ldexp(static_cast<double>(sum), -cambi_sum_bits(view.window)) / static_cast<double>(wanted);
    score += mean * kScaleWeights[scale];
  }
  return score / (view.window * view.window);
}

void Cambi::finalize(int64_t frame, const void* sums, ScoreSink& sink) {
  const CambiSums& s = *static_cast<const CambiSums*>(sums);
  const double dist = score(dist_, s.dist);
  sink.put(frame, 0, std::min(dist, max_val_));
  if (!full_ref_) return;
  const double source = score(ref_, s.ref);
  sink.put(frame, 1, std::min(source, max_val_));
  sink.put(frame, 2, std::min(std::max(0.0, dist - source), max_val_));
}

/* -- From options to what the twins are given ---------------------------------------------------------------------- */

struct Size {
  int w, h;
};

/* The two options that count before others where they have no default value. */
double chosen_topk(const Options& options) {
  const double topk = options.number("topk");
  return topk != kTopk ? topk : options.number("cambi_topk");
}

StatusOr<Eotf> chosen_eotf(const Options& options) {
  const std::string& later = options.text("cambi_eotf");
  const std::string& name = later != kEotf ? later : options.text("eotf");
  if (name == kEotf) return Eotf{bt1886_luminance};
  if (name == "pq") return Eotf{pq_luminance};
  return error(EINVAL, "there is no eotf '%s'; there are: bt1886, pq", name.c_str());
}

/* An encode larger than the input was scaled down since: nothing is gained by scaling it up again. */
Size encoded_size(const Options& options, const VideoFormat& format) {
  const Size given = {options.integer("enc_width"), options.integer("enc_height")};
  const bool inside = given.w && given.h && given.w <= format.w && given.h <= format.h;
  return inside ? given : Size{format.w, format.h};
}

Size source_size(const Options& options, const VideoFormat& format) {
  const Size given = {options.integer("src_width"), options.integer("src_height")};
  return given.w && given.h ? given : Size{format.w, format.h};
}

bool leaves_first_scale_out(const Options& options, Size encode) {
  const int height = options.integer("cambi_high_res_speedup");
  const bool known = height == 1080 || height == 1440 || height == 2160;
  return known && encode.w * encode.h >= height * height / 9 * 16;
}

std::vector<int> nearest(int from, int to) {
  std::vector<int> samples;
  float at = cambi_nearest_start(from, to);
  for (int i = 0; i < to; i++, at += cambi_nearest_step(from, to)) samples.push_back(cambi_nearest(at, from));
  return samples;
}

CambiView view_of(const Options& options, const VideoFormat& format, Size size, bool halved) {
  CambiView view = {size.w, size.h, 0, 0, {}, {}};
  view.window = options.integer("window_size") * (size.w + size.h) / 375 / 16;
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

StatusOr<std::unique_ptr<Extractor>> create(const Options& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const Eotf eotf, chosen_eotf(options));
  const Size encode = encoded_size(options, format), source = source_size(options, format);
  const int depth = options.integer("enc_bitdepth") ? options.integer("enc_bitdepth") : format.bpc;
  CambiParams params = {format.bpc, depth < 10, leaves_first_scale_out(options, encode), chosen_topk(options), {}};
  params.levels = cambi_levels(eotf, options.number("tvi_threshold"), options.number("cambi_vis_lum_threshold"),
                               1 << options.integer("max_log_contrast"));
  const CambiView dist = view_of(options, format, encode, params.halved);
  const CambiView ref = view_of(options, format, source, params.halved);
  VMAFX_TRY(check_sizes(encode, source, dist, ref));

  std::unique_ptr<CambiHeatmaps> heatmaps;
  if (const std::string& folder = options.text("heatmaps_path"); !folder.empty()) {
    VMAFX_ASSIGN(heatmaps, CambiHeatmaps::create(folder, params, dist));
  }
  const bool full_ref = options.flag("full_ref");
  std::unique_ptr<DeviceTwin> device_twin;
  if (placement == Placement::kDevice) device_twin = cambi_hip(params, dist, full_ref ? &ref : nullptr, format);
  return std::unique_ptr<Extractor>(new Cambi(params, dist, ref, full_ref, options.number("cambi_max_val"),
                                              std::move(heatmaps), std::move(device_twin)));
}

Status fits_device(const Options& options, const VideoFormat&) {
  if (options.text("heatmaps_path").empty()) return {};
  return error(ENOTSUP, "no kernel writes heatmaps");
}

}  // namespace

constexpr ExtractorInfo kCambiExtractor = {
    .name = "cambi",
    .help = "banding: false contours of the distorted picture",
    .flags = kHip,
    .features = kFeatures,
    .options = kOptions,
    .create = create,
    .fits_device = fits_device,
};

}  // namespace vmafx
