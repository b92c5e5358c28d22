/* From the motion of frames to motion2 and motion3, for `motion` and `float_motion`: which frames are compared, and how
 * a stream begins and ends.
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

#include "kernels/extractor.h"

namespace vmafx {

struct MotionScoring {
  double blend_factor = 1, blend_offset = 40, max_val = 10000;
  int step = 1;  // frames between the two that are compared; frames before that have no motion
  bool moving_average = false;
  int motion2 = 0, motion3 = 1;  // indices of the features
};

class MotionScores {
 public:
  explicit MotionScores(const MotionScoring& scoring) : scoring_(scoring) {}

  /* The motion of the next frame; of the first `step` ones it does not matter. */
  void add(double motion, ScoreSink& sink);
  void flush(ScoreSink& sink);

 private:
  double blend(double motion) const;
  void put_first(double motion3, ScoreSink& sink);
  void put(int64_t frame, double motion2, ScoreSink& sink);

  const MotionScoring scoring_;
  int64_t frames_ = 0;            // so far
  double before_[2] = {};         // of frames frames_-1 and frames_-2
  double blended_before_ = 0;     // of the last frame that has its motion3, not averaged
};

}  // namespace vmafx

#endif
