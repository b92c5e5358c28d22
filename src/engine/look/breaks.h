/* Breaks: the pairs where an encode begins to follow its reference in another way: by another line from its levels to
 * theirs, or by a worse or a better fit. They tell where a finding of a part of the stream begins and ends, also where
 * parts of a stream are joined that were looked at by themselves. */
#ifndef VMAFX_ENGINE_LOOK_BREAKS_H
#define VMAFX_ENGINE_LOOK_BREAKS_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "engine/look/cell_means.h"

namespace vmafx::look {

/* How cells of an encode's luma follow those of the reference, by a line. */
struct PairFit {
  int64_t frame = 0;
  double gain = 1, offset = 0;  // offset: the difference of means, in levels of 8 bits
  double left = 0;              // by the line, of the encode's deviation
};

struct Break {
  int64_t frame = 0;  // the first pair that follows in the new way
  double size = 0;
};

class Breaks {
 public:
  /* Pairs to both sides of a break that show it. */
  static constexpr size_t kReach = 4;

  /* Adds the next pair. */
  void add(int64_t frame, const PairMeans& means);
  void add(const PairFit& fit);

  /* Adds a break that comes after all others. */
  void add(const Break& next) { breaks_.push_back(next); }

  /* The largest break from pair `from` to pair `to`, if one is there: its pair. */
  std::optional<int64_t> largest(int64_t from, int64_t to) const;

  /* In the order of pairs. */
  const std::vector<Break>& all() const { return breaks_; }

  /* The first pairs and the last ones, in their order: with those of a neighbor they show the breaks where the parts
   * meet. Up to 2 * kReach - 1 at each end. */
  std::vector<PairFit> ends() const;

 private:
  void drop_small();

  std::vector<PairFit> first_;
  std::deque<PairFit> last_;  // up to 2 * kReach - 1 pairs
  size_t added_ = 0;
  std::vector<Break> breaks_;
};

/* The breaks of a stream, of those that its parts found and of the ends of the parts, in the order of pairs. `borders`:
 * the numbers of the first pairs of the parts after the first one. */
Breaks join_breaks(std::span<const Break> of_parts, std::span<const PairFit> ends, std::span<const int64_t> borders);

}  // namespace vmafx::look

#endif
