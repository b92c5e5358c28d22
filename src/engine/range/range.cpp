#include "engine/range/range.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <string_view>

#include "report/score_format.h"

namespace vmafx {
namespace {

constexpr double kMicroseconds = 1e6;
constexpr double kMostSeconds = 1e9;

/* Twice rounded, so that the last bit of a double does not decide what half a millisecond is. */
int64_t milliseconds(int64_t microseconds) {
  const int64_t up = microseconds + 500;
  return up / 1000 - (up % 1000 < 0);
}
/* Clamps times far beyond the ends of any range, which the arithmetic could not hold. */
int64_t milliseconds_of(double seconds) {
  return milliseconds(std::llround(std::clamp(seconds, -2 * kMostSeconds, 2 * kMostSeconds) * kMicroseconds));
}

/* Reads the whole text as a number. */
template <class Number, class... Format>
std::optional<Number> number_of(std::string_view text, Format... format) {
  Number number = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), number, format...);
  const bool whole = failure == std::errc() && rest == text.data() + text.size();
  return whole && !text.starts_with('-') ? std::optional(number) : std::nullopt;
}

std::optional<int64_t> read_pair_number(std::string_view text) {
  const auto number = number_of<int64_t>(text);
  return number && *number < INT32_MAX ? number : std::nullopt;
}

/* Reads seconds as microseconds. */
std::optional<int64_t> read_time(std::string_view text) {
  if (!text.ends_with('s')) return std::nullopt;
  text.remove_suffix(1);
  const auto seconds = number_of<double>(text, std::chars_format::fixed);
  if (!seconds || !(*seconds <= kMostSeconds)) return std::nullopt;
  return std::llround(*seconds * kMicroseconds);
}

}  // namespace

StatusOr<Range> Range::parse(const std::string& text) {
  Range range;
  range.text_ = text;
  if (text.empty()) return range;
  const auto refuse = [&](const char* why) {
    return error(EINVAL,
                 "range=%s%s; use FIRST-LAST, numbers of frame pairs counted from 0, or FROMs-TOs, seconds, where the "
                 "second end is not "
                 "part of the range: 100-199, 12.5s-20s. Either end may be left out",
                 text.c_str(), why);
  };
  const size_t dash = text.find('-');
  if (dash == text.npos) return refuse(" is no range");
  const std::string_view first = std::string_view(text).substr(0, dash), last = std::string_view(text).substr(dash + 1);
  range.by_time_ = first.ends_with('s') || last.ends_with('s');
  const auto read = range.by_time_ ? read_time : read_pair_number;
  range.from_ = read(first);
  range.to_ = read(last);
  if ((!first.empty() && !range.from_) || (!last.empty() && !range.to_)) return refuse(" is no range");
  if (range.to_ && !range.by_time_) ++*range.to_;
  const auto whole = [&](int64_t end) { return range.by_time_ ? milliseconds(end) : end; };
  if (range.from_ && range.to_ && whole(*range.from_) >= whole(*range.to_)) return refuse(" has nothing in it");
  return range;
}

StatusOr<Place> Range::place(int64_t number, std::optional<double> seconds) const {
  if (!by_time_) {
    if (from_ && number < *from_) return Place::kBefore;
    return to_ && number >= *to_ ? Place::kAfter : Place::kWithin;
  }
  if (!seconds || std::isnan(*seconds))
    return error(EINVAL, "range=%s goes by the times of frames, and frame %lld has none", text_.c_str(),
                 static_cast<long long>(number));
  const int64_t time = milliseconds_of(*seconds);
  if (from_ && time < milliseconds(*from_)) return Place::kBefore;
  return to_ && time >= milliseconds(*to_) ? Place::kAfter : Place::kWithin;
}

std::string Range::end_text(const std::optional<int64_t>& end) const {
  if (!end) return "null";
  return by_time_ ? fixed_text(static_cast<double>(*end) / kMicroseconds, 6) : std::to_string(*end);
}

}  // namespace vmafx
