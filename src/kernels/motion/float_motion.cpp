#include "kernels/motion/float_motion.h"

#include <cerrno>

#include "kernels/device_twin.h"
#include "kernels/metric.h"
#include "kernels/motion/motion_scores.h"
#include "kernels/steps/row_sums.h"

namespace vmafx {
namespace {

struct FloatMotionOptions : MotionSharedOptions {
  bool debug = true, add_scale1 = false, add_uv = false;
  int filter_size = 5;

  int planes() const { return add_uv ? 3 : 1; }
  int taps() const { return filter_size == 1 || filter_size == 3 ? filter_size : 5; }
};
using Shared = MotionOption<FloatMotionOptions>;

constexpr OptionInfo kOptions[] = {
    Shared::kDebug,
    Shared::kForceZero,
    Shared::kFpsWeight,
    Shared::kBlendFactor,
    Shared::kBlendOffset,
    option<&FloatMotionOptions::add_scale1>("motion_add_scale1", "mdc", "add the motion at half the size"),
    option<&FloatMotionOptions::filter_size>("motion_filter_size", "mfs", 0, 9,
                                             "taps of the blur: 1 for none, 3, and 5 for all others"),
    option<&FloatMotionOptions::add_uv>("motion_add_uv", "mau", "add the motion of the chroma planes"),
    Shared::kMaxVal,
};

constexpr FeatureInfo kMotion2 =
    motion_feature("VMAF_feature_motion2_score", "motion2", kMotion2Id, FirstScore::kWithItsFrame);
constexpr FeatureInfo kMotion =
    motion_feature("VMAF_feature_motion_score", "motion", kMotionId, FirstScore::kWithItsFrame);
constexpr FeatureInfo kMotion3 =
    motion_feature("VMAF_feature_motion3_score", "motion3", kMotion3Id, FirstScore::kWithTheNextFrame);
constexpr FeatureInfo kMotion3OfZero =
    motion_feature("VMAF_feature_motion3_score", "motion3", kMotion3Id, FirstScore::kWithItsFrame);

constexpr FeatureInfo kFeatures[] = {kMotion2, kMotion, kMotion3};

std::vector<FeatureInfo> provided(const FloatMotionOptions& options) {
  if (options.force_zero && options.debug) return {kMotion2, kMotion3OfZero, kMotion};
  if (options.force_zero) return {kMotion2, kMotion3OfZero};
  if (options.debug) return {kMotion2, kMotion, kMotion3};
  return {kMotion2, kMotion3};
}

FloatMotionParams params_of(const FloatMotionOptions& options, const VideoFormat& format) {
  FloatMotionParams params = {
      .format = format, .taps = options.taps(), .planes = options.force_zero ? 0 : options.planes()};
  for (int p = 0; options.add_scale1 && p < params.planes; p++) {
    const int w = format.plane_w(p), h = format.plane_h(p);
    params.half_size[p].emplace(PrescaleMethod::kBilinear, w, h, float_motion_half(w), float_motion_half(h));
  }
  return params;
}

class FloatMotion : public TwinExtractor<FloatMotionParams, FloatMotionSums> {
 public:
  FloatMotion(const FloatMotionOptions& options, const FloatMotionParams& params,
              const Twins<FloatMotionParams, FloatMotionSums>& twins, Placement placement)
      : TwinExtractor(params, twins, provided(options), placement), options_(options) {}

  Reads reads() const override {
    if (params_.planes == 0) return {.ref = 0, .dist = 0, .history = 0, .every_frame = true, .reach = {}};
    return {.ref = (1u << params_.planes) - 1,
            .dist = 0,
            .history = 1,
            .every_frame = true,
            .reach = MotionStream::reach(kStep, false)};
  }

  std::unique_ptr<StreamScorer> make_scorer() const override {
    return std::make_unique<MotionScorer<FloatMotion>>(*this, MotionStream(options_, kStep, false));
  }

  double motion_of(const void* sums) const {
    return motion_of(*static_cast<const FloatMotionSums*>(sums)) * options_.fps_weight;
  }

 private:
  static constexpr int kStep = 1;

  /* Means are floats, as in libvmaf. */
  static float mean(uint64_t sum, int w, int h) {
    return sum_of_word(sum) / static_cast<float>(static_cast<int64_t>(w) * h);
  }
  double motion_of(const FloatMotionSums& sums) const {
    double motion = 0;
    for (int p = 0; p < params_.planes; p++) {
      const int w = params_.format.plane_w(p), h = params_.format.plane_h(p);
      motion +=
          mean(sums.plane[p].sad, w, h) + mean(sums.plane[p].half_size_sad, float_motion_half(w), float_motion_half(h));
    }
    return motion;
  }

  const FloatMotionOptions options_;
};

template <auto twin>
void run(const FloatMotionParams& params, const FrameSet& frames, std::byte* scratch, FloatMotionSums& sums) {
  for (int p = 0; frames.index > 0 && p < params.planes; p++)
    twin(params, p, frames.earlier_ref[0].plane[p], frames.ref.plane[p], scratch, sums.plane[p]);
}

constexpr Twins<FloatMotionParams, FloatMotionSums> kTwins = {
    .plain = {float_motion_scratch_bytes_plain, run<float_motion_plain>},
    .simd = {float_motion_scratch_bytes_simd, run<float_motion_simd>},
    .device = float_motion_hip,
};

Created create(const FloatMotionOptions& options, const VideoFormat& format, Placement placement) {
  const int planes = options.planes(), least = options.taps() / 2 + 1;
  if (planes > format.planes()) return error(EINVAL, "float_motion: motion_add_uv needs pictures with chroma planes");
  for (int p = 0; p < planes && !options.force_zero; p++)
    if (format.plane_w(p) < least || format.plane_h(p) < least)
      return error(EINVAL, "float_motion needs planes of at least %dx%d; plane %d is %dx%d", least, least, p,
                   format.plane_w(p), format.plane_h(p));
  return std::unique_ptr<Extractor>(new FloatMotion(options, params_of(options, format), kTwins, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatMotionExtractor = {
    .name = "float_motion",
    .measures = "movement",
    .help = "motion of the reference in floating point: difference of blurred neighboring frames",
    .range = "0 to 255, as 8-bit samples",
    .flags = kHip,
    .features = kFeatures,
    .options = kOptions,
    .create = with_fields<create>,
};

}  // namespace vmafx
