/* Chapters: sums over parts of a stream that follow one another. They are as long as each other, and no more than
 * kMost: when there are too many, two become one. What begins or ends in mid-stream shows in some of them alone. */
#ifndef VMAFX_ENGINE_LOOK_CHAPTERS_H
#define VMAFX_ENGINE_LOOK_CHAPTERS_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/signature/signature_math.h"

namespace vmafx::look {

/* Pairs from .. end-1. */
struct Pairs {
  int64_t from, end;
};

/* `Sums` has a method add(const Sums&), which adds those of later pairs. */
template <class Sums>
class Chapters {
 public:
  static constexpr size_t kMost = 32;

  /* Whether a pair, which comes after all others, is the first one of a chapter. */
  bool begins(int64_t frame) const { return all_.empty() || place_of(frame) != place_of(pairs_.back().from); }

  /* The sums of a pair's chapter: the pair comes after all others, or was given before. */
  Sums& at(int64_t frame) {
    if (!all_.empty() && frame < pairs_.back().end) return of_earlier(frame);
    if (begins(frame) && all_.size() == kMost) halve();
    if (begins(frame)) {
      pairs_.push_back({frame, frame});
      all_.emplace_back();
    }
    pairs_.back().end = frame + 1;
    return all_.back();
  }

  const std::vector<Pairs>& pairs() const { return pairs_; }
  const Sums& operator[](size_t chapter) const { return all_[chapter]; }
  int64_t length() const { return length_; }

  /* The sums of the chapters first … end-1. */
  Sums sum(size_t first, size_t end) const {
    Sums sum;
    for (size_t i = first; i < end; i++) sum.add(all_[i]);
    return sum;
  }
  Sums sum() const { return sum(0, all_.size()); }

 private:
  int64_t place_of(int64_t frame) const { return frame / length_; }

  Sums& of_earlier(int64_t frame) {
    size_t i = all_.size() - 1;
    while (i > 0 && frame < pairs_[i].from) i--;
    return all_[i];
  }

  void halve() {
    length_ *= 2;
    size_t n = 0;
    for (size_t i = 0; i < all_.size(); i++) {
      if (n > 0 && place_of(pairs_[n - 1].from) == place_of(pairs_[i].from)) {
        pairs_[n - 1].end = pairs_[i].end;
        all_[n - 1].add(all_[i]);
        continue;
      }
      if (n != i) {
        pairs_[n] = pairs_[i];
        all_[n] = std::move(all_[i]);
      }
      n++;
    }
    pairs_.resize(n);
    all_.resize(n);
  }

  int64_t length_ = kDetailPeriod;
  std::vector<Pairs> pairs_;
  std::vector<Sums> all_;
};

}  // namespace vmafx::look

#endif
