/* Pool windows: a stream cut into parts of frames that follow one another, whose scores are pooled for themselves. */
#ifndef VMAFX_REPORT_POOL_WINDOWS_H
#define VMAFX_REPORT_POOL_WINDOWS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "report/pooling.h"
#include "report/scores.h"

namespace vmafx {

/* The end of a window: a time since the first frame that is a multiple of `seconds`, or the next key frame. */
struct PoolWindowRule {
  double seconds = 0;
  bool at_keyframes = false;

  bool any() const { return seconds > 0 || at_keyframes; }
};

/* "2", "0.5": seconds; "keyframe"; "" for none. EINVAL: something else. */
StatusOr<PoolWindowRule> parse_window(const std::string& text);

class PoolWindows {
 public:
  PoolWindows() = default;  // none
  explicit PoolWindows(PoolWindowRule rule) : rule_(rule) {}

  bool any() const { return rule_.any(); }
  bool at_keyframes() const { return rule_.at_keyframes; }

  /* Before the first frame: it has this number, not 0. */
  void begin_at(int64_t frame) { frames_ = frame; }

  /* The next frame of the stream. EINVAL: the rule goes by times, and this frame has none. */
  Status add(std::optional<double> seconds, bool keyframe);

  /* No more frames come: the last window ends here. */
  void end() { ended_ = true; }

  /* Windows whose last frame is known, and the frames of one of them. */
  size_t known() const { return starts_.empty() ? 0 : starts_.size() - !ended_; }
  FrameRange frames(size_t i) const {
    return {starts_[i].frame, i + 1 < starts_.size() ? starts_[i + 1].frame : frames_};
  }
  std::optional<double> time(size_t i) const { return starts_[i].seconds; }  // of its first frame

  /* Whether it is known if a frame is the last of its window. */
  bool knows(int64_t frame) const { return ended_ || frame + 1 < frames_; }

  /* The first frame of the window that this frame, which was added or is the next one, is in or would be; nullopt:
   * there are no windows. */
  std::optional<int64_t> begin_of(int64_t frame) const;

  /* The window that ends with this frame; nullopt: none does. */
  std::optional<size_t> ending_with(int64_t frame) const;

 private:
  struct Start {
    int64_t frame;
    std::optional<double> seconds;
  };

  std::optional<size_t> window_of(int64_t frame) const;

  PoolWindowRule rule_;
  std::vector<Start> starts_;
  int64_t frames_ = 0;
  double first_seconds_ = 0, next_seconds_ = 0;
  bool ended_ = false;
};

/* The pooled scores of a window, or of a whole stream. */
struct PooledFrames {
  FrameRange frames;
  std::optional<double> time{};                 // of the first of them, in seconds
  std::vector<std::optional<double>> scores{};  // of each column of the table; nullopt: it has none here
};

PooledFrames pool_frames(const ScoreTable& table, FrameRange frames, const Pool& pool, int n_subsample);

}  // namespace vmafx

#endif
