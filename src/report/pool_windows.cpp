#include "report/pool_windows.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>

namespace vmafx {
namespace {

/* Containers round times, Matroska to milliseconds: a frame so little ahead of a boundary is at it. */
constexpr double kRounding = 0.000501;

}  // namespace

StatusOr<PoolWindowRule> parse_window(const std::string& text) {
  if (text.empty()) return PoolWindowRule{};
  if (text == "keyframe") return PoolWindowRule{.at_keyframes = true};
  PoolWindowRule rule;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, rule.seconds, std::chars_format::fixed);
  if (failure == std::errc() && rest == end && rule.seconds >= 0.001 && rule.seconds <= 1e9) return rule;
  return error(EINVAL, "window=%s: use a number of seconds, 0.001 or more, or keyframe", text.c_str());
}

Status PoolWindows::add(std::optional<double> seconds, bool keyframe) {
  bool starts = starts_.empty() || (rule_.at_keyframes && keyframe);
  if (rule_.seconds > 0) {
    if (!seconds)
      return error(EINVAL, "window=%g goes by the times of frames, and frame %lld has none", rule_.seconds,
                   static_cast<long long>(frames_));
    if (starts_.empty()) first_seconds_ = *seconds;
    const double passed = *seconds - first_seconds_ + kRounding;
    starts |= passed >= next_seconds_;
    if (starts) next_seconds_ = (std::floor(std::max(passed, 0.) / rule_.seconds) + 1) * rule_.seconds;
  }
  if (starts) starts_.push_back({frames_, seconds});
  frames_++;
  return {};
}

std::optional<size_t> PoolWindows::window_of(int64_t frame) const {
  const auto after = std::ranges::upper_bound(starts_, frame, {}, &Start::frame);
  if (after == starts_.begin()) return std::nullopt;
  return static_cast<size_t>(after - starts_.begin()) - 1;
}

std::optional<int64_t> PoolWindows::begin_of(int64_t frame) const {
  const auto i = window_of(frame);
  return i ? std::optional(starts_[*i].frame) : std::nullopt;
}

std::optional<size_t> PoolWindows::ending_with(int64_t frame) const {
  const auto i = window_of(frame);
  return i && *i < known() && frames(*i).end == frame + 1 ? i : std::nullopt;
}

PooledFrames pool_frames(const ScoreTable& table, FrameRange frames, const Pool& pool, int n_subsample) {
  PooledFrames pooled{.frames = frames};
  for (int column = 0; column < table.columns(); column++)
    pooled.scores.push_back(pool_column(pool, pool_values(table, column, n_subsample, frames)));
  return pooled;
}

}  // namespace vmafx
