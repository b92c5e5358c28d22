/* Color mistakes: what becomes of a color whose matrix, range or primaries are mistaken for others, and of planes that
 * are exchanged. */
#ifndef VMAFX_ENGINE_LOOK_COLOR_MISTAKES_H
#define VMAFX_ENGINE_LOOK_COLOR_MISTAKES_H

#include <array>
#include <functional>
#include <vector>

#include "base/picture.h"

namespace vmafx::look {

/* Y, Cb, Cr of samples on the scale of 8 bits. */
using Samples3 = std::array<double, 3>;

struct ColorMistake {
  enum class What { kNone, kExchanged, kNarrower, kWider, kMatrix, kPrimaries };
  What what = What::kNone;
  int from = 0, to = 0;  // code points of H.273
  std::function<Samples3(const Samples3&)> apply;
};

/* All of them, no mistake first. The color says what samples of the reference mean. */
std::vector<ColorMistake> color_mistakes(const Color& color);

/* Transfer curves by code point of H.273, between samples (0..1) and light (0..1, PQ: 1 is 10000 cd/m2): 1 (BT.709, as
 * a camera has it), 16 (PQ), 18 (HLG), and BT.1886, which displays have for BT.709 and which has no code point. */
inline constexpr int kDisplay = -1;
double light_of(int transfer, double sample);
double sample_of(int transfer, double light);

}  // namespace vmafx::look

#endif
