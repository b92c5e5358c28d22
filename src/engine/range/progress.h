/* RangeProgress: how far an encode has come through its range. Pairs are numbered from the first one that it meets;
 * those that are scored or are context are "taken", and follow one another. Without a range every pair is within. */
#ifndef VMAFX_ENGINE_RANGE_PROGRESS_H
#define VMAFX_ENGINE_RANGE_PROGRESS_H

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "engine/range/range.h"
#include "kernels/extractor.h"

namespace vmafx {

class RangeProgress {
 public:
  RangeProgress() = default;
  RangeProgress(Range range, Reach reach);

  const Range& range() const { return range_; }
  /* Pairs around the range: those that its scores depend on, and one in any case, since only that shows where the range
   * begins or ends. */
  int before() const { return before_; }
  int after() const { return after_; }

  /* The next pair. EINVAL: the range goes by times and this pair has none or is earlier than one in the range; or the
   * range begins later than what comes. */
  StatusOr<Place> meet(std::optional<double> time);

  int64_t met() const { return met_; }  // but for those after its context

  /* Drops the first of the pairs that were met and not taken. */
  void drop() { dropped_++; }
  int64_t waiting() const { return met_ - dropped_ - taken_; }

  /* Takes the next pair that was met and not dropped. Returns its number. */
  int64_t take() { return dropped_ + taken_++; }
  int64_t taken() const { return taken_; }
  int64_t first_taken() const { return dropped_; }  // its number, once one was taken

  Place place_of(int64_t number) const;  // for a pair that was taken
  bool contains(int64_t number) const { return place_of(number) == Place::kWithin; }

  /* The pairs within the range so far. */
  bool has_begun() const { return first_.has_value(); }
  int64_t first() const { return first_.value_or(0); }
  int64_t end() const { return end_.value_or(dropped_ + taken_); }
  int64_t frames() const { return has_begun() ? end() - first() : 0; }
  std::optional<double> counted_from() const { return counted_from_; }  // the time of the pair with number 0

  /* Whether the range and its context are complete: later pairs do not matter. */
  bool is_done() const { return end_ && met_after_ == after_needed(); }

  /* At the end of the stream. EINVAL: nothing lies in the range, or it ends later than what came. */
  Status check_end() const;

 private:
  int64_t after_needed() const { return std::max<int64_t>(after_, first_frames_ - *end_); }  // once the range has ended
  Status check_begin(std::optional<double> time) const;

  Range range_;
  int before_ = 0, after_ = 0, first_frames_ = 0;
  int64_t met_ = 0, dropped_ = 0, taken_ = 0;
  int64_t met_after_ = 0;  // at most after_needed()
  std::optional<int64_t> first_, end_;
  std::optional<double> counted_from_, last_time_;
};

}  // namespace vmafx

#endif
