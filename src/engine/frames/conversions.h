/* Pictures as metrics convert them (Extractor::convert()): each once, by the first job that reads it, and as long as
 * frames read it.
 *
 * For a metric that reads n earlier pictures, a stream has at most n and those of the frames in flight of each side at
 * a time, whose memory is used again. */
#ifndef VMAFX_ENGINE_FRAMES_CONVERSIONS_H
#define VMAFX_ENGINE_FRAMES_CONVERSIONS_H

#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/mutex.h"
#include "engine/frames/pictures.h"
#include "engine/frames/reuse.h"
#include "kernels/extractor.h"

namespace vmafx {

/* The conversion of a picture for one metric. Any thread. */
class Conversion {
 public:
  /* `extractor` and `memory` must outlive it. `keeps`: the picture itself is wanted later, too. */
  Conversion(const Extractor& extractor, std::shared_ptr<HeldPicture> picture, Reuse<AlignedBytes>& memory, bool keeps)
      : extractor_(extractor), memory_(memory), keeps_(keeps), picture_(std::move(picture)) {}

  /* Throws std::bad_alloc. The picture is in host memory. */
  const std::byte* get();

  /* Null once it was let go. */
  std::shared_ptr<HeldPicture> picture() {
    const MutexLock lock(mutex_);
    return picture_;
  }

 private:
  const Extractor& extractor_;
  Reuse<AlignedBytes>& memory_;
  const bool keeps_;
  Mutex mutex_;
  std::shared_ptr<HeldPicture> picture_ VMAFX_GUARDED_BY(mutex_);  // let go once it is converted, unless it is kept
  std::shared_ptr<const AlignedBytes> converted_ VMAFX_GUARDED_BY(mutex_);
};

using SharedConversion = std::shared_ptr<Conversion>;

/* The last pictures of a stream, the latest first. */
class ConvertedPictures {
 public:
  explicit ConvertedPictures(size_t most) : most_(most) { pictures_.reserve(most + 1); }

  /* Takes no memory. */
  void add(SharedConversion picture);
  void clear() { pictures_.clear(); }
  ConvertedPictures& operator=(const ConvertedPictures& other) {
    pictures_.assign(other.pictures_.begin(), other.pictures_.end());
    return *this;
  }
  ConvertedPictures(const ConvertedPictures& other) : ConvertedPictures(other.most_) { *this = other; }
  bool operator==(const ConvertedPictures& other) const { return pictures_ == other.pictures_; }

  /* The picture `back` before the latest; null: there is none. */
  SharedConversion at(size_t back) const { return back < pictures_.size() ? pictures_[back] : nullptr; }

  /* Brings those to host memory that get() will read. */
  Status bring_to_host() const;

  /* Converts all pictures that are not converted yet, which are in host memory. */
  std::vector<const std::byte*> get() const;

 private:
  const size_t most_;
  std::vector<SharedConversion> pictures_;
};

/* The converted pictures that a frame of an encode sees, for one metric. */
struct ConvertedHistory {
  ConvertedPictures ref, dist;
};

}  // namespace vmafx

#endif
