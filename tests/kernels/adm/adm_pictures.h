/* Pictures for the tests of the integer and the floating-point ADM. */
#ifndef VMAFX_TESTS_KERNELS_ADM_PICTURES_H
#define VMAFX_TESTS_KERNELS_ADM_PICTURES_H

#include <algorithm>
#include <random>
#include <string>

#include "kernels/options.h"
#include "tests/support/planes.h"

namespace vmafx::test {

/* Makes `dist` from `ref`, both of w x h samples, by less or more contrast and noise: aligned and restored parts of
 * every kind. */
template <class T>
void make_lookalike(TestPlane<T>& ref, TestPlane<T>& dist, int w, int h, int bpc, uint32_t seed, double contrast,
                    int noise_bits) {
  std::mt19937 random(seed);
  const int center = 1 << (bpc - 1), max = (1 << bpc) - 1;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      const int noise = noise_bits ? static_cast<int>(random() >> (32 - noise_bits)) - (1 << (noise_bits - 1)) : 0;
      const int value = center + static_cast<int>((ref.at(x, y) - center) * contrast) + noise;
      dist.at(x, y) = static_cast<T>(std::clamp(value, 0, max));
    }
}

/* " name=value" for each. */
inline std::string text_of(const OptionTexts& given) {
  std::string text;
  for (const auto& [name, value] : given) text += " " + name + "=" + value;
  return text;
}

}  // namespace vmafx::test

#endif
