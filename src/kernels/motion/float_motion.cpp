#include "kernels/motion/float_motion.h"

#include <algorithm>
#include <cerrno>

#include "base/cpu.h"
#include "kernels/motion/motion_scores.h"
#include "kernels/steps/row_sums.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

using Type = OptionInfo::Type;

constexpr OptionInfo kOptions[] = {
    {"debug", nullptr, Type::kBool, 1, 0, 1, false, "provide the motion score of two frames too"},
    {"motion_force_zero", "force_0", Type::kBool, 0, 0, 1, true, "make every motion score 0"},
    {"motion_fps_weight", "mfw", Type::kDouble, 1.0, 0, 5, true, "factor that corrects for the frame rate"},
    {"motion_blend_factor", "mbf", Type::kDouble, 1.0, 0, 1, true, "slope of motion3 above motion_blend_offset"},
    {"motion_blend_offset", "mbo", Type::kDouble, 40.0, 0, 1000, true, "motion from which motion3 is blended"},
    {"motion_add_scale1", "mdc", Type::kBool, 0, 0, 1, true, "add the motion at half the size"},
    {"motion_filter_size", "mfs", Type::kInt, 5, 0, 9, true, "taps of the blur: 1 for none, 3, and 5 for all others"},
    {"motion_add_uv", "mau", Type::kBool, 0, 0, 1, true, "add the motion of the chroma planes"},
    {"motion_max_val", "mmxv", Type::kDouble, 10000.0, 0, 10000, true, "largest score; larger ones are clipped"},
};

constexpr FeatureInfo motion_feature(const char* name, const char* key,
                                     FirstScore first_score = FirstScore::kWithItsFrame) {
  return {.name = name, .key = key, .first_score = first_score, .worse = Worse::kNeither};
}
constexpr FeatureInfo kMotion = motion_feature("VMAF_feature_motion_score", "motion");
constexpr FeatureInfo kMotion2 = motion_feature("VMAF_feature_motion2_score", "motion2");
constexpr FeatureInfo kMotion3 =
    motion_feature("VMAF_feature_motion3_score", "motion3", FirstScore::kWithTheNextFrame);
constexpr FeatureInfo kMotion3OfZero = motion_feature("VMAF_feature_motion3_score", "motion3");

constexpr FeatureInfo kFeatures[] = {kMotion2, kMotion3};
constexpr FeatureInfo kDebugFeatures[] = {kMotion2, kMotion, kMotion3};
constexpr FeatureInfo kFeaturesOfZero[] = {kMotion2, kMotion3OfZero, kMotion};  // with debug, else without the last

int index_of_motion(const Options& options) { return options.flag("motion_force_zero") ? 2 : 1; }
int index_of_motion3(const Options& options) {
  return options.flag("motion_force_zero") || !options.flag("debug") ? 1 : 2;
}

int taps_of(const Options& options) {
  const int size = options.integer("motion_filter_size");
  return size == 1 || size == 3 ? size : 5;
}

FloatMotionParams params_of(const Options& options, const VideoFormat& format) {
  FloatMotionParams params;
  params.bpc = format.bpc;
  params.taps = taps_of(options);
  params.planes = options.flag("motion_force_zero") ? 0 : options.flag("motion_add_uv") ? 3 : 1;
  for (int p = 0; options.flag("motion_add_scale1") && p < params.planes; p++) {
    const int w = format.plane_w(p), h = format.plane_h(p);
    params.half_size[p].emplace(PrescaleMethod::kBilinear, w, h, float_motion_half(w), float_motion_half(h));
  }
  return params;
}

class FloatMotion : public Extractor {
 public:
  FloatMotion(const Options& options, const VideoFormat& format, Placement placement)
      : debug_(options.flag("debug")),
        motion_(index_of_motion(options)),
        fps_weight_(options.number("motion_fps_weight")),
        max_val_(options.number("motion_max_val")),
        format_(format),
        params_(params_of(options, format)),
        scores_({.blend_factor = options.number("motion_blend_factor"),
                 .blend_offset = options.number("motion_blend_offset"),
                 .max_val = max_val_,
                 .motion2 = 0,
                 .motion3 = index_of_motion3(options)}),
        device_twin_(placement == Placement::kDevice ? float_motion_hip(params_, format) : nullptr) {}

  std::span<const FeatureInfo> features() const override {
    if (params_.planes == 0) return {kFeaturesOfZero, debug_ ? 3u : 2u};
    if (debug_) return kDebugFeatures;
    return kFeatures;
  }
  Reads reads() const override {
    if (params_.planes == 0) return {.ref = 0, .dist = 0, .history = 0, .every_frame = true};
    return {.ref = params_.planes == 3 ? 7u : 1u, .dist = 0, .history = 1, .every_frame = true};
  }
  size_t sums_bytes() const override { return sizeof(FloatMotionSums); }
  size_t scratch_bytes() const override {
    return use_reference_ ? float_motion_scratch_bytes_ref(format_.w, format_.h)
                          : float_motion_scratch_bytes_simd(format_.w);
  }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    if (frames.index == 0) return;
    const auto twin = use_reference_ ? float_motion_ref : float_motion_simd;
    for (int p = 0; p < params_.planes; p++)
      twin(params_, p, frames.earlier_ref[0].plane[p], frames.ref.plane[p], scratch,
           static_cast<FloatMotionSums*>(sums)->plane[p]);
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    const double motion = frame ? motion_of(*static_cast<const FloatMotionSums*>(sums)) * fps_weight_ : 0;
    if (debug_) sink.put(frame, motion_, std::min(motion, max_val_));
    scores_.add(motion, sink);
  }
  Status flush(ScoreSink& sink) override {
    scores_.flush(sink);
    return {};
  }
  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  /* Means are floats, as in libvmaf. */
  static float mean(uint64_t sum, int w, int h) {
    return sum_of_word(sum) / static_cast<float>(static_cast<int64_t>(w) * h);
  }
  double motion_of(const FloatMotionSums& sums) const {
    double motion = 0;
    for (int p = 0; p < params_.planes; p++) {
      const int w = format_.plane_w(p), h = format_.plane_h(p);
      motion += mean(sums.plane[p].sad, w, h) +
                mean(sums.plane[p].half_size_sad, float_motion_half(w), float_motion_half(h));
    }
    return motion;
  }

  const bool debug_;
  const int motion_;  // index of the feature
  const double fps_weight_, max_val_;
  const VideoFormat format_;
  const FloatMotionParams params_;
  const bool use_reference_ = use_reference_cpu();
  MotionScores scores_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

StatusOr<std::unique_ptr<Extractor>> create(const Options& options, const VideoFormat& format, Placement placement) {
  const int planes = options.flag("motion_add_uv") ? 3 : 1, least = taps_of(options) / 2 + 1;
  if (planes > format.planes()) return error(EINVAL, "float_motion: motion_add_uv needs pictures with chroma planes");
  for (int p = 0; p < planes && !options.flag("motion_force_zero"); p++)
    if (format.plane_w(p) < least || format.plane_h(p) < least)
      return error(EINVAL, "float_motion needs planes of at least %dx%d; plane %d is %dx%d", least, least, p,
                   format.plane_w(p), format.plane_h(p));
  return std::unique_ptr<Extractor>(new FloatMotion(options, format, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatMotionExtractor = {
    .name = "float_motion",
    .help = "motion of the reference in floating point: difference of blurred neighbouring frames",
    .flags = kHip,
    .features = kDebugFeatures,
    .options = kOptions,
    .create = create,
};

}  // namespace vmafx
