#include "kernels/speed/speed.h"

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/cpu.h"
#include "kernels/steps/row_sums.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

using Type = OptionInfo::Type;

constexpr OptionInfo kKernelscale = {"speed_kernelscale", "ks", Type::kDouble, 1, 0.1, 4, true, "scale of the windows"};
constexpr OptionInfo kPrescale = {"speed_prescale", "ps", Type::kDouble, 1, 0.1, 4, true, "scale of the pictures"};
constexpr OptionInfo kPrescaleMethod = {"speed_prescale_method", "psm", Type::kString, 0, 0, 0, true,
                                        "how pictures are scaled: nearest, bilinear, bicubic or lanczos4", "nearest"};
constexpr OptionInfo kSigma = {"speed_sigma_nn", "snn", Type::kDouble, 0.29, 0.1, 2, true, "strength of neural noise"};
constexpr OptionInfo kFloor = {"speed_nn_floor", "nnf", Type::kDouble, 0, 0, 1, true,
                               "noise above this part of speed_sigma_nn is seen"};
constexpr OptionInfo kMaxVal = {"speed_max_val", "mxv", Type::kDouble, 1000, 0, 1000, true,
                                "largest score; larger ones are clipped"};
constexpr OptionInfo kWeightMode = {"speed_weight_var_mode", "wvm", Type::kInt, 0, 0, 6, true,
                                    "whose variances weigh the entropies: 0 each its own, 1 ref, 2 dist, 3 their mean, "
                                    "4 to 6 ref, and for dist 1/2, 3/4, 1/4 of ref"};
constexpr OptionInfo kRefDiff = {"speed_use_ref_diff", "urd", Type::kBool, 0, 0, 1, true,
                                 "subtract the reference from the distorted picture before"};

constexpr OptionInfo kChromaOptions[] = {kKernelscale, kPrescale, kPrescaleMethod, kSigma, kFloor, kMaxVal,
                                         kWeightMode};
constexpr OptionInfo kTemporalOptions[] = {kKernelscale, kPrescale, kPrescaleMethod, kSigma, kFloor, kMaxVal, kRefDiff};

/* Distances: the farther, the worse. */
constexpr FeatureInfo speed_feature(const char* name, const char* key) {
  return {.name = name, .key = key, .worse = Worse::kHigh};
}
constexpr FeatureInfo kChromaFeatures[] = {speed_feature("Speed_chroma_feature_speed_chroma_u_score", "speed_chroma_u"),
                                           speed_feature("Speed_chroma_feature_speed_chroma_v_score", "speed_chroma_v"),
                                           speed_feature("Speed_chroma_feature_speed_chroma_uv_score", "speed_chroma_uv")};
constexpr FeatureInfo kTemporalFeatures[] = {
    speed_feature("Speed_temporal_feature_speed_temporal_score", "speed_temporal")};

/* What both have in common. */
class Speed : public Extractor {
 public:
  Speed(SpeedPlan plan, const Options& options, const VideoFormat& format, const SpeedPlanes& planes, Placement placement)
      : plan_(std::move(plan)), planes_(planes), max_val_(options.number("speed_max_val")) {
    if (placement == Placement::kDevice) device_twin_ = speed_hip(plan_, format, planes_);
  }

  size_t scratch_bytes() const override { return plan_.scratch_bytes(); }
  DeviceTwin* device_twin() override { return device_twin_.get(); }

 protected:
  float score(const SpeedSums& sums) const {
    return sum_of_word(sums.difference) / static_cast<float>(plan_.shape.blocks());
  }

  const SpeedPlan plan_;
  const SpeedPlanes planes_;
  const double max_val_;
  decltype(&speed_simd) const twin_ = use_reference_cpu() ? speed_ref : speed_simd;
  std::unique_ptr<DeviceTwin> device_twin_;
};

class SpeedChroma : public Speed {
 public:
  using Speed::Speed;

  std::span<const FeatureInfo> features() const override { return kChromaFeatures; }
  Reads reads() const override { return {.ref = 6, .dist = 6, .history = 0, .every_frame = false}; }
  size_t sums_bytes() const override { return 2 * sizeof(SpeedSums); }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    for (int p = 1; p <= 2; p++)
      twin_(plan_, {frames.ref.plane[p]}, {frames.dist.plane[p]}, scratch, static_cast<SpeedSums*>(sums) + p - 1);
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    const auto* planes = static_cast<const SpeedSums*>(sums);
    const float u = score(planes[0]), v = score(planes[1]);
    const bool no_u = planes[0].singular, no_v = planes[1].singular;
    const float uv = no_u && !no_v ? v : no_v && !no_u ? u : (u + v) / 2;
    sink.put(frame, 0, std::min<double>(u, max_val_));
    sink.put(frame, 1, std::min<double>(v, max_val_));
    sink.put(frame, 2, std::min<double>(uv, max_val_));
  }

  static StatusOr<std::unique_ptr<Extractor>> create(const Options& options, const VideoFormat& format, Placement placement) {
    if (format.planes() == 1) return error(EINVAL, "speed_chroma: a video without chroma has none to score");
    VMAFX_ASSIGN(SpeedPlan plan, SpeedPlan::create("speed_chroma", options, format.plane_w(1), format.plane_h(1),
                                                   format.bpc, options.integer("speed_weight_var_mode")));
    const SpeedPlanes chroma = {.first = 1, .count = 2};
    return std::unique_ptr<Extractor>(new SpeedChroma(std::move(plan), options, format, chroma, placement));
  }
};

class SpeedTemporal : public Speed {
 public:
  using Speed::Speed;

  std::span<const FeatureInfo> features() const override { return kTemporalFeatures; }
  Reads reads() const override { return {.ref = 1, .dist = 1, .history = 1, .every_frame = true}; }
  size_t sums_bytes() const override { return sizeof(SpeedSums); }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    if (frames.index == 0) return; /* nothing before: a score of 0 */
    const SamplePlane &ref = frames.ref.plane[0], &dist = frames.dist.plane[0];
    const SamplePlane &old_ref = frames.earlier_ref[0].plane[0], &old_dist = frames.earlier_dist[0].plane[0];
    twin_(plan_, {ref, old_ref}, {planes_.ref_diff ? ref : dist, old_dist}, scratch, static_cast<SpeedSums*>(sums));
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    sink.put(frame, 0, std::min<double>(score(*static_cast<const SpeedSums*>(sums)), max_val_));
  }

  static StatusOr<std::unique_ptr<Extractor>> create(const Options& options, const VideoFormat& format, Placement placement) {
    VMAFX_ASSIGN(SpeedPlan plan, SpeedPlan::create("speed_temporal", options, format.w, format.h, format.bpc, 0));
    const SpeedPlanes luma = {.in_time = true, .ref_diff = options.flag("speed_use_ref_diff")};
    return std::unique_ptr<Extractor>(new SpeedTemporal(std::move(plan), options, format, luma, placement));
  }
};

}  // namespace

constexpr ExtractorInfo kSpeedChromaExtractor = {
    .name = "speed_chroma",
    .help = "SpEED-QA of the chroma planes",
    .flags = kHip,
    .features = kChromaFeatures,
    .options = kChromaOptions,
    .create = SpeedChroma::create,
};

constexpr ExtractorInfo kSpeedTemporalExtractor = {
    .name = "speed_temporal",
    .help = "SpEED-QA of the differences of successive frames",
    .flags = kHip,
    .features = kTemporalFeatures,
    .options = kTemporalOptions,
    .create = SpeedTemporal::create,
};

}  // namespace vmafx
