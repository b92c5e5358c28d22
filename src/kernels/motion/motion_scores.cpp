/* The order of the operations is libvmaf's: its scores are met to the bit. */
#include "kernels/motion/motion_scores.h"

#include <algorithm>

namespace vmafx {

double MotionScores::blend(double motion) const {
  const double factor = scoring_.blend_factor;
  return std::min(motion * factor + (1 - factor) * std::min(scoring_.blend_offset, motion), scoring_.max_val);
}

/* motion3 of the frames before the first difference. */
void MotionScores::put_first(double motion3, ScoreSink& sink) {
  for (int64_t frame = 0; frame < std::min<int64_t>(frames_, scoring_.step); frame++)
    sink.put(frame, scoring_.motion3, motion3);
  blended_before_ = motion3;
}

void MotionScores::put(int64_t frame, double motion2, ScoreSink& sink) {
  const double blended = blend(motion2);
  sink.put(frame, scoring_.motion2, std::min(motion2, scoring_.max_val));
  sink.put(frame, scoring_.motion3, scoring_.moving_average ? (blended + blended_before_) / 2.0 : blended);
  blended_before_ = blended;
}

void MotionScores::add(double motion, ScoreSink& sink) {
  const int64_t frame = frames_;
  const int step = scoring_.step;
  if (frame < step) sink.put(frame, scoring_.motion2, 0.0);
  if (frame == step) put_first(blend(motion), sink);
  if (frame > step) {
    const bool has_earlier = frame >= 2 * step;  // a difference on the other side of frame-1
    put(frame - 1, has_earlier ? std::min(before_[step - 1], motion) : motion, sink);
  }
  before_[1] = before_[0];
  before_[0] = motion;
  frames_++;
}

void MotionScores::flush(ScoreSink& sink) {
  if (frames_ <= scoring_.step) put_first(0.0, sink);
  else put(frames_ - 1, before_[0], sink);
}

}  // namespace vmafx
