#include "kernels/motion/motion.h"

#include <algorithm>
#include <cerrno>

#include "base/cpu.h"
#include "kernels/motion/motion_scores.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

using Type = OptionInfo::Type;

constexpr OptionInfo kOptions[] = {
    {"motion_force_zero", "force_0", Type::kBool, 0, 0, 1, true, "make every motion score 0"},
    {"motion_blend_factor", "mbf", Type::kDouble, 1.0, 0, 1, true, "slope of motion3 above motion_blend_offset"},
    {"motion_blend_offset", "mbo", Type::kDouble, 40.0, 0, 1000, true, "motion from which motion3 is blended"},
    {"motion_fps_weight", "mfw", Type::kDouble, 1.0, 0, 5, true, "factor that corrects for the frame rate"},
    {"motion_max_val", "mmxv", Type::kDouble, 10000.0, 0, 10000, true, "largest score; larger ones are clipped"},
    {"motion_five_frame_window", "mffw", Type::kBool, 0, 0, 1, true, "compare with the frame before the last"},
    {"motion_moving_average", "mma", Type::kBool, 0, 0, 1, true, "average motion3 with that of the frame before"},
    {"debug", nullptr, Type::kBool, 0, 0, 1, false, "provide the motion score of two frames too"},
};

constexpr FeatureInfo motion_feature(const char* name, const char* key, FirstScore first_score) {
  return {.name = name, .key = key, .first_score = first_score, .worse = Worse::kNeither};
}
constexpr FeatureInfo kSad = motion_feature("VMAF_integer_feature_motion_sad_score",
                                            "VMAF_integer_feature_motion_sad_score", FirstScore::kWithItsFrame);
constexpr FeatureInfo kMotion =
    motion_feature("VMAF_integer_feature_motion_score", "integer_motion", FirstScore::kWithItsFrame);
constexpr FeatureInfo kMotion2 =
    motion_feature("VMAF_integer_feature_motion2_score", "integer_motion2", FirstScore::kAtTheEnd);
constexpr FeatureInfo kMotion3 =
    motion_feature("VMAF_integer_feature_motion3_score", "integer_motion3", FirstScore::kAtTheEnd);

constexpr FeatureInfo kFeatures[] = {kSad, kMotion2, kMotion3};
constexpr FeatureInfo kDebugFeatures[] = {kSad, kMotion, kMotion2, kMotion3};

class Motion : public Extractor {
 public:
  Motion(const Options& options, const VideoFormat& format, Placement placement)
      : force_zero_(options.flag("motion_force_zero")),
        fps_weight_(options.number("motion_fps_weight")),
        max_val_(options.number("motion_max_val")),
        step_(options.flag("motion_five_frame_window") ? 2 : 1),
        debug_(options.flag("debug")),
        format_(format),
        scores_({.blend_factor = options.number("motion_blend_factor"),
                 .blend_offset = options.number("motion_blend_offset"),
                 .max_val = max_val_,
                 .step = step_,
                 .moving_average = options.flag("motion_moving_average"),
                 .motion2 = debug_ ? 2 : 1,
                 .motion3 = debug_ ? 3 : 2}),
        device_twin_(placement == Placement::kDevice ? motion_hip(format, reads().history) : nullptr) {}

  std::span<const FeatureInfo> features() const override {
    if (debug_) return kDebugFeatures;
    return kFeatures;
  }
  Reads reads() const override {
    if (force_zero_) return {.ref = 0, .dist = 0, .history = 0, .every_frame = true};
    return {.ref = 1, .dist = 0, .history = step_, .every_frame = true};
  }
  size_t sums_bytes() const override { return sizeof(MotionSums); }
  size_t scratch_bytes() const override { return motion_scratch_bytes(format_.w); }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    if (force_zero_ || frames.index < step_) return;
    static_cast<MotionSums*>(sums)->sad =
        sad_(frames.earlier_ref[step_ - 1].plane[0], frames.ref.plane[0], format_.bpc, scratch);
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override;
  Status flush(ScoreSink& sink) override;
  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  double sad_score(uint64_t sad) const;

  const bool force_zero_;
  const double fps_weight_, max_val_;
  const int step_;  // frames between the two that are compared; frames before that have no difference
  const bool debug_;
  const VideoFormat format_;
  decltype(&motion_sad_simd) const sad_ = use_reference_cpu() ? motion_sad_ref : motion_sad_simd;
  MotionScores scores_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

/* The order of the operations is libvmaf's: its scores are met to the bit. */
double Motion::sad_score(uint64_t sad) const {
  const uint32_t samples = static_cast<uint32_t>(format_.w) * static_cast<uint32_t>(format_.h);
  return std::min(static_cast<double>(sad) / 256. / samples * fps_weight_, max_val_);
}

void Motion::finalize(int64_t frame, const void* sums, ScoreSink& sink) {
  const double sad = frame < step_ ? 0.0 : sad_score(static_cast<const MotionSums*>(sums)->sad);
  sink.put(frame, 0, sad);
  if (debug_) sink.put(frame, 1, sad);
  scores_.add(sad, sink);
}

Status Motion::flush(ScoreSink& sink) {
  scores_.flush(sink);
  return {};
}

StatusOr<std::unique_ptr<Extractor>> create(const Options& options, const VideoFormat& format, Placement placement) {
  if (!options.flag("motion_force_zero") && (format.w < kMotionMinSize || format.h < kMotionMinSize))
    return error(EINVAL, "motion needs pictures of at least %dx%d; these are %dx%d", kMotionMinSize, kMotionMinSize,
                 format.w, format.h);
  return std::unique_ptr<Extractor>(new Motion(options, format, placement));
}

}  // namespace

constexpr ExtractorInfo kMotionExtractor = {
    .name = "motion",
    .help = "motion of the reference: difference of blurred neighbouring frames",
    .flags = kHip,
    .features = kDebugFeatures,
    .options = kOptions,
    .create = create,
};

}  // namespace vmafx
