/* Small shift: how far a profile of the encode lies from that of the reference, to a part of a sample, over all frames.
 *
 * A profile that lies s samples further is dist(x) = ref(x) - s ref'(x) for a small s: what both differ by is fitted by
 * their slope, segment by segment of the profile, beside a level, a gain and a softness, which encoders change. How
 * much the segments contradict each other says how exact their mean is. Where few edges make the mean, or what frames
 * say differs, the wide error is larger. */
#ifndef VMAFX_ENGINE_LOOK_SMALL_SHIFT_H
#define VMAFX_ENGINE_LOOK_SMALL_SHIFT_H

#include <span>

#include "engine/look/cell_means.h"

namespace vmafx::look {

/* Profiles as the sums take them: single samples count little. */
Profile softened(const Profile& profile);

/* Sums over the frames of one profile. */
class ShiftSums {
 public:
  /* Compares the encode's sample k with the reference's sample k - whole; slopes tell up to about 1.5 beside that. */
  void add(const Profile& ref, const Profile& dist, int whole = 0);
  /* Sum of squares of slopes: how much there is to see. */
  double slopes() const;
  /* One side has next to no edges of what the other has: what lies there has no place. */
  bool is_flat_on_one_side() const;

  static constexpr int kMostWhole = 4;

 private:
  friend struct SmallShift;
  static constexpr int kSegments = 8;
  struct Segment {
    double slopes = 0, along = 0, differences = 0;  // of squares, of products of both, of squares
  };
  Segment segments_[kSegments];
  /* Sums over frames of products of a frame's sums. */
  struct Squares {
    double slopes = 0, both = 0, along = 0;
  };
  Squares frames_;
  double ref_edges_ = 0, dist_edges_ = 0;  // squares of slopes of either side
};

struct SmallShift {
  double samples = 0;
  double error = 0;  // one standard deviation
  /* The same from segments of all profiles together, each of which is compared with the others, and from frames. */
  double wide_error = 0;
  double differences = 0;  // squares of what the profiles differ by beside the whole samples
  double left = 0;         // what remains of them

  /* The shift that profiles have in common. */
  static SmallShift of(std::span<const ShiftSums> profiles, int whole = 0);

 private:
  static double part_of(const ShiftSums& profile);
  static double wide_error_of(std::span<const ShiftSums> profiles, double slopes, double part);
};

}  // namespace vmafx::look

#endif
