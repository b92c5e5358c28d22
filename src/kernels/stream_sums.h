/* StreamSums: the sums that values of a whole stream, as apsnr_y, are made of. They are exact, so that those of a
 * stream are, to the last bit, those of its parts added up, however it is cut. */
#ifndef VMAFX_KERNELS_STREAM_SUMS_H
#define VMAFX_KERNELS_STREAM_SUMS_H

#include <cstdint>
#include <span>

#include "base/status.h"

namespace vmafx {

/* The errors of one plane in some frames. */
struct StreamSums {
  static constexpr int kFractionBits = 52;  // so that the root of a whole number is exact as it is rounded to a double

  int plane = 0;
  uint64_t frames = 0;
  uint64_t samples = 0;              // of the plane in a frame
  uint64_t peak = 0;                 // the largest sample
  uint64_t whole = 0, fraction = 0;  // the sum of the errors, and 2^-52 times `fraction`, which is below 2^52

  /* Adds the error of a frame: a whole number, or a double that is 0 or 1 and more. */
  void add(uint64_t error);
  void add_root(double error);

  /* Adds the sums of other frames. EINVAL: they are not of the same plane; ERANGE: they are too large together. */
  Status add(const StreamSums& others);

  double sum() const;  // rounded to the nearest double
};

using StreamValue = double(const StreamSums& plane);

/* The value of several planes: the least of theirs. */
double least_value(StreamValue* value, std::span<const StreamSums> planes);

}  // namespace vmafx

#endif
