#include "kernels/motion/motion.h"

#include <algorithm>
#include <cerrno>

#include "kernels/device_twin.h"
#include "kernels/metric.h"
#include "kernels/motion/motion_scores.h"

namespace vmafx {
namespace {

struct MotionOptions : MotionSharedOptions {
  bool five_frame_window = false, moving_average = false, debug = false;
};
using Shared = MotionOption<MotionOptions>;

constexpr OptionInfo kOptions[] = {
    Shared::kForceZero,
    Shared::kBlendFactor,
    Shared::kBlendOffset,
    Shared::kFpsWeight,
    Shared::kMaxVal,
    option<&MotionOptions::five_frame_window>("motion_five_frame_window", "mffw",
                                              "compare with the frame before the last"),
    scoring(option<&MotionOptions::moving_average>("motion_moving_average", "mma",
                                                   "average motion3 with that of the frame before")),
    Shared::kDebug,
};

constexpr FeatureInfo kFeatures[] = {
    motion_feature("VMAF_integer_feature_motion_sad_score", "VMAF_integer_feature_motion_sad_score", kSadId,
                   FirstScore::kWithItsFrame),
    motion_feature("VMAF_integer_feature_motion_score", "integer_motion", kMotionId, FirstScore::kWithItsFrame),
    motion_feature("VMAF_integer_feature_motion2_score", "integer_motion2", kMotion2Id, FirstScore::kAtTheEnd),
    motion_feature("VMAF_integer_feature_motion3_score", "integer_motion3", kMotion3Id, FirstScore::kAtTheEnd),
};

std::vector<FeatureInfo> provided(bool debug) {
  std::vector<FeatureInfo> features(std::begin(kFeatures), std::end(kFeatures));
  if (!debug) std::erase_if(features, [](const FeatureInfo& feature) { return feature.score == kMotionId; });
  return features;
}

class Motion : public TwinExtractor<MotionParams, MotionSums> {
 public:
  Motion(const MotionOptions& options, const MotionParams& params, const Twins<MotionParams, MotionSums>& twins,
         Placement placement)
      : TwinExtractor(params, twins, provided(options.debug), placement), options_(options) {}

  Reads reads() const override {
    if (params_.force_zero) return {.ref = 0, .dist = 0, .history = 0, .every_frame = true, .reach = {}};
    return {.ref = 1,
            .dist = 0,
            .history = params_.step,
            .every_frame = true,
            .reach = MotionStream::reach(params_.step, options_.moving_average)};
  }

  std::unique_ptr<StreamScorer> make_scorer() const override {
    return std::make_unique<MotionScorer<Motion>>(*this, MotionStream(options_, params_.step, options_.moving_average));
  }

  /* The order of the operations is libvmaf's: its scores are met to the bit. */
  double motion_of(const void* sums) const {
    const uint64_t sad = static_cast<const MotionSums*>(sums)->sad;
    const uint32_t samples = static_cast<uint32_t>(params_.format.w) * static_cast<uint32_t>(params_.format.h);
    return std::min(static_cast<double>(sad) / 256. / samples * options_.fps_weight, options_.max_val);
  }

 private:
  const MotionOptions options_;
};

template <auto sad>
void run(const MotionParams& params, const FrameSet& frames, std::byte* scratch, MotionSums& sums) {
  if (params.force_zero || frames.index < params.step) return;
  sums.sad = sad(frames.earlier_ref[params.step - 1].plane[0], frames.ref.plane[0], params.format.bpc, scratch);
}

constexpr Twins<MotionParams, MotionSums> kTwins = {
    .plain = {motion_scratch_bytes, run<motion_sad_plain>},
    .simd = {motion_scratch_bytes, run<motion_sad_simd>},
    .device = motion_hip,
};

Created create(const MotionOptions& options, const VideoFormat& format, Placement placement) {
  if (!options.force_zero && (format.w < kMotionMinSize || format.h < kMotionMinSize))
    return error(EINVAL, "motion needs pictures of at least %dx%d; these are %dx%d", kMotionMinSize, kMotionMinSize,
                 format.w, format.h);
  const MotionParams params = {format, options.five_frame_window ? 2 : 1, options.force_zero};
  return std::unique_ptr<Extractor>(new Motion(options, params, kTwins, placement));
}

}  // namespace

constexpr ExtractorInfo kMotionExtractor = {
    .name = "motion",
    .measures = "movement",
    .help = "motion of the reference: difference of blurred neighboring frames",
    .range = "0 to 255, as 8-bit samples",
    .flags = kHip,
    .features = kFeatures,
    .main_score = "integer_motion2",
    .options = kOptions,
    .create = with_fields<create>,
};

}  // namespace vmafx
