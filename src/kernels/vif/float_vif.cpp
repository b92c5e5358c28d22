#include "kernels/vif/float_vif.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"
#include "kernels/steps/row_sums.h"
#include "kernels/vif/vif_scores.h"

namespace vmafx {
namespace {

struct FloatVifOptions : VifOptions {
  double kernelscale = 1, prescale = 1, sigma_nsq = 2;
  double scale1_min_val = 0, scale2_min_val = 0, scale3_min_val = 0;
  std::string_view prescale_method = "nearest";
};

constexpr OptionInfo kOptions[] = {
    scoring(adding(option<&VifOptions::debug, FloatVifOptions>("debug", nullptr,
                                                               "also provide vif and the num and den of every scale"))),
    kVifGainLimit<FloatVifOptions>,
    option<&FloatVifOptions::kernelscale>("vif_kernelscale", "ks", 0.1, 4,
                                          "factor of the windows' sizes, one of libvmaf's list"),
    option<&FloatVifOptions::prescale>("vif_prescale", "ps", 0.1, 4, "factor that scales the pictures first"),
    scoring(option<&FloatVifOptions::scale1_min_val>("vif_scale1_min_val", "s1miv", 0, 1,
                                                     "smallest score of scale 1; smaller ones are raised")),
    scoring(option<&FloatVifOptions::scale2_min_val>("vif_scale2_min_val", "s2miv", 0, 1,
                                                     "smallest score of scale 2; smaller ones are raised")),
    scoring(option<&FloatVifOptions::scale3_min_val>("vif_scale3_min_val", "s3miv", 0, 1,
                                                     "smallest score of scale 3; smaller ones are raised")),
    option<&FloatVifOptions::prescale_method>("vif_prescale_method", "pm", "nearest, bilinear, bicubic or lanczos4"),
    option<&FloatVifOptions::sigma_nsq>("vif_sigma_nsq", "snsq", 0, 5, "noise variance of the eye"),
    kVifSkipScale0<FloatVifOptions>,
};

constexpr FeatureInfo kFeatures[] = {VMAFX_VIF_FEATURES("")};

/* The blocks of a scale, in sums with maps: they follow FloatVifSums. Where pictures are scaled first, they are blocks
 * of the scaled ones. */
const FloatVifBlockSums* blocks_of(const FloatVifParams& params, const void* sums, int scale) {
  return reinterpret_cast<const FloatVifBlockSums*>(static_cast<const FloatVifSums*>(sums) + 1) +
         static_cast<size_t>(scale) * float_vif_blocks(params).blocks();
}

class FloatVif : public Metric<FloatVifParams, FloatVifSums, VifScores> {
 public:
  FloatVif(const FloatVifOptions& options, const FloatVifParams& params,
           const Twins<FloatVifParams, FloatVifSums>& twins, Placement placement)
      : Metric(params, twins, vif_provided(kFeatures, options.debug), placement),
        least_{0, options.scale1_min_val, options.scale2_min_val, options.scale3_min_val} {}

  bool read_deviation(const void* sums, ScoreId score, size_t map, std::span<double> values) const override {
    const int scale = static_cast<int>(map) + params_.skip_scale0;
    if (score != kFeatures[scale].score) return false;
    const FloatVifBlockSums* const blocks = blocks_of(params_, sums, scale);
    const double den = static_cast<double>(sum_of_word(static_cast<const FloatVifSums*>(sums)->scale[scale].den));
    for (size_t n = 0; n < values.size(); n++) values[n] = (blocks[n].den - blocks[n].num) / den;
    return true;
  }

  double score_region(const void* sums, ScoreId score, BlockShares shares) const override {
    const int scale = vif_scale_of(kFeatures, score), map = scale - params_.skip_scale0;
    if (map < 0) return kVifSkipped.score;
    const FloatVifBlockSums* const blocks = blocks_of(params_, sums, scale);
    const double of_region = vif_of_region(
        shares[map], [blocks](size_t n) { return blocks[n].den - blocks[n].num; },
        [blocks](size_t n) { return blocks[n].den; });
    return of_region < least_[scale] ? least_[scale] : of_region;
  }

 private:
  VifScores scores(const FloatVifSums& sums) const override {
    VifRatio scales[kFloatVifScales];
    for (int s = 0; s < kFloatVifScales; s++) {
      const double num = sum_of_word(sums.scale[s].num), den = sum_of_word(sums.scale[s].den);
      scales[s] = {num, den, s == 0 ? num / den : std::max(num / den, least_[s])};
    }
    return vif_scores(scales, params_.skip_scale0);
  }

  const double least_[kFloatVifScales];
};

constexpr Twins<FloatVifParams, FloatVifSums> kTwins = {
    .plain = {float_vif_scratch_bytes_plain, on_luma<float_vif_plain>},
    .simd = {float_vif_scratch_bytes_simd, on_luma<float_vif_simd>},
    .device = float_vif_hip,
};

FloatVifEye eye_of(const FloatVifOptions& options) {
  FloatVifEye eye;
  eye.noise = options.sigma_nsq;
  const auto noise = static_cast<float>(eye.noise);
  eye.least_variance = noise < eye.noise ? std::nextafter(noise, std::numeric_limits<float>::infinity()) : noise;
  int exponent;
  eye.inverse_noise = std::frexp(eye.noise, &exponent) == 0.5 ? 1 / noise : 0;
  eye.flat_loss = static_cast<float>(noise * noise / 65025.0);
  eye.gain_limit = static_cast<float>(options.gain_limit);
  return eye;
}

/* Windows reflect once: the planes that they run on, their own scale's and the one before, exceed their half. */
Status check_sizes(const FloatVifParams& params) {
  for (int s = 0; s < kFloatVifScales; s++) {
    const int least = params.window[s].half + 1;
    if (params.w >> s < least || params.h >> s < least)
      return error(EINVAL, "float_vif: %dx%d is too small; with these options it needs pictures of at least %dx%d",
                   params.w, params.h, least << s, least << s);
  }
  return {};
}

StatusOr<FloatVifParams> params_of(const FloatVifOptions& options, const VideoFormat& format) {
  if (!is_vif_kernelscale(options.kernelscale))
    return error(EINVAL, "float_vif: vif_kernelscale %g is none of %s", options.kernelscale, kVifKernelscales);
  PrescaleMethod method;
  VMAFX_ASSIGN(method, prescale_method("float_vif", options.prescale_method));

  FloatVifParams params;
  params.w = prescaled_size(format.w, options.prescale);
  params.h = prescaled_size(format.h, options.prescale);
  params.bpc = format.bpc;
  params.skip_scale0 = options.skip_scale0;
  params.eye = eye_of(options);
  for (int s = 0; s < kFloatVifScales; s++) params.window[s] = vif_window(s, options.kernelscale);
  VMAFX_TRY(check_sizes(params));
  if (params.w != format.w || params.h != format.h)
    params.prescaler = std::make_shared<Prescaler>(method, format.w, format.h, params.w, params.h);
  return params;
}

Created create(const FloatVifOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const FloatVifParams params, params_of(options, format));
  return std::unique_ptr<Extractor>(new FloatVif(options, params, kTwins, placement));
}

/* -- Maps: the information that is lost, den - num of each block --------------------------------------------------- */

std::vector<MapInfo> maps_of(const FloatVifParams& params, const VideoFormat& format) {
  constexpr const char* kNames[] = {"float_vif_scale0", "float_vif_scale1", "float_vif_scale2", "float_vif_scale3"};
  const BlockGrid grid = float_vif_blocks(params);
  const auto of_picture = [&](int size, int scaled) {
    return static_cast<int>(std::lround(1.0 * grid.side * size / scaled));
  };
  std::vector<MapInfo> maps;
  for (const char* name : std::span(kNames).subspan(params.skip_scale0))
    maps.push_back({name, "lost information, bits", grid.w, grid.h, of_picture(format.w, params.w),
                    of_picture(format.h, params.h)});
  return maps;
}

/* Raw sums: FloatVifSums, then the blocks' of each scale. */
class FloatVifMapping final : public MappingExtractor {
 public:
  FloatVifMapping(const FloatVifParams& params, const VideoFormat& format, Placement placement)
      : MappingExtractor({}, maps_of(params, format)), params_(params),
        device_twin_(placement == Placement::kDevice ? float_vif_mapped_hip(params).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }
  size_t sums_bytes() const override {
    return sizeof(FloatVifSums) + kFloatVifScales * float_vif_blocks(params_).blocks() * sizeof(FloatVifBlockSums);
  }
  size_t scratch_bytes() const override {
    return use_plain_cpu() ? float_vif_scratch_bytes_plain(params_) : float_vif_scratch_bytes_simd(params_);
  }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    auto& of_frame = *static_cast<FloatVifSums*>(sums);
    FloatVifBlocks blocks = {{}, float_vif_blocks(params_)};
    for (int s = 0; s < kFloatVifScales; s++)
      blocks.scale[s] = reinterpret_cast<FloatVifBlockSums*>(&of_frame + 1) + s * blocks.grid.blocks();
    const auto twin = use_plain_cpu() ? float_vif_mapped_plain : float_vif_mapped_simd;
    twin(params_, frames.ref.plane[0], frames.dist.plane[0], scratch, of_frame, blocks);
  }
  void read_map(const void* sums, size_t map, std::span<double> values) const override {
    const FloatVifBlockSums* const blocks = blocks_of(params_, sums, static_cast<int>(map) + params_.skip_scale0);
    for (size_t n = 0; n < values.size(); n++) values[n] = blocks[n].den - blocks[n].num;
  }

 private:
  const FloatVifParams params_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

Created create_mapping(const FloatVifOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const FloatVifParams params, params_of(options, format));
  return std::unique_ptr<Extractor>(new FloatVifMapping(params, format, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatVifExtractor = {
    .name = "float_vif",
    .measures = "information",
    .help = "visual information fidelity at four scales, floating-point arithmetic",
    .range = "0 to 1; more where contrast is raised",
    .flags = kHip | kMaps,
    .features = kFeatures,
    .options = kOptions,
    .create = with_fields<create>,
    .create_mapping = with_fields<create_mapping>,
};

}  // namespace vmafx
