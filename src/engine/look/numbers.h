/* Numbers: small functions that the parts of the look share. */
#ifndef VMAFX_ENGINE_LOOK_NUMBERS_H
#define VMAFX_ENGINE_LOOK_NUMBERS_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace vmafx::look {

/* The value in the middle, the upper one of two; 0 of no values. Puts the values into another order. */
inline double median_of(std::span<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/* Drops the second of each two. */
template <class T>
void keep_every_second(std::vector<T>& all) {
  size_t n = all.empty() ? 0 : 1;
  for (size_t i = 2; i < all.size(); i += 2) all[n++] = std::move(all[i]);
  all.erase(all.begin() + static_cast<ptrdiff_t>(n), all.end());
}

/* A number of evidence, to a thousandth. */
inline double rounded(double value) { return std::round(value * 1000) / 1000; }

}  // namespace vmafx::look

#endif
