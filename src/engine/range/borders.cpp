#include "engine/range/borders.h"

#include <cstddef>
#include <utility>

#include "base/hash.h"

namespace vmafx {

uint64_t fingerprint(const Picture& picture) {
  Hash hash;
  for (const SamplePlane& plane : picture.plane) {
    if (!plane.data) continue;
    const int size[] = {plane.w, plane.h};
    hash.add(size, sizeof size);
    const size_t bytes = static_cast<size_t>(plane.w) * (picture.bpc > 8 ? 2 : 1);
    for (int y = 0; y < plane.h; y++) hash.add(plane.as<std::byte>().row(y), bytes);
  }
  return hash.value();
}

Status Borders::note(const Pair& pair) {
  if (!pairs_.empty() && pairs_.back().number >= pair.number) return {};
  for (const Held& held : {pair.ref, pair.dist}) VMAFX_TRY(held->bring_to_host());
  pairs_.push_back({.number = pair.number,
                    .time = pair.time,
                    .ref = fingerprint(pair.ref->in_host()->planes),
                    .dist = fingerprint(pair.dist->in_host()->planes)});
  return {};
}

Status Borders::note_recent() {
  for (const Pair& pair : recent_) VMAFX_TRY(note(pair));
  recent_.clear();
  return {};
}

/* Pairs come in order, so that what is noted stays in order, too. */
Status Borders::add(Pair pair, Place place) {
  if (!before_) return {};
  if (std::exchange(last_, place) != place) VMAFX_TRY(note_recent());
  if (place == Place::kAfter) return note(pair);
  if (place == Place::kWithin && within_ < after_) {
    within_++;
    VMAFX_TRY(note(pair));
  }
  recent_.push_back(std::move(pair));
  if (recent_.size() > static_cast<size_t>(before_)) recent_.pop_front();
  return {};
}

Status Borders::end() { return last_ == Place::kWithin ? note_recent() : Status(); }

}  // namespace vmafx
