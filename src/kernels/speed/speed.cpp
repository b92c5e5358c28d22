#include "kernels/speed/speed.h"

#include <algorithm>
#include <cerrno>
#include <span>

#include "kernels/device_twin.h"
#include "kernels/metric.h"
#include "kernels/steps/row_sums.h"

namespace vmafx {
namespace {

/* speed_temporal has all but the last, speed_chroma all but the first. */
constexpr OptionInfo kOptions[] = {
    option<&SpeedOptions::use_ref_diff>("speed_use_ref_diff", "urd",
                                        "subtract the reference from the distorted picture before"),
    option<&SpeedOptions::kernelscale>("speed_kernelscale", "ks", 0.1, 4, "scale of the windows"),
    option<&SpeedOptions::prescale>("speed_prescale", "ps", 0.1, 4, "scale of the pictures"),
    option<&SpeedOptions::prescale_method>("speed_prescale_method", "psm",
                                           "how pictures are scaled: nearest, bilinear, bicubic or lanczos4"),
    option<&SpeedOptions::sigma_nn>("speed_sigma_nn", "snn", 0.1, 2, "strength of neural noise"),
    option<&SpeedOptions::nn_floor>("speed_nn_floor", "nnf", 0, 1, "noise above this part of speed_sigma_nn is seen"),
    scoring(option<&SpeedOptions::max_val>("speed_max_val", "mxv", 0, 1000, "largest score; larger ones are clipped")),
    option<&SpeedOptions::weight_var_mode>("speed_weight_var_mode", "wvm", 0, 6,
                                           "whose variances weigh the entropies: 0 each its own, 1 ref, 2 dist, "
                                           "3 their mean, 4 to 6 ref, and for dist 1/2, "
                                           "3/4, 1/4 of ref"),
};
constexpr std::span kAllOptions = kOptions;

/* Distances of 0 for equal pictures: the farther, the worse. */
constexpr FeatureInfo speed_feature(const char* name, const char* key, ScoreId score) {
  return with_best(0, {.name = name, .key = key, .score = score, .worse = Worse::kHigh});
}

/* Before it is clipped. */
float score_of(const SpeedPlan& plan, const SpeedSums& sums) {
  return sum_of_word(sums.difference) / static_cast<float>(plan.shape.blocks());
}
double clipped(const SpeedPlan& plan, float score) { return std::min<double>(score, plan.max_val); }

size_t scratch_bytes(const SpeedPlan& plan) { return plan.scratch_bytes(); }
size_t encodes_scratch_bytes(const SpeedPlan& plan, int) { return plan.scratch_bytes(); }

template <auto run_encodes, class Sums>
constexpr CpuTwin<SpeedPlan, Sums> twin_of = {scratch_bytes, of_one<run_encodes>, encodes_scratch_bytes, run_encodes};

/* -- speed_chroma -------------------------------------------------------------------------------------------------- */

struct SpeedChromaSums {
  SpeedSums u, v;
};

struct SpeedChromaScores {
  double u, v, uv;
};

constexpr FeatureInfo kChromaFeatures[] = {
    speed_feature("Speed_chroma_feature_speed_chroma_u_score", "speed_chroma_u", VMAFX_SCORE(SpeedChromaScores, u)),
    speed_feature("Speed_chroma_feature_speed_chroma_v_score", "speed_chroma_v", VMAFX_SCORE(SpeedChromaScores, v)),
    read_alone(speed_feature("Speed_chroma_feature_speed_chroma_uv_score", "speed_chroma_uv",
                             VMAFX_SCORE(SpeedChromaScores, uv))),
};

class SpeedChroma : public Metric<SpeedPlan, SpeedChromaSums, SpeedChromaScores> {
 public:
  using Metric::Metric;

  Reads reads() const override { return {.ref = 6, .dist = 6}; }

 private:
  SpeedChromaScores scores(const SpeedChromaSums& sums) const override {
    const float u = score_of(params_, sums.u), v = score_of(params_, sums.v);
    const bool no_u = sums.u.singular, no_v = sums.v.singular;
    const float uv = no_u && !no_v ? v : no_v && !no_u ? u : (u + v) / 2;
    return {clipped(params_, u), clipped(params_, v), clipped(params_, uv)};
  }
};

template <SpeedTwin twin>
void run_chroma(const SpeedPlan& plan, std::span<const FrameSet> frames, std::byte* scratch,
                std::span<SpeedChromaSums* const> sums) {
  SpeedPlane dists[kMostEncodes];
  SpeedSums* of_plane[kMostEncodes];
  for (const int p : {1, 2}) {
    for (size_t i = 0; i < frames.size(); i++) {
      dists[i] = {frames[i].dist.plane[p]};
      of_plane[i] = p == 1 ? &sums[i]->u : &sums[i]->v;
    }
    twin(plan, {frames[0].ref.plane[p]}, {dists, frames.size()}, scratch, {of_plane, frames.size()});
  }
}

constexpr Twins<SpeedPlan, SpeedChromaSums> kChromaTwins = {
    .plain = twin_of<run_chroma<speed_plain>, SpeedChromaSums>,
    .simd = twin_of<run_chroma<speed_simd>, SpeedChromaSums>,
    .device = speed_hip,
};

Created create_chroma(const SpeedOptions& options, const VideoFormat& format, Placement placement) {
  if (format.planes() == 1) return error(EINVAL, "speed_chroma: it scores chroma, and this video has none");
  VMAFX_ASSIGN(const SpeedPlan plan, SpeedPlan::create("speed_chroma", options, format, {.first = 1, .count = 2}));
  return std::unique_ptr<Extractor>(new SpeedChroma(plan, kChromaTwins, kChromaFeatures, placement));
}

/* -- speed_temporal ------------------------------------------------------------------------------------------------ */

struct SpeedTemporalScores {
  double speed;
};

constexpr FeatureInfo kTemporalFeatures[] = {read_alone(speed_feature(
    "Speed_temporal_feature_speed_temporal_score", "speed_temporal", VMAFX_SCORE(SpeedTemporalScores, speed)))};

class SpeedTemporal : public Metric<SpeedPlan, SpeedSums, SpeedTemporalScores> {
 public:
  using Metric::Metric;

  Reads reads() const override {
    return {.ref = 1, .dist = 1, .history = 1, .every_frame = true, .reach = {.before = 1}};
  }

 private:
  SpeedTemporalScores scores(const SpeedSums& sums) const override {
    return {clipped(params_, score_of(params_, sums))};
  }
};

template <SpeedTwin twin>
void run_temporal(const SpeedPlan& plan, std::span<const FrameSet> frames, std::byte* scratch,
                  std::span<SpeedSums* const> sums) {
  if (frames[0].index == 0) return; /* nothing before: a score of 0 */
  const SpeedPlane ref = {frames[0].ref.plane[0], frames[0].earlier_ref[0].plane[0]};
  SpeedPlane dists[kMostEncodes];
  for (size_t i = 0; i < frames.size(); i++)
    dists[i] = {plan.planes.ref_diff ? ref.now : frames[i].dist.plane[0], frames[i].earlier_dist[0].plane[0]};
  twin(plan, ref, {dists, frames.size()}, scratch, sums);
}

constexpr Twins<SpeedPlan, SpeedSums> kTemporalTwins = {
    .plain = twin_of<run_temporal<speed_plain>, SpeedSums>,
    .simd = twin_of<run_temporal<speed_simd>, SpeedSums>,
    .device = speed_hip,
};

Created create_temporal(const SpeedOptions& options, const VideoFormat& format, Placement placement) {
  const SpeedPlanes luma = {.in_time = true, .ref_diff = options.use_ref_diff};
  VMAFX_ASSIGN(const SpeedPlan plan, SpeedPlan::create("speed_temporal", options, format, luma));
  return std::unique_ptr<Extractor>(new SpeedTemporal(plan, kTemporalTwins, kTemporalFeatures, placement));
}

}  // namespace

constexpr ExtractorInfo kSpeedChromaExtractor = {
    .name = "speed_chroma",
    .measures = "color",
    .help = "SpEED-QA of the chroma planes",
    .range = "from 0 up",
    .flags = kHip,
    .features = kChromaFeatures,
    .main_score = "speed_chroma_uv",
    .options = kAllOptions.subspan<1>(),
    .create = with_fields<create_chroma>,
};

constexpr ExtractorInfo kSpeedTemporalExtractor = {
    .name = "speed_temporal",
    .measures = "flicker",
    .help = "SpEED-QA of the differences of successive frames",
    .range = "from 0 up",
    .flags = kHip,
    .features = kTemporalFeatures,
    .options = kAllOptions.first<std::size(kOptions) - 1>(),
    .create = with_fields<create_temporal>,
};

}  // namespace vmafx
