/* Options of `motion` and `float_motion`, and the way from the motion of frames to motion2 and motion3: which frames
 * are compared, and how a stream begins and ends.
 *
 *     motion2[n] = min(m[n], m[n+1]), at most max_val; of the last frame m[n]; of frame 0: 0
 *     motion3[n] = m2·f + (1 - f)·min(offset, m2), at most max_val, with m2 of frame n before the clip; of frame 0 m[1]
 *
 * A step of 2 compares with the frame before the last: motion2[n] is min(m[n-1], m[n+1]), and frames 0 and 1 are what
 * frame 0 is above. moving_average halves motion3 with that of the frame before. A frame's scores are known one frame
 * later. */
#ifndef VMAFX_KERNELS_MOTION_MOTION_SCORES_H
#define VMAFX_KERNELS_MOTION_MOTION_SCORES_H

#include <cstdint>

#include "kernels/metric.h"

namespace vmafx {

struct MotionSharedOptions {
  bool force_zero = false;
  double blend_factor = 1, blend_offset = 40, fps_weight = 1, max_val = 10000;
};

/* In a struct derived from them that has a member `debug`. */
template <class Fields>
struct MotionOption {
  static constexpr OptionInfo kForceZero =
      option<&MotionSharedOptions::force_zero, Fields>("motion_force_zero", "force_0", "make every motion score 0");
  static constexpr OptionInfo kBlendFactor = scoring(option<&MotionSharedOptions::blend_factor, Fields>(
      "motion_blend_factor", "mbf", 0, 1, "slope of motion3 above motion_blend_offset"));
  static constexpr OptionInfo kBlendOffset = scoring(option<&MotionSharedOptions::blend_offset, Fields>(
      "motion_blend_offset", "mbo", 0, 1000, "motion from which motion3 is blended"));
  static constexpr OptionInfo kFpsWeight = scoring(option<&MotionSharedOptions::fps_weight, Fields>(
      "motion_fps_weight", "mfw", 0, 5, "factor that corrects for the frame rate"));
  static constexpr OptionInfo kMaxVal = scoring(option<&MotionSharedOptions::max_val, Fields>(
      "motion_max_val", "mmxv", 0, 10000, "largest score; larger ones are clipped"));
  static constexpr OptionInfo kDebug =
      scoring(adding(option<&Fields::debug>("debug", nullptr, "provide the motion score of two frames too")));
};

struct MotionScores {
  double sad, motion, motion2, motion3;
};
constexpr ScoreId kSadId = VMAFX_SCORE(MotionScores, sad), kMotionId = VMAFX_SCORE(MotionScores, motion),
                  kMotion2Id = VMAFX_SCORE(MotionScores, motion2), kMotion3Id = VMAFX_SCORE(MotionScores, motion3);

constexpr FeatureInfo motion_feature(const char* name, const char* key, ScoreId score, FirstScore first_score) {
  return {.name = name, .key = key, .score = score, .first_score = first_score, .worse = Worse::kNeither};
}

/* The scores of a stream, frame by frame. */
class MotionStream {
 public:
  /* `step`: frames between the two that are compared; frames before that have no motion. */
  MotionStream(const MotionSharedOptions& options, int step, bool moving_average)
      : options_(options), step_(step), moving_average_(moving_average) {}

  /* motion2 has the differences on both sides of its frame, the earlier of which begins 2 * step - 1 frames before it;
   * an average has motion3 of the frame before, too. */
  static Reach reach(int step, bool moving_average) {
    return {.before = 2 * step - 1 + moving_average, .after = 1, .first = step + 1};
  }

  /* The motion of the next frame; of the first `step` ones it does not matter. */
  void add(double motion, NamedScores scores);
  Status flush(NamedScores scores);

 private:
  double blend(double motion) const;
  void put_first(double motion3, NamedScores& scores);
  void put(int64_t frame, double motion2, NamedScores& scores);

  const MotionSharedOptions options_;
  const int step_;
  const bool moving_average_;
  int64_t frames_ = 0;         // so far
  double before_[2] = {};      // the values of frames frames_-1 and frames_-2
  double blended_before_ = 0;  // motion3 of the last frame that has one, not averaged
};

/* The scorer of a metric whose motion_of() computes a frame's motion from its raw sums. */
template <class Metric>
class MotionScorer final : public StreamScorer {
 public:
  MotionScorer(const Metric& metric, const MotionStream& stream) : metric_(metric), stream_(stream) {}

  void finalize(int64_t, const void* sums, ScoreSink& sink) override {
    stream_.add(metric_.motion_of(sums), {metric_.features(), sink});
  }
  Status flush(ScoreSink& sink) override { return stream_.flush({metric_.features(), sink}); }

 private:
  const Metric& metric_;
  MotionStream stream_;
};

}  // namespace vmafx

#endif
