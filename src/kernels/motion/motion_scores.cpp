/* The order of the operations is libvmaf's: its scores are met to the bit. */
#include "kernels/motion/motion_scores.h"

#include <algorithm>

namespace vmafx {
double MotionStream::blend(double motion) const {
  const double factor = options_.blend_factor;
  return std::min(motion * factor + (1 - factor) * std::min(options_.blend_offset, motion), options_.max_val);
}

/* motion3 of the frames before the first difference. */
void MotionStream::put_first(double motion3, NamedScores& scores) {
  for (int64_t frame = 0; frame < std::min<int64_t>(frames_, step_); frame++) scores.put(frame, kMotion3Id, motion3);
  blended_before_ = motion3;
}

void MotionStream::put(int64_t frame, double motion2, NamedScores& scores) {
  const double blended = blend(motion2);
  scores.put(frame, kMotion2Id, std::min(motion2, options_.max_val));
  scores.put(frame, kMotion3Id, moving_average_ ? (blended + blended_before_) / 2.0 : blended);
  blended_before_ = blended;
}

void MotionStream::add(double motion, NamedScores scores) {
  const int64_t frame = frames_;
  if (frame < step_) motion = 0;
  scores.put(frame, kSadId, motion);
  scores.put(frame, kMotionId, std::min(motion, options_.max_val));
  if (frame < step_) scores.put(frame, kMotion2Id, 0.0);
  if (frame == step_) put_first(blend(motion), scores);
  if (frame > step_) {
    const bool has_earlier = frame >= 2 * step_;  // a difference on the other side of frame-1
    put(frame - 1, has_earlier ? std::min(before_[step_ - 1], motion) : motion, scores);
  }
  before_[1] = before_[0];
  before_[0] = motion;
  frames_++;
}

Status MotionStream::flush(NamedScores scores) {
  if (frames_ <= step_) put_first(0.0, scores);
  else put(frames_ - 1, before_[0], scores);
  return {};
}

}  // namespace vmafx
