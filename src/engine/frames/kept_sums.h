/* Raw sums that follow from the pictures of a reference alone, as those of motion do: kept for the sessions that score
 * against the same pictures later. Any thread. */
#ifndef VMAFX_ENGINE_FRAMES_KEPT_SUMS_H
#define VMAFX_ENGINE_FRAMES_KEPT_SUMS_H

#include <cstddef>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "engine/frames/pictures.h"
#include "kernels/extractor.h"

namespace vmafx {

/* The kept sums of one metric with one set of options. */
class KeptSums {
 public:
  /* The pictures from which sums were computed. They must outlive the sums. */
  struct Pictures {
    const HeldPicture* ref = nullptr;
    const HeldPicture* earlier[std::size(FrameSet().earlier_ref)] = {};
    bool operator==(const Pictures&) const = default;
  };

  explicit KeptSums(size_t bytes) : bytes_(bytes) {}

  /* Copies the sums of these pictures; false: there are none. */
  bool get(const Pictures& pictures, void* sums) const {
    const MutexLock lock(mutex_);
    const auto found = of_picture_.find(pictures.ref);
    if (found == of_picture_.end() || found->second.pictures != pictures) return false;
    std::memcpy(sums, found->second.sums.data(), bytes_);
    return true;
  }

  /* Replaces sums computed after different predecessors. */
  void put(const Pictures& pictures, const void* sums) {
    const auto* begin = static_cast<const std::byte*>(sums);
    const MutexLock lock(mutex_);
    of_picture_.insert_or_assign(pictures.ref, Kept{pictures, {begin, begin + bytes_}});
  }

 private:
  struct Kept {
    Pictures pictures;
    std::vector<std::byte> sums;
  };

  const size_t bytes_;
  mutable Mutex mutex_;
  std::unordered_map<const HeldPicture*, Kept> of_picture_ VMAFX_GUARDED_BY(mutex_);
};

}  // namespace vmafx

#endif
