#include "engine/range/borders.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

namespace vmafx {
namespace {

/* After XXH64 (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), in one lane. */
constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F, kPrime3 = 0x165667B19E3779F9;

uint64_t mixed(uint64_t hash, uint64_t word) { return std::rotl(hash ^ (word * kPrime2), 31) * kPrime1 + kPrime3; }

uint64_t of_row(uint64_t hash, const std::byte* row, size_t bytes) {
  for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, row + at, std::min(sizeof word, bytes - at));
    hash = mixed(hash, word);
  }
  return hash;
}

}  // namespace

uint64_t fingerprint(const Picture& picture) {
  uint64_t hash = kPrime3;
  for (const SamplePlane& plane : picture.plane) {
    if (!plane.data) continue;
    const size_t bytes = static_cast<size_t>(plane.w) * (picture.bpc > 8 ? 2 : 1);
    for (int y = 0; y < plane.h; y++) hash = of_row(hash, plane.as<std::byte>().row(y), bytes);
    hash = mixed(hash, bytes);
  }
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
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
