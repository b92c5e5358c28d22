/* Ranges: the part of a stream that a session scores, in numbers of pairs or in their times. */
#ifndef VMAFX_ENGINE_RANGE_RANGE_H
#define VMAFX_ENGINE_RANGE_RANGE_H

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"

namespace vmafx {

/* Where a pair lies. */
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

  /* Whether the first pair within it is the stream's first one, and its last one the stream's last. */
  bool begins_stream() const { return !from_ || (!by_time_ && *from_ == 0); }
  bool ends_stream() const { return !to_; }

  /* Of a pair with this number. EINVAL: it has no time, and the range goes by time. */
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
