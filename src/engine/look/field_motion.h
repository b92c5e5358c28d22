/* Field motion: whether the two fields of a picture are of one moment. What the fields of both pictures differ by, and
 * those of the reference by themselves, is fitted by the reference's motion, over the whole stream. The first one does
 * not depend on what is in the pictures, so that it shows combing where little moves. */
#ifndef VMAFX_ENGINE_LOOK_FIELD_MOTION_H
#define VMAFX_ENGINE_LOOK_FIELD_MOTION_H

#include <cstdint>
#include <optional>

#include "engine/look/cell_means.h"
#include "engine/look/finding.h"

namespace vmafx::look {

class FieldMotion {
 public:
  /* Fields of a pair, even rows first, and the reference before and after it. */
  void add(const LumaMeans& before, const LumaMeans (&ref)[2], const LumaMeans (&dist)[2], const LumaMeans& after);

  /* kCombed, kReferenceCombed or kFieldOrder, without pairs: the caller knows them. */
  std::optional<Finding> find() const;

 private:
  /* Sums over the frames of a part of the picture. */
  struct Part {
    double motion = 0;             // squares of motion
    double apart = 0, square = 0;  // how much further the even field lies from the reference's than
                                   // the odd one: products with motion, squares
    double error[2] = {0, 0};      // squares of what both fields differ by
    double slope = 0, slopes = 0, own = 0, own_slope = 0;  // of the reference's own fields, beside its vertical slope
  };
  static constexpr int kAcross = 4;
  Part parts_[kAcross * kAcross];
  int64_t offered_ = 0, frames_ = 0;
};

}  // namespace vmafx::look

#endif
