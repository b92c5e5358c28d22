/* Ranges: the part of a stream that a session scores, in numbers of pairs or in their times. */
#ifndef VMAFX_ENGINE_RANGE_RANGE_H
#define VMAFX_ENGINE_RANGE_RANGE_H

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"

namespace vmafx {

/* The place of a pair, relative to a range. */
enum class Place { kBefore, kWithin, kAfter };

/* "100-199": pairs 100 to 199. "12.5s-20s": those from 12.5 s on and before 20 s. A range without a first end begins
 * with the stream, one without a second ends with it.
 *
 * Times are compared in whole milliseconds, a half rounded up, as containers round them: the frame that a container has
 * at 12.513 s is the one that another has at 12.5125 s. */
class Range {
 public:
  Range() = default;  // none: the whole stream, without what a merge needs

  /* "" is none. EINVAL: it is no range, or an empty one. */
  static StatusOr<Range> parse(const std::string& text);

  bool is_given() const { return !text_.empty(); }
  bool by_time() const { return by_time_; }
  const std::string& text() const { return text_; }

  /* Whether the range begins with the stream's first pair, and ends with its last. */
  bool begins_stream() const { return !from_ || (!by_time_ && *from_ == 0); }
  bool ends_stream() const { return !to_; }

  /* How many pairs it has; nullopt: it goes by times, or to the end. */
  std::optional<int64_t> pairs() const {
    return to_ && !by_time_ ? std::optional(*to_ - from_.value_or(0)) : std::nullopt;
  }

  /* The place of the pair with this number. EINVAL: the range goes by times, and the pair has none. */
  StatusOr<Place> place(int64_t number, std::optional<double> seconds) const;

  /* Its ends as JSON numbers, the first one past the range last; "null" where it has none. */
  std::string from() const { return end_text(from_); }
  std::string to() const { return end_text(to_); }

 private:
  std::string end_text(const std::optional<int64_t>& end) const;

  std::string text_;
  bool by_time_ = false;
  std::optional<int64_t> from_, to_;  // numbers of pairs or microseconds; the range ends before to_
};

}  // namespace vmafx

#endif
