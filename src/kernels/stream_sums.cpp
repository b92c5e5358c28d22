#include "kernels/stream_sums.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

namespace vmafx {
namespace {

constexpr uint64_t kOne = uint64_t{1} << StreamSums::kFractionBits;

/* False: the sum does not fit. */
bool add_to(uint64_t& sum, uint64_t value) {
  if (value > std::numeric_limits<uint64_t>::max() - sum) return false;
  sum += value;
  return true;
}

}  // namespace

void StreamSums::add(uint64_t error) {
  frames++;
  whole += error;
}

void StreamSums::add_root(double error) {
  const double floor = std::floor(error);
  add(static_cast<uint64_t>(floor));
  fraction += static_cast<uint64_t>(std::ldexp(error - floor, kFractionBits));
  whole += fraction / kOne;
  fraction %= kOne;
}

Status StreamSums::add(const StreamSums& others) {
  if (plane != others.plane || samples != others.samples || peak != others.peak)
    return error(EINVAL, "sums of plane %d are of pictures that differ in size or depth", plane);
  const uint64_t fractions = fraction + others.fraction;
  fraction = fractions % kOne;
  if (add_to(frames, others.frames) && add_to(whole, others.whole) && add_to(whole, fractions / kOne)) return {};
  return error(ERANGE, "the sums of plane %d are too large together", plane);
}

double StreamSums::sum() const {
  return static_cast<double>(whole) + std::ldexp(static_cast<double>(fraction), -kFractionBits);
}

double least_value(StreamValue* value, std::span<const StreamSums> planes) {
  double least = HUGE_VAL;
  for (const StreamSums& plane : planes) least = std::min(least, value(plane));
  return least;
}

}  // namespace vmafx
