#include "kernels/speed/speed.h"

#include <algorithm>
#include <cerrno>
#include <span>

#include "kernels/metric.h"
#include "kernels/steps/row_sums.h"

namespace vmafx {
namespace {

template <class Fields>
struct SpeedOption {
  static constexpr OptionInfo kKernelscale =
      option<&SpeedOptions::kernelscale, Fields>("speed_kernelscale", "ks", 0.1, 4, "scale of the windows");
  static constexpr OptionInfo kPrescale =
      option<&SpeedOptions::prescale, Fields>("speed_prescale", "ps", 0.1, 4, "scale of the pictures");
  static constexpr OptionInfo kPrescaleMethod = option<&SpeedOptions::prescale_method, Fields>(
      "speed_prescale_method", "psm", "how pictures are scaled: nearest, bilinear, bicubic or lanczos4");
  static constexpr OptionInfo kSigma =
      option<&SpeedOptions::sigma_nn, Fields>("speed_sigma_nn", "snn", 0.1, 2, "strength of neural noise");
  static constexpr OptionInfo kFloor = option<&SpeedOptions::nn_floor, Fields>(
      "speed_nn_floor", "nnf", 0, 1, "noise above this part of speed_sigma_nn is seen");
  static constexpr OptionInfo kMaxVal =
      option<&SpeedOptions::max_val, Fields>("speed_max_val", "mxv", 0, 1000, "largest score; larger ones are clipped");
};

/* Distances: the farther, the worse. */
constexpr FeatureInfo speed_feature(const char* name, const char* key, ScoreId score) {
  return {.name = name, .key = key, .score = score, .worse = Worse::kHigh};
}

/* What is computed of a frame. */
struct SpeedFrame {
  SpeedPlan plan;
  VideoFormat format;
  SpeedPlanes planes;
  double max_val;

  float score(const SpeedSums& sums) const {
    return sum_of_word(sums.difference) / static_cast<float>(plan.shape.blocks());
  }
  double clipped(float score) const { return std::min<double>(score, max_val); }
};

size_t scratch_bytes(const SpeedFrame& frame) { return frame.plan.scratch_bytes(); }

std::unique_ptr<DeviceTwin> device(const SpeedFrame& frame) {
  return speed_hip(frame.plan, frame.format, frame.planes);
}

/* -- speed_chroma -------------------------------------------------------------------------------------------------- */

using OfChroma = SpeedOption<SpeedChromaOptions>;

constexpr OptionInfo kChromaOptions[] = {
    OfChroma::kKernelscale,
    OfChroma::kPrescale,
    OfChroma::kPrescaleMethod,
    OfChroma::kSigma,
    OfChroma::kFloor,
    OfChroma::kMaxVal,
    option<&SpeedChromaOptions::weight_var_mode>("speed_weight_var_mode", "wvm", 0, 6,
                                                 "whose variances weigh the entropies: 0 each its own, 1 ref, 2 dist, "
                                                 "3 their mean, 4 to 6 ref, and for dist 1/2, "
                                                 "3/4, 1/4 of ref"),
};

struct SpeedChromaSums {
  SpeedSums u, v;
};

struct SpeedChromaScores {
  double u, v, uv;
};

constexpr FeatureInfo kChromaFeatures[] = {
    speed_feature("Speed_chroma_feature_speed_chroma_u_score", "speed_chroma_u", VMAFX_SCORE(SpeedChromaScores, u)),
    speed_feature("Speed_chroma_feature_speed_chroma_v_score", "speed_chroma_v", VMAFX_SCORE(SpeedChromaScores, v)),
    speed_feature("Speed_chroma_feature_speed_chroma_uv_score", "speed_chroma_uv", VMAFX_SCORE(SpeedChromaScores, uv)),
};

class SpeedChroma : public Metric<SpeedFrame, SpeedChromaSums, SpeedChromaScores> {
 public:
  using Metric::Metric;

  Reads reads() const override { return {.ref = 6, .dist = 6}; }

 private:
  SpeedChromaScores scores(const SpeedChromaSums& sums) override {
    const float u = params_.score(sums.u), v = params_.score(sums.v);
    const bool no_u = sums.u.singular, no_v = sums.v.singular;
    const float uv = no_u && !no_v ? v : no_v && !no_u ? u : (u + v) / 2;
    return {params_.clipped(u), params_.clipped(v), params_.clipped(uv)};
  }
};

template <auto twin>
void run_chroma(const SpeedFrame& frame, const FrameSet& frames, std::byte* scratch, SpeedChromaSums& sums) {
  twin(frame.plan, {frames.ref.plane[1]}, {frames.dist.plane[1]}, scratch, &sums.u);
  twin(frame.plan, {frames.ref.plane[2]}, {frames.dist.plane[2]}, scratch, &sums.v);
}

constexpr Twins<SpeedFrame, SpeedChromaSums> kChromaTwins = {
    .ref = {scratch_bytes, run_chroma<speed_ref>},
    .simd = {scratch_bytes, run_chroma<speed_simd>},
    .device = device,
};

Created create_chroma(const SpeedChromaOptions& options, const VideoFormat& format, Placement placement) {
  if (format.planes() == 1) return error(EINVAL, "speed_chroma: a video without chroma has none to score");
  VMAFX_ASSIGN(SpeedPlan plan, SpeedPlan::create("speed_chroma", options, format.plane_w(1), format.plane_h(1),
                                                 format.bpc, options.weight_var_mode));
  const SpeedFrame frame = {std::move(plan), format, {.first = 1, .count = 2}, options.max_val};
  return std::unique_ptr<Extractor>(new SpeedChroma(frame, kChromaTwins, kChromaFeatures, placement));
}

/* -- speed_temporal ------------------------------------------------------------------------------------------------ */

struct SpeedTemporalOptions : SpeedOptions {
  bool use_ref_diff = false;
};
using InTime = SpeedOption<SpeedTemporalOptions>;

constexpr OptionInfo kTemporalOptions[] = {
    InTime::kKernelscale,
    InTime::kPrescale,
    InTime::kPrescaleMethod,
    InTime::kSigma,
    InTime::kFloor,
    InTime::kMaxVal,
    option<&SpeedTemporalOptions::use_ref_diff>("speed_use_ref_diff", "urd",
                                                "subtract the reference from the distorted picture before"),
};

struct SpeedTemporalScores {
  double speed;
};

constexpr FeatureInfo kTemporalFeatures[] = {speed_feature("Speed_temporal_feature_speed_temporal_score",
                                                           "speed_temporal", VMAFX_SCORE(SpeedTemporalScores, speed))};

class SpeedTemporal : public Metric<SpeedFrame, SpeedSums, SpeedTemporalScores> {
 public:
  using Metric::Metric;

  Reads reads() const override { return {.ref = 1, .dist = 1, .history = 1, .every_frame = true}; }

 private:
  SpeedTemporalScores scores(const SpeedSums& sums) override { return {params_.clipped(params_.score(sums))}; }
};

template <auto twin>
void run_temporal(const SpeedFrame& frame, const FrameSet& frames, std::byte* scratch, SpeedSums& sums) {
  if (frames.index == 0) return; /* nothing before: a score of 0 */
  const SamplePlane &ref = frames.ref.plane[0], &dist = frames.dist.plane[0];
  const SamplePlane &old_ref = frames.earlier_ref[0].plane[0], &old_dist = frames.earlier_dist[0].plane[0];
  twin(frame.plan, {ref, old_ref}, {frame.planes.ref_diff ? ref : dist, old_dist}, scratch, &sums);
}

constexpr Twins<SpeedFrame, SpeedSums> kTemporalTwins = {
    .ref = {scratch_bytes, run_temporal<speed_ref>},
    .simd = {scratch_bytes, run_temporal<speed_simd>},
    .device = device,
};

Created create_temporal(const SpeedTemporalOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(SpeedPlan plan, SpeedPlan::create("speed_temporal", options, format.w, format.h, format.bpc, 0));
  const SpeedPlanes luma = {.in_time = true, .ref_diff = options.use_ref_diff};
  const SpeedFrame frame = {std::move(plan), format, luma, options.max_val};
  return std::unique_ptr<Extractor>(new SpeedTemporal(frame, kTemporalTwins, kTemporalFeatures, placement));
}

}  // namespace

constexpr ExtractorInfo kSpeedChromaExtractor = {
    .name = "speed_chroma",
    .help = "SpEED-QA of the chroma planes",
    .flags = kHip,
    .features = kChromaFeatures,
    .options = kChromaOptions,
    .create = with_fields<create_chroma>,
};

constexpr ExtractorInfo kSpeedTemporalExtractor = {
    .name = "speed_temporal",
    .help = "SpEED-QA of the differences of successive frames",
    .flags = kHip,
    .features = kTemporalFeatures,
    .options = kTemporalOptions,
    .create = with_fields<create_temporal>,
};

}  // namespace vmafx
