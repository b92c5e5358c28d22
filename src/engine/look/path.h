/* Path: the course of shifts over a stream that its frames' evidence makes the most likely one. */
#ifndef VMAFX_ENGINE_LOOK_PATH_H
#define VMAFX_ENGINE_LOOK_PATH_H

#include <cstdint>
#include <vector>

#include "engine/look/neighbors.h"

namespace vmafx::look {

/* Doubt per shift: how much worse it fits a frame than the best one, in votes of blocks. Small differences are none,
 * and frames that no shift explains have little weight. */
ShiftValues doubt(const FrameEvidence& evidence);

/* What changes tell of another shift than the best one in this: less likely by so much, at most kMostDisbelief. */
inline constexpr float kMostDisbelief = 16;
ShiftValues disbelief(const FrameEvidence& evidence);

/* A frame and its shift on the path. */
struct Step {
  FrameEvidence evidence;
  int shift = 0;
};

/* Finds the path by dynamic programming. A step is given kDelay frames later at the least: so much is remembered, and
 * paths that differ have met by then, or differ in nothing that frames show. */
class Path {
 public:
  /* `by_changes`: what changes from frame to frame counts, too. */
  explicit Path(bool by_changes);

  void add(const FrameEvidence& evidence);

  /* Takes the next step that is settled, all of them once `all` is set; false if there is none. */
  bool next(bool all, Step* step);

 private:
  static constexpr int kDelay = 256, kBatch = 64;

  struct Frame {
    FrameEvidence evidence;
    uint8_t from[kShifts];
    uint8_t shift;
  };

  Frame& at(int64_t place) { return frames_[static_cast<size_t>(place % (kDelay + kBatch))]; }
  void settle(int64_t end);

  const bool by_changes_;
  std::vector<Frame> frames_;
  ShiftValues cost_;
  int64_t added_ = 0, settled_ = 0, given_ = 0;
};

}  // namespace vmafx::look

#endif
