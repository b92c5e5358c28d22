#include "engine/range/progress.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace vmafx {
namespace {

std::string at(std::optional<double> time) { return time ? format_text(" (%.6f s)", *time) : ""; }

}  // namespace

RangeProgress::RangeProgress(Range range, Reach reach) : range_(std::move(range)) {
  if (!range_.is_given()) return;
  before_ = std::max(1, reach.before);
  after_ = std::max(1, reach.after);
  first_frames_ = reach.first;
}

StatusOr<Place> RangeProgress::meet(std::optional<double> time) {
  const int64_t number = met_;
  VMAFX_ASSIGN(const Place place, range_.place(number, time));
  if (place != Place::kBefore && !first_ && !end_) VMAFX_TRY(check_begin(time));
  if ((place == Place::kBefore && first_) || (place != Place::kAfter && end_))
    return error(EINVAL, "range=%s: frame %lld%s is earlier than one before it", range_.text().c_str(),
                 static_cast<long long>(number), at(time).c_str());
  if (number == 0) counted_from_ = time;
  last_time_ = time;
  met_++;
  if (place == Place::kWithin && !first_) first_ = number;
  if (place == Place::kAfter && !end_) end_ = number;
  if (place != Place::kAfter) return place;
  if (met_after_ < after_needed()) met_after_++;
  else met_--;  // nobody waits for it
  return place;
}

/* Numbers tell by themselves whether pairs are missing; times do not. */
Status RangeProgress::check_begin(std::optional<double> time) const {
  if (!range_.by_time() || range_.begins_stream() || met_ >= before_) return {};
  return error(EINVAL,
               "range=%s: the first frame in it or after it, at %.6f s, has %lld before it, and %d must come there, so "
               "that none is missing. "
               "Seek to an earlier time (-ss before both inputs, with -copyts); if the stream begins there, leave out "
               "the range's first end",
               range_.text().c_str(), time.value_or(0), static_cast<long long>(met_), before_);
}

Status RangeProgress::check_end() const {
  if (!range_.is_given()) return {};
  const std::string& text = range_.text();
  if (!first_)
    return error(EINVAL, "range=%s: none of %lld frame pairs lies in it; the last one is %lld%s", text.c_str(),
                 static_cast<long long>(met_), static_cast<long long>(met_ - 1), at(last_time_).c_str());
  if (range_.ends_stream() || is_done()) return {};
  return error(EINVAL,
               "range=%s: the inputs ended at frame %lld%s, and %d after the range must come, so that none is missing; "
               "if the stream ends "
               "there, leave out the range's second end",
               text.c_str(), static_cast<long long>(met_ - 1), at(last_time_).c_str(),
               end_ ? static_cast<int>(after_needed()) : after_);
}

Place RangeProgress::place_of(int64_t number) const {
  if (!first_ || number < *first_) return Place::kBefore;
  return end_ && number >= *end_ ? Place::kAfter : Place::kWithin;
}

}  // namespace vmafx
