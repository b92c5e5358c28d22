/* float_ssim and float_ms_ssim: options, features, scores. */
#include "kernels/ssim/ssim.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

#include "kernels/arithmetic/fixed.h"
#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"

namespace vmafx {

SsimSize::SsimSize(const SsimParams& params, int scale)
    : w(ssim_reduced(params.w, params.factor)), h(ssim_reduced(params.h, params.factor)) {
  for (int s = 0; s < scale; s++) {
    w = ssim_halved(w);
    h = ssim_halved(h);
  }
}

namespace {

/* -- What both have in common -------------------------------------------------------------------------------------- */

struct SsimOptions {
  bool enable_lcs = false, enable_db = false, clip_db = false;
  int scale = 0;  // float_ssim's
};

constexpr OptionInfo kEnableDb = option<&SsimOptions::enable_db>("enable_db", nullptr, "give the score in dB");
constexpr OptionInfo kClipDb =
    option<&SsimOptions::clip_db>("clip_db", nullptr, "limit scores in dB to that of half a squared error per picture");

constexpr Twins<SsimParams, SsimSums> kTwins = {
    .plain = {ssim_scratch_bytes_plain, on_luma<ssim_plain>},
    .simd = {ssim_scratch_bytes_simd, on_luma<ssim_simd>},
    .device = ssim_hip,
};

/* The decibels of a mean squared error of 0.5 / (w h). */
double most_db(const SsimParams& params, bool clip) {
  if (!clip) return std::numeric_limits<double>::infinity();
  const double peak = (1 << params.bpc) - 1;
  return std::ceil(10 * std::log10(peak * peak / (0.5 / (static_cast<double>(params.w) * params.h))));
}

/* Means of one scale, floats as in libvmaf. */
struct SsimMeans {
  float l, c, s, lcs;
};
SsimMeans means(const SsimParams& params, const SsimSums& sums, int scale) {
  /* The rounding of denominators would show. */
  if (!sums.different) return {1, 1, 1, 1};
  const auto windows = static_cast<double>(SsimSize(params, scale).windows());
  const auto mean = [windows](int64_t sum) { return static_cast<float>(from_fixed<kSsimBits>(sum) / windows); };
  return {mean(sums.l), mean(sums.c), mean(sums.s), mean(sums.lcs)};
}

/* The features with these options: the first is the score. */
std::vector<FeatureInfo> provided(const SsimOptions& options, std::span<const FeatureInfo> all) {
  std::vector<FeatureInfo> features(all.begin(), options.enable_lcs ? all.end() : all.begin() + 1);
  if (options.enable_db) features.front().unit = "dB";
  return features;
}

template <class Scores>
class SsimMetric : public Metric<SsimParams, SsimSums, Scores> {
 public:
  SsimMetric(const SsimParams& params, const SsimOptions& options, std::span<const FeatureInfo> features,
             Placement placement)
      : Metric<SsimParams, SsimSums, Scores>(params, kTwins, provided(options, features), placement),
        in_db_(options.enable_db), most_db_(most_db(params, options.clip_db)) {}

  size_t sums_bytes() const final { return this->params_.scales * sizeof(SsimSums); }

 protected:
  /* A score as it is or in dB. A perfect one, or one above 1 by rounding, is as high as can be. */
  double in_unit(double score) const {
    if (!in_db_) return score;
    return score < 1 ? std::min(-10 * std::log10(1 - score), most_db_) : most_db_;
  }

 private:
  const bool in_db_;
  const double most_db_;
};

/* -- float_ssim ---------------------------------------------------------------------------------------------------- */

constexpr OptionInfo kSsimOptions[] = {
    adding(option<&SsimOptions::enable_lcs>("enable_lcs", nullptr,
                                            "also provide the means of luminance, contrast and structure")),
    kEnableDb,
    kClipDb,
    option<&SsimOptions::scale>("scale", nullptr, 0, 10,
                                "what width and height are divided by first; 0: to about 256 rows"),
};

struct SsimScores {
  double ssim, l, c, s;
};

constexpr FeatureInfo kSsimFeatures[] = {
    of_regions(read_alone(plain_feature("float_ssim", VMAFX_SCORE(SsimScores, ssim)))),
    of_regions(plain_feature("float_ssim_l", VMAFX_SCORE(SsimScores, l))),
    of_regions(plain_feature("float_ssim_c", VMAFX_SCORE(SsimScores, c))),
    of_regions(plain_feature("float_ssim_s", VMAFX_SCORE(SsimScores, s))),
};

constexpr int kBlockSide = 16;  // of the map, windows, which begin a sample apart

/* The windows of a map of float_ssim, across and down, and their blocks. */
struct SsimGrid {
  explicit SsimGrid(const SsimParams& params)
      : w(SsimSize(params, 0).w - SsimWindow::kLength + 1), h(SsimSize(params, 0).h - SsimWindow::kLength + 1),
        blocks(block_grid(w, h, kBlockSide)) {}

  int w, h;
  BlockGrid blocks;
};

class FloatSsim : public SsimMetric<SsimScores> {
 public:
  using SsimMetric::SsimMetric;

  /* In sums with maps the blocks' follow the picture's. The means are doubles. */
  double score_region(const void* sums, ScoreId score, BlockShares shares) const override {
    const auto* const of_frame = static_cast<const SsimSums*>(sums);
    const SsimGrid grid(params_);
    const auto mean = [&](int64_t SsimSums::* part) {
      const auto value = [&](size_t n) { return from_fixed<kSsimBits>(of_frame[1 + n].*part); };
      const RegionSums windows = sum_region(grid.blocks, grid.w, grid.h, shares[0], value);
      return of_frame->different || !windows.cells ? windows.mean() : 1;
    };
    if (score == kSsimFeatures[1].score) return mean(&SsimSums::l);
    if (score == kSsimFeatures[2].score) return mean(&SsimSums::c);
    if (score == kSsimFeatures[3].score) return mean(&SsimSums::s);
    return in_unit(mean(&SsimSums::lcs));
  }

 private:
  SsimScores scores(const SsimSums& sums) const override {
    const SsimMeans mean = means(params_, sums, 0);
    return {in_unit(mean.lcs), mean.l, mean.c, mean.s};
  }
};

/* The nearest whole number to min(w, h) / 256. */
int automatic_factor(const VideoFormat& format) { return std::max(1, (std::min(format.w, format.h) + 128) / 256); }

StatusOr<SsimParams> ssim_params(const SsimOptions& options, const VideoFormat& format) {
  SsimParams params = {.w = format.w, .h = format.h, .bpc = format.bpc};
  params.factor = options.scale ? options.scale : automatic_factor(format);
  const SsimSize size(params, 0);
  if (std::min(size.w, size.h) < SsimWindow::kLength)
    return error(EINVAL, "float_ssim needs at least 11x11 samples after dividing by its scale, %d; here are %dx%d",
                 params.factor, size.w, size.h);
  return params;
}

Created create_ssim(const SsimOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const SsimParams params, ssim_params(options, format));
  return std::unique_ptr<Extractor>(new FloatSsim(params, options, kSsimFeatures, placement));
}

/* -- Maps of float_ssim: what each block lacks to the score of equal pictures -------------------------------------- */

/* Raw sums: SsimSums, then the blocks'. On the CPU, the definition makes them: it is fast enough for pictures of 256
 * rows. */
class SsimMapping final : public MappingExtractor {
 public:
  SsimMapping(const SsimParams& params, Placement placement)
      : MappingExtractor({}, {map_of(params)}), params_(params),
        device_twin_(placement == Placement::kDevice ? ssim_mapped_hip(params, grid_of(params)).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }

  size_t sums_bytes() const override { return (1 + grid_of(params_).blocks()) * sizeof(SsimSums); }
  size_t scratch_bytes() const override { return ssim_scratch_bytes_plain(params_); }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    auto* const of_frame = static_cast<SsimSums*>(sums);
    ssim_mapped_plain(params_, frames.ref.plane[0], frames.dist.plane[0], scratch, *of_frame, grid_of(params_),
                      of_frame + 1);
  }
  void read_map(const void* sums, size_t, std::span<double> values) const override;

 private:
  static BlockGrid grid_of(const SsimParams& params) { return SsimGrid(params).blocks; }
  static MapInfo map_of(const SsimParams& params) {
    const BlockGrid grid = grid_of(params);
    const int side = kBlockSide * params.factor, middle = SsimWindow::kLength / 2 * params.factor;
    return {"float_ssim", "windows", grid.w, grid.h, side, side, middle, middle};
  }

  const SsimParams params_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

/* A block has as many windows as would score 1. */
void SsimMapping::read_map(const void* sums, size_t, std::span<double> values) const {
  const auto* const of_frame = static_cast<const SsimSums*>(sums);
  const SsimGrid grid(params_);
  for (size_t n = 0; n < values.size(); n++) {
    const double windows = cells_of(grid.blocks, grid.w, grid.h, n);
    values[n] = of_frame->different ? windows - from_fixed<kSsimBits>(of_frame[1 + n].lcs) : 0;
  }
}

Created create_ssim_mapping(const SsimOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const SsimParams params, ssim_params(options, format));
  return std::unique_ptr<Extractor>(new SsimMapping(params, placement));
}

/* -- float_ms_ssim ------------------------------------------------------------------------------------------------- */

constexpr OptionInfo kMsSsimOptions[] = {
    adding(option<&SsimOptions::enable_lcs>(
        "enable_lcs", nullptr, "also provide the means of luminance, contrast and structure at every scale")),
    kEnableDb,
    kClipDb,
};

struct MsSsimScores {
  double ms_ssim, l[kMsSsimScales], c[kMsSsimScales], s[kMsSsimScales];
};

constexpr FeatureInfo kMsSsimFeatures[] = {
    read_alone(plain_feature("float_ms_ssim", VMAFX_SCORE(MsSsimScores, ms_ssim))),
    plain_feature("float_ms_ssim_l_scale0", VMAFX_SCORE(MsSsimScores, l[0])),
    plain_feature("float_ms_ssim_l_scale1", VMAFX_SCORE(MsSsimScores, l[1])),
    plain_feature("float_ms_ssim_l_scale2", VMAFX_SCORE(MsSsimScores, l[2])),
    plain_feature("float_ms_ssim_l_scale3", VMAFX_SCORE(MsSsimScores, l[3])),
    plain_feature("float_ms_ssim_l_scale4", VMAFX_SCORE(MsSsimScores, l[4])),
    plain_feature("float_ms_ssim_c_scale0", VMAFX_SCORE(MsSsimScores, c[0])),
    plain_feature("float_ms_ssim_c_scale1", VMAFX_SCORE(MsSsimScores, c[1])),
    plain_feature("float_ms_ssim_c_scale2", VMAFX_SCORE(MsSsimScores, c[2])),
    plain_feature("float_ms_ssim_c_scale3", VMAFX_SCORE(MsSsimScores, c[3])),
    plain_feature("float_ms_ssim_c_scale4", VMAFX_SCORE(MsSsimScores, c[4])),
    plain_feature("float_ms_ssim_s_scale0", VMAFX_SCORE(MsSsimScores, s[0])),
    plain_feature("float_ms_ssim_s_scale1", VMAFX_SCORE(MsSsimScores, s[1])),
    plain_feature("float_ms_ssim_s_scale2", VMAFX_SCORE(MsSsimScores, s[2])),
    plain_feature("float_ms_ssim_s_scale3", VMAFX_SCORE(MsSsimScores, s[3])),
    plain_feature("float_ms_ssim_s_scale4", VMAFX_SCORE(MsSsimScores, s[4])),
};

/* The exponents, floats as in libvmaf. That of the luminance is 0 but for the last scale, where it is the same. */
constexpr float kExponents[kMsSsimScales] = {0.0448f, 0.2856f, 0.3001f, 0.2363f, 0.1333f};

double weighted(double mean, int scale) { return std::pow(mean, static_cast<double>(kExponents[scale])); }

/* The least size for which an 11x11 window fits the last scale, as libvmaf counts it. */
constexpr int kLeastSize = 11 << (kMsSsimScales - 1);

class FloatMsSsim : public SsimMetric<MsSsimScores> {
 public:
  using SsimMetric::SsimMetric;

 private:
  MsSsimScores scores(const SsimSums& sums) const override {
    MsSsimScores scores = {.ms_ssim = 1, .l = {}, .c = {}, .s = {}};
    for (int s = 0; s < kMsSsimScales; s++) {
      const SsimMeans mean = means(params_, (&sums)[s], s);
      const double l = s == kMsSsimScales - 1 ? weighted(mean.l, s) : 1;
      scores.ms_ssim *= l * weighted(mean.c, s) * weighted(std::max(mean.s, 0.f), s);
      scores.l[s] = mean.l;
      scores.c[s] = mean.c;
      scores.s[s] = mean.s;
    }
    scores.ms_ssim = in_unit(scores.ms_ssim);
    return scores;
  }
};

StatusOr<SsimParams> ms_ssim_params(const SsimOptions& options, const VideoFormat& format) {
  if (std::min(format.w, format.h) < kLeastSize)
    return error(EINVAL, "float_ms_ssim needs at least 176x176 samples, for its five scales; here are %dx%d", format.w,
                 format.h);
  SsimParams params = {.w = format.w, .h = format.h, .bpc = format.bpc};
  params.scales = kMsSsimScales;
  params.every_l = options.enable_lcs;
  return params;
}

Created create_ms_ssim(const SsimOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const SsimParams params, ms_ssim_params(options, format));
  return std::unique_ptr<Extractor>(new FloatMsSsim(params, options, kMsSsimFeatures, placement));
}

/* -- Map of float_ms_ssim: what each block takes off the score of equal pictures ----------------------------------- */

constexpr int kMsSsimBlockSide = 32;  // windows of scale 0

/* Raw sums: SsimSums of each scale, then the blocks', scale by scale. On the CPU, the definition makes them. */
class MsSsimMapping final : public MappingExtractor {
 public:
  MsSsimMapping(const SsimParams& params, Placement placement)
      : MappingExtractor({}, {map_of(params)}), params_(params),
        device_twin_(placement == Placement::kDevice ? ssim_mapped_hip(params, grid_of(params)).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }

  size_t sums_bytes() const override { return kMsSsimScales * (1 + grid_of(params_).blocks()) * sizeof(SsimSums); }
  size_t scratch_bytes() const override { return ssim_scratch_bytes_plain(params_); }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    auto* const of_frame = static_cast<SsimSums*>(sums);
    ssim_mapped_plain(params_, frames.ref.plane[0], frames.dist.plane[0], scratch, *of_frame, grid_of(params_),
                      of_frame + kMsSsimScales);
  }
  void read_map(const void* sums, size_t, std::span<double> values) const override;

 private:
  static BlockGrid grid_of(const SsimParams& params) {
    return block_grid(params.w - SsimWindow::kLength + 1, params.h - SsimWindow::kLength + 1, kMsSsimBlockSide);
  }
  static MapInfo map_of(const SsimParams& params) {
    const BlockGrid grid = grid_of(params);
    return {"float_ms_ssim", "score", grid.w, grid.h, grid.side, grid.side};
  }
  int64_t windows_of(const BlockGrid& grid, size_t block, int scale) const;

  const SsimParams params_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

/* Windows of a scale whose first sample lies in a block. */
int64_t MsSsimMapping::windows_of(const BlockGrid& grid, size_t block, int scale) const {
  const SsimSize size(params_, scale);
  const int side = grid.side >> scale;
  const auto inside = [&](int place, int samples) {
    const int windows = samples - SsimWindow::kLength + 1;
    return std::clamp(windows - place * side, 0, side);
  };
  return int64_t{inside(static_cast<int>(block) % grid.w, size.w)} * inside(static_cast<int>(block) / grid.w, size.h);
}

/* The logarithm of the score is a sum of logarithms of means m, and that of a mean is -(1 - m) by a factor which all
 * blocks share. So each has a part of the logarithm, and the same part of what the score lacks to 1. */
void MsSsimMapping::read_map(const void* sums, size_t, std::span<double> values) const {
  constexpr double kLeast = 1e-6;  // of a mean; where it is less, the score is 0
  const auto* const of_frame = static_cast<const SsimSums*>(sums);
  const BlockGrid grid = grid_of(params_);
  double score = 1, all = 0;  // `all`: of the parts of the logarithm
  std::ranges::fill(values, 0.0);
  for (int s = 0; s < kMsSsimScales; s++) {
    if (!of_frame[s].different) continue;
    const SsimSums* const blocks = of_frame + kMsSsimScales + static_cast<size_t>(s) * grid.blocks();
    const auto windows = static_cast<double>(SsimSize(params_, s).windows());
    const auto add = [&](int64_t SsimSums::* part) {
      const double mean = from_fixed<kSsimBits>(of_frame[s].*part) / windows, least = std::max(mean, kLeast);
      const double factor = kExponents[s] * (least == 1 ? 1 : std::log(least) / (least - 1));
      score *= mean < kLeast ? 0 : weighted(mean, s);
      all += factor * (1 - mean);
      for (size_t n = 0; n < values.size(); n++) {
        const double of_windows = static_cast<double>(windows_of(grid, n, s));
        values[n] += factor * (of_windows - from_fixed<kSsimBits>(blocks[n].*part)) / windows;
      }
    };
    if (s == kMsSsimScales - 1) add(&SsimSums::l);
    add(&SsimSums::c);
    add(&SsimSums::s);
  }
  for (double& value : values) value *= all == 0 ? 1 : (1 - score) / all;
}

Created create_ms_ssim_mapping(const SsimOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const SsimParams params, ms_ssim_params(options, format));
  return std::unique_ptr<Extractor>(new MsSsimMapping(params, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatSsimExtractor = {
    .name = "float_ssim",
    .measures = "structure",
    .help = "structural similarity of luma, at one scale",
    .range = "0 to 1",
    .flags = kHip | kMaps,
    .features = kSsimFeatures,
    .options = kSsimOptions,
    .create = with_fields<create_ssim>,
    .create_mapping = with_fields<create_ssim_mapping>,
};

constexpr ExtractorInfo kFloatMsSsimExtractor = {
    .name = "float_ms_ssim",
    .measures = "structure",
    .help = "structural similarity of luma, at five scales",
    .range = "0 to 1",
    .flags = kHip | kMaps,
    .features = kMsSsimFeatures,
    .options = kMsSsimOptions,
    .create = with_fields<create_ms_ssim>,
    .create_mapping = with_fields<create_ms_ssim_mapping>,
};

}  // namespace vmafx
