/* Lost field: an encode that was made of one field of the reference has no more detail from row to row than half as
 * many rows have, but all of it from column to column, and lies half a row away: chroma by half a row of its own. */
#ifndef VMAFX_ENGINE_LOOK_LOST_FIELD_H
#define VMAFX_ENGINE_LOOK_LOST_FIELD_H

#include <cstdint>
#include <optional>

#include "engine/look/finding.h"
#include "engine/look/small_shift.h"
#include "kernels/signature/signature_math.h"

namespace vmafx::look {

class LostField {
 public:
  void add(int64_t frame, const SignatureSums& sums);

  /* kFieldsDropped; how far luma lies from the reference's to the right and down, in samples, and how much further down
   * chroma does, in its own. */
  std::optional<Finding> find(const SmallShift& right, const SmallShift& down, const SmallShift& chroma_down) const;

 private:
  enum Direction { kRows, kColumns, kDirections };
  int64_t first_ = -1, last_ = -1;
  double ref_[kDirections][2] = {}, dist_[kDirections][2] = {};  // differences at the distances 1 and 2
};

}  // namespace vmafx::look

#endif
