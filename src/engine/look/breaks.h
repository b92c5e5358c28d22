/* Breaks: the pairs where an encode begins to follow its reference in another way: by another line from its levels to
 * theirs, or by a worse or a better fit. They tell where a finding of a part of the stream begins and ends. */
#ifndef VMAFX_ENGINE_LOOK_BREAKS_H
#define VMAFX_ENGINE_LOOK_BREAKS_H

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "engine/look/cell_means.h"

namespace vmafx::look {

class Breaks {
 public:
  void add(int64_t frame, const PairMeans& means);

  /* The first pair after the largest break from pair `from` to pair `to`, if one is there. */
  std::optional<int64_t> largest(int64_t from, int64_t to) const;

 private:
  static constexpr int kReach = 4;
  /* How an encode follows: the gain, the difference of means, and what a line leaves. */
  using Follows = std::array<double, 3>;
  struct Pair {
    int64_t frame;
    Follows follows;
  };
  struct Break {
    int64_t frame;
    double size;
  };
  void drop_small();

  std::deque<Pair> last_;  // 2 * kReach pairs
  std::vector<Break> breaks_;
};

}  // namespace vmafx::look

#endif
