#include "kernels/adm/adm.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>

#include "kernels/adm/adm_csf.h"
#include "kernels/adm/adm_scores.h"
#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

struct AdmOptions : AdmSharedOptions {
  bool skip_aim = false;
  double view_dist_extra = 0;  // for the plan, which asks for it as the view_dist of another extractor
};
using Shared = AdmOption<AdmOptions>;

constexpr OptionInfo kOptions[] = {
    Shared::debug("also provide integer_adm and the num and den of every scale"),
    Shared::kCsfScale,
    Shared::kCsfDiagScale,
    Shared::kDlmWeight,
    Shared::kGainLimit,
    Shared::kViewDist,
    again_with(Shared::kViewDist.name,
               option<&AdmOptions::view_dist_extra>("adm_norm_view_dist_extra", "nvde", 0.75, 24,
                                                    "a second viewing distance, scored too")),
    Shared::display_height("rdh"),
    Shared::csf_mode(3,
                     "contrast sensitivity: 0 Watson 1997, 1 Barten, 2 a blend of both, 3 the blend of models from "
                     "v1.0.17 on"),
    Shared::kNoiseWeight,
    option<&AdmOptions::skip_aim>("adm_skip_aim", nullptr, "do not compute aim; it is then 0"),
    Shared::kSkipScale0,
    Shared::kMinVal,
};

constexpr FeatureInfo kFeatures[] = {VMAFX_ADM_FEATURES("integer_", "integer_adm_scale", "", false)};

/* -- Plan ---------------------------------------------------------------------------------------------------------- */

int ceil_log2(int n) { return std::bit_width(static_cast<unsigned>(n) - 1); }

/* Sizes and shifts of the scale that decomposes an in_w x in_h plane. */
AdmScale make_scale(int index, int in_w, int in_h, int bpc) {
  AdmScale s = {adm_extent(in_w, in_h)};
  s.vertical_shift = adm_vertical_shift(index, bpc);
  s.horizontal_shift = adm_horizontal_shift(index);
  /* A row of 2^(w's bits) largest cubes still fits 64 bits, a column of rows again. */
  for (int band = 0; band < kAdmBands; band++)
    s.cube_shift[band] = index > 0 ? ceil_log2(s.w) : std::max(0, ceil_log2(s.w) - (band < 2 ? 4 : 3));
  s.row_shift = ceil_log2(s.h);
  if (index > 0) {
    s.den_cube_shift = ceil_log2(s.right - s.left);
    s.den_row_shift = ceil_log2(s.bottom - s.top);
  } else {
    s.den_row_shift = std::max(0, ceil_log2((s.bottom - s.top) * (s.right - s.left)) - 20);
  }
  return s;
}

AdmViewing viewing(const AdmOptions& options) {
  return {static_cast<AdmCsfMode>(options.csf_mode), options.view_dist, options.display_height, options.csf_scale,
          options.csf_diag_scale};
}

/* -- Sums to scores, with libvmaf's floats and doubles ------------------------------------------------------------- */

float cube_root(float x) { return std::pow(x, 1.0f / 3.0f); }

/* Binary places of a masked cube, and of a cube of the reference, before the shifts of AdmScale: three times those of
 * the weighted coefficient, less what squaring drops. */
int num_places(int index, int band) {
  constexpr int kPlaces[kAdmScales] = {52, 45, 39, 36};
  return index == 0 && band == 2 ? 57 : kPlaces[index];
}
constexpr int kDenPlaces[kAdmScales] = {18, 32, 27, 23};

/* `sensitivity_unit`: see adm_fixed_sensitivity(). */
double num_unit(const AdmScale& s, int index, int band, int sensitivity_unit) {
  return std::ldexp(1.0, num_places(index, band) - s.cube_shift[band] - s.row_shift - 3 * sensitivity_unit);
}
double den_unit(const AdmScale& s, int index) {
  return std::ldexp(1.0, kDenPlaces[index] - s.den_cube_shift - s.den_row_shift);
}
double cubed(const AdmSensitivity& sensitivity, int band) {
  return std::pow(static_cast<double>(band < 2 ? sensitivity.straight : sensitivity.diagonal), 3.0);
}

float pooled_num(const AdmScale& s, int index, const int64_t (&sums)[kAdmBands], int sensitivity_unit,
                 double noise_weight) {
  const float noise = adm_noise_floor(s, noise_weight, 3);
  float parts[kAdmBands];
  for (int band = 0; band < kAdmBands; band++) {
    const double unit = num_unit(s, index, band, sensitivity_unit);
    const float sum =
        index == 0 ? static_cast<float>(sums[band] / unit) : static_cast<float>(sums[band]) / static_cast<float>(unit);
    parts[band] = cube_root(sum) + noise;
  }
  return parts[0] + parts[1] + parts[2];
}

float pooled_den(const AdmScale& s, int index, const uint64_t (&sums)[kAdmBands], const AdmSensitivity& sensitivity,
                 double noise_weight) {
  const float noise = adm_noise_floor(s, noise_weight, 3);
  const double unit = den_unit(s, index);
  float parts[kAdmBands];
  for (int band = 0; band < kAdmBands; band++) {
    parts[band] = cube_root(static_cast<float>(sums[band] / unit * cubed(sensitivity, band))) + noise;
  }
  return parts[0] + parts[1] + parts[2];
}

/* -- Blocks, in sums with maps: they follow AdmSums, scale by scale ------------------------------------------------ */

size_t first_block(const AdmParams& params, int scale) {
  return blocks_before(scale, [&](int s) { return AdmBlocks::grid(params.scale[s], s); });
}

const AdmBlockSums* blocks_of(const AdmParams& params, const void* sums, int scale) {
  return reinterpret_cast<const AdmBlockSums*>(static_cast<const AdmSums*>(sums) + 1) + first_block(params, scale);
}

/* The map of a scale: what is lost there, or what is added. */
struct AdmMap {
  int scale;
  bool added;

  AdmMap(const AdmParams& params, size_t place)
      : scale(static_cast<int>(place / (params.measure_aim ? 2 : 1)) + params.skip_scale0),
        added(params.measure_aim && place % 2) {}
};

/* Factors that turn raw sums of a scale into cubes of visible contrast, and how much each band's cubes weigh. */
struct AdmCubes {
  double den[kAdmBands], num[kAdmBands], weight[kAdmBands] = {1, 1, 1};

  double lost(const AdmBlockSums& block) const {
    return sum([&](int band) {
      return static_cast<double>(block.csf_den[band]) * den[band] - static_cast<double>(block.dlm[band]) * num[band];
    });
  }
  double added(const AdmBlockSums& block) const {
    return sum([&](int band) { return static_cast<double>(block.aim[band]) * num[band]; });
  }

 private:
  template <class OfBand>
  double sum(OfBand of_band) const {
    double sum = 0;
    for (int band = 0; band < kAdmBands; band++) sum += weight[band] * of_band(band);
    return sum;
  }
};

/* -- The extractor ------------------------------------------------------------------------------------------------- */

struct Sensitivities {
  std::array<AdmSensitivity, kAdmScales> factors;
  std::array<int, kAdmScales> units = {};  // for AdmScale::rfactor, see adm_fixed_sensitivity()

  AdmCubes cubes(const AdmScale& scale, int index) const {
    AdmCubes cubes;
    for (int band = 0; band < kAdmBands; band++) {
      cubes.den[band] = cubed(factors[index], band) / den_unit(scale, index);
      cubes.num[band] = 1 / num_unit(scale, index, band, units[index]);
    }
    return cubes;
  }
};

/* Sets of options: how each views the picture, and what its scores take from that. */
struct Sets {
  std::vector<size_t> view;  // for each set, the place in AdmParams::views
  Sensitivities first;       // the first set's
};

/* Scores the first of its sets of options. */
class Adm : public Metric<AdmParams, AdmSums, AdmScores> {
 public:
  Adm(const AdmOptions& options, const AdmParams& params, Sets sets, const Twins<AdmParams, AdmSums>& twins,
      Placement placement)
      : Metric(params, twins, adm_provided(kFeatures, options.debug), placement), options_(options),
        view_of_set_(std::move(sets.view)), sensitivities_(sets.first) {}

  size_t sums_bytes() const override { return params_.views.size() * sizeof(AdmSums); }
  size_t sums_offset(size_t variant) const override { return view_of_set_[variant] * sizeof(AdmSums); }
  bool read_deviation(const void* sums, ScoreId score, size_t map, std::span<double> values) const override;

 private:
  AdmScores scores(const AdmSums& sums) const override {
    AdmScaleScore scales[kAdmScales];
    for (int s = params_.skip_scale0 ? 1 : 0; s < kAdmScales; s++) {
      const AdmScale& scale = params_.scale[s];
      const int unit = sensitivities_.units[s];
      scales[s].num = pooled_num(scale, s, sums.dlm[s], unit, options_.noise_weight);
      scales[s].den = pooled_den(scale, s, sums.csf_den[s], sensitivities_.factors[s], options_.noise_weight);
      if (params_.measure_aim) scales[s].aim_num = pooled_num(scale, s, sums.aim[s], unit, 0);
    }
    AdmScores scores = adm_combined(scales, params_.scale[0]);
    const double adm3 = scores.adm2 * options_.dlm_weight + (1 - scores.aim) * (1 - options_.dlm_weight);
    scores.adm3 = adm3 > options_.min_val ? adm3 : options_.min_val;
    return scores;
  }

  const AdmOptions options_;
  const std::vector<size_t> view_of_set_;
  const Sensitivities sensitivities_;
};

/* A band's blocks share the difference of the roots by their cubes, which are what adds up. */
bool Adm::read_deviation(const void* sums, ScoreId score, size_t place, std::span<double> values) const {
  const AdmMap map(params_, place);
  const auto& of_frame = *static_cast<const AdmSums*>(sums);
  const AdmScores all = scores(of_frame);
  const double weight = score == kFeatures[3 + map.scale].score
                            ? adm_scale_deviation_weight(all, map.scale, map.added)
                            : adm_deviation_weight(all, score, map.added, options_.dlm_weight);
  if (weight == 0) return false;
  AdmCubes cubes = sensitivities_.cubes(params_.scale[map.scale], map.scale);
  for (int band = 0; band < kAdmBands; band++) {
    const double dlm = static_cast<double>(of_frame.dlm[map.scale][band]) * cubes.num[band];
    const double den = static_cast<double>(of_frame.csf_den[map.scale][band]) * cubes.den[band];
    const double aim = static_cast<double>(of_frame.aim[map.scale][band]) * cubes.num[band];
    cubes.weight[band] = weight * (map.added ? adm_per_cube(aim, 0) : adm_per_cube(den, dlm));
  }
  const AdmBlockSums* const blocks = blocks_of(params_, sums, map.scale);
  for (size_t n = 0; n < values.size(); n++) values[n] = map.added ? cubes.added(blocks[n]) : cubes.lost(blocks[n]);
  return true;
}

constexpr Twins<AdmParams, AdmSums> kTwins = {
    .plain = {adm_scratch_bytes_plain, on_luma<adm_plain>},
    .simd = {adm_scratch_bytes_simd, on_luma<adm_simd>, adm_encodes_scratch_bytes_simd,
             on_luma_of_encodes<adm_encodes_simd>},
    .device = adm_hip,
};

/* What does not depend on how the picture is viewed. */
AdmParams early_params(const AdmOptions& options, const VideoFormat& format) {
  AdmParams params;
  params.bpc = format.bpc;
  params.gain_limit = options.gain_limit;
  params.measure_aim = !options.skip_aim;
  params.skip_scale0 = options.skip_scale0;
  int w = format.w, h = format.h;
  for (int s = 0; s < kAdmScales; s++) {
    params.scale[s] = make_scale(s, w, h, format.bpc);
    w = params.scale[s].w;
    h = params.scale[s].h;
  }
  return params;
}

StatusOr<AdmView> view_of(const AdmOptions& options, Sensitivities& sensitivities) {
  VMAFX_TRY(adm_sensitivities(viewing(options), sensitivities.factors));
  AdmView view;
  for (int s = 0; s < kAdmScales; s++)
    sensitivities.units[s] = adm_fixed_sensitivity(viewing(options), s, sensitivities.factors[s], view.rfactor[s]);
  return view;
}

/* Viewing distances and displays may come to the same view: 1080 lines from 3 heights are 2160 from 1.5. */
StatusOr<AdmParams> params_of(std::span<const AdmOptions> options, const VideoFormat& format, Sets& sets) {
  if (format.w < kAdmMinSize || format.h < kAdmMinSize)
    return error(EINVAL, "adm: %dx%d is too small; its coarsest scale needs pictures of at least %dx%d", format.w,
                 format.h, kAdmMinSize, kAdmMinSize);
  AdmParams params = early_params(options.front(), format);
  for (const AdmOptions& set : options) {
    Sensitivities sensitivities;
    VMAFX_ASSIGN(const AdmView view, view_of(set, sensitivities));
    if (params.views.empty()) sets.first = sensitivities;
    sets.view.push_back(static_cast<size_t>(std::ranges::find(params.views, view) - params.views.begin()));
    if (sets.view.back() == params.views.size()) params.views.push_back(view);
  }
  return params;
}

Created create_shared(std::span<const AdmOptions> options, const VideoFormat& format, Placement placement) {
  Sets sets;
  VMAFX_ASSIGN(const AdmParams params, params_of(options, format, sets));
  return std::unique_ptr<Extractor>(new Adm(options.front(), params, std::move(sets), kTwins, placement));
}

Created create(const AdmOptions& options, const VideoFormat& format, Placement placement) {
  return create_shared({&options, 1}, format, placement);
}

static_assert(kMostVariants <= kAdmMostViews);

/* -- Maps: the cubes of the detail that is lost, and of what is added ---------------------------------------------- */

constexpr const char* kLostNames[] = {"adm_scale0_lost", "adm_scale1_lost", "adm_scale2_lost", "adm_scale3_lost"};
constexpr const char* kAddedNames[] = {"adm_scale0_added", "adm_scale1_added", "adm_scale2_added", "adm_scale3_added"};
constexpr const char* kMapUnit = "cubed visible contrast";

/* For each scale that is scored what is lost, and what is added. */
std::vector<MapInfo> maps_of(const AdmParams& params) {
  std::vector<MapInfo> maps;
  for (int s = params.skip_scale0; s < kAdmScales; s++) {
    const BlockGrid grid = AdmBlocks::grid(params.scale[s], s);
    const int side = grid.side << (s + 1);
    maps.push_back({kLostNames[s], kMapUnit, grid.w, grid.h, side, side});
    if (params.measure_aim) maps.push_back({kAddedNames[s], kMapUnit, grid.w, grid.h, side, side});
  }
  return maps;
}

/* Raw sums: AdmSums, then the blocks' of each scale. */
class AdmMapping final : public MappingExtractor {
 public:
  AdmMapping(const AdmParams& params, const Sensitivities& sensitivities, Placement placement)
      : MappingExtractor({}, maps_of(params)), params_(params), sensitivities_(sensitivities),
        device_twin_(placement == Placement::kDevice ? adm_mapped_hip(params).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }

  size_t sums_bytes() const override {
    return sizeof(AdmSums) + first_block(params_, kAdmScales) * sizeof(AdmBlockSums);
  }
  size_t scratch_bytes() const override {
    return use_plain_cpu() ? adm_scratch_bytes_plain(params_) : adm_scratch_bytes_simd(params_);
  }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override;
  void read_map(const void* sums, size_t map, std::span<double> values) const override;

 private:
  const AdmParams params_;
  const Sensitivities sensitivities_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

void AdmMapping::extract(const FrameSet& frames, std::byte* scratch, void* sums) const {
  auto& of_frame = *static_cast<AdmSums*>(sums);
  AdmBlocks blocks;
  for (int s = 0; s < kAdmScales; s++)
    blocks.scale[s] = reinterpret_cast<AdmBlockSums*>(&of_frame + 1) + first_block(params_, s);
  const auto twin = use_plain_cpu() ? adm_mapped_plain : adm_mapped_simd;
  twin(params_, frames.ref.plane[0], frames.dist.plane[0], scratch, of_frame, blocks);
}

void AdmMapping::read_map(const void* sums, size_t place, std::span<double> values) const {
  const AdmMap map(params_, place);
  const AdmCubes cubes = sensitivities_.cubes(params_.scale[map.scale], map.scale);
  const AdmBlockSums* const blocks = blocks_of(params_, sums, map.scale);
  for (size_t n = 0; n < values.size(); n++) values[n] = map.added ? cubes.added(blocks[n]) : cubes.lost(blocks[n]);
}

Created create_mapping(const AdmOptions& options, const VideoFormat& format, Placement placement) {
  Sets sets;
  VMAFX_ASSIGN(const AdmParams params, params_of({&options, 1}, format, sets));
  return std::unique_ptr<Extractor>(new AdmMapping(params, sets.first, placement));
}

}  // namespace

StatusOr<AdmParams> adm_params(std::span<const Options> options, const VideoFormat& format) {
  std::vector<AdmOptions> fields;
  for (const Options& set : options) fields.push_back(set.fields<AdmOptions>());
  Sets sets;
  return params_of(fields, format, sets);
}

constexpr ExtractorInfo kAdmExtractor = {
    .name = "adm",
    .measures = "detail",
    .help = "detail loss and additive impairment at four scales, integer arithmetic",
    .range = "0 to 1; more where contrast is raised",
    .flags = kHip | kMaps,
    .features = kFeatures,
    .options = kOptions,
    .create = with_fields<create>,
    .create_shared = with_sets_of_fields<create_shared>,
    .create_mapping = with_fields<create_mapping>,
};

}  // namespace vmafx
