/* Neighbors: how well a frame of the encode fits each of the reference's frames around its own. */
#ifndef VMAFX_ENGINE_LOOK_NEIGHBORS_H
#define VMAFX_ENGINE_LOOK_NEIGHBORS_H

#include <cstdint>
#include <memory>
#include <vector>

#include "base/picture.h"
#include "engine/look/cells.h"
#include "kernels/signature/signature_math.h"

namespace vmafx::look {

/* Shifts from -kMostShift to kMostShift: a frame of shift s shows the reference's frame that is s later. The outermost
 * ones are never claimed: the best of them may only be the nearest to what is farther away. */
inline constexpr int kMostShift = 9, kShifts = 2 * kMostShift + 1;

/* A number per shift; [s + kMostShift]. */
using ShiftValues = std::array<float, kShifts>;

/* What a frame tells. Each block of the picture has a vote, which is 0 for the shift that fits it best, and up to 1 for
 * others, the worse they fit. A shift whose frame is not there has the numbers of shift 0. */
struct FrameEvidence {
  int64_t frame = 0;
  int first = 0, last = kShifts - 1;  // [first .. last] are there
  ShiftValues plain{};                // sums over blocks
  ShiftValues votes{};     // half of them, and half weighted by how much a block changes in the encode where it should
  ShiftValues misfit{};    // part of the encode's detail that the reference's frame does not explain, 0..1
  ShiftValues error{};     // energy of the misfit, per cell, in squared levels
  ShiftValues changes{};   // energy of the reference's change from the frame before, likewise
  float change = 0;        // likewise of the encode's
  float noise = 0;         // energy of the misfit that is usual here, likewise
  ShiftValues follows{};   // logarithm of a likelihood: the encode's change is the reference's there; unknown: the most
  ShiftValues reverses{};  // likewise: it is the opposite of the reference's change; unknown: 0
  BlockValues moves{}, own_moves{};  // energy of what changes from the frame before, per cell, in squared levels
  ShiftValues mix{};                 // where between a shift and the next one the frame lies: 0..1, 0.5 is the middle
  ShiftValues mix_gain{};            // how much better the mixture fits than both, 0..1
};

/* Takes pairs in the order of frames and gives the evidence of each, kMostShift pairs later. */
class Neighbors {
 public:
  explicit Neighbors(const VideoFormat& format);

  /* True if *evidence was filled. */
  bool add(int64_t frame, const SignatureSums& sums, FrameEvidence* evidence);

  /* After the last pair: the evidence of those that waited, as long as it returns true. */
  bool rest(FrameEvidence* evidence);

  /* Forgets the pairs: the next one does not follow them. */
  void restart() { pairs_ = compared_ = moved_ = 0; }

 private:
  struct Picture {
    Cells cells;
    BlockValues energy, previous;  // Σ x^2, and Σ x y with the picture before
    BlockValues change;            // energy of the change from it; 0 without one
    float changes;                 // their sum
  };
  struct Fit;

  bool has(int64_t place) const { return place >= 0 && place < pairs_; }
  const Picture& ref(int64_t place) const { return ref_[static_cast<size_t>(place % kKept)]; }
  const Picture& dist(int64_t place) const { return dist_[static_cast<size_t>(place % kKept)]; }
  void keep(const PictureSignature& signature, std::vector<Picture>* pictures) const;
  const BlockValues& change(const std::vector<Picture>& pictures, int64_t place) const;
  float changes(const std::vector<Picture>& pictures, int64_t place) const;
  void compare(int64_t place, FrameEvidence* evidence);
  void fit_all(int64_t place, Fit* fit) const;
  void vote(int64_t place, const Fit& fit, FrameEvidence* evidence) const;
  float misfit(int64_t place, int i, const Fit& fit) const;
  void mix(int64_t place, const Fit& fit, FrameEvidence* evidence) const;
  void follow(int64_t place, const Fit& fit, FrameEvidence* evidence);

  static constexpr int kKept = kShifts + 1;
  CellScale scale_;
  std::vector<Picture> ref_, dist_;
  std::vector<int64_t> frames_;
  int64_t pairs_ = 0, compared_ = 0;  // since the start
  int64_t learned_ = 0;               // pairs that noise_ knows
  float noise_ = 0;                   // usual energy of the misfit in a block

  /* Of the frame that was compared before: products with each neighbor; and usual changes of a block, as roots of their
   * energy. */
  BlockValues product_before_[kShifts];
  BlockValues usual_ref_{}, usual_dist_{};
  int64_t moved_ = 0;  // frames that these know
};

}  // namespace vmafx::look

#endif
