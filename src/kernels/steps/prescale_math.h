/* The source of a scaled plane's sample: the taps of one position, alike for columns and rows.
 *
 * Position p of `to` samples lies at x = (p + 1/2) from / to - 1/2 of the `from` samples of the source; with x0 =
 * floor(x), d = x - x0:
 *
 *   nearest    the sample floor(p from / to)
 *   bilinear   x0 and x0 + 1: 1 - d, d
 *   bicubic    x0 - 1 to x0 + 2: Keys's kernel with a = -3/4
 *   lanczos4   x0 - 4 to x0 + 4: sinc(t) sinc(t / 4), to be divided by the sum of the weights
 *
 * as in libvmaf (f85a853, vif_tools.c), single precision in the same places, so that scores come out as there; taps
 * outside reflect at the borders. That bilinear takes its d from x0 after reflection, and so extrapolates the first row
 * and column of an enlarged plane, is libvmaf's, too. Deviation: planes of fewer than five samples a side reflect as
 * often as it takes. */
#ifndef VMAFX_KERNELS_STEPS_PRESCALE_MATH_H
#define VMAFX_KERNELS_STEPS_PRESCALE_MATH_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

enum class PrescaleMethod : int32_t { kNearest, kBilinear, kBicubic, kLanczos4 };

inline constexpr int kPrescaleMaxTaps = 9;

VMAFX_HD constexpr int prescale_taps(PrescaleMethod method) {
  switch (method) {
    case PrescaleMethod::kNearest: return 1;
    case PrescaleMethod::kBilinear: return 2;
    case PrescaleMethod::kBicubic: return 4;
    case PrescaleMethod::kLanczos4: return 9;
  }
  return 0;
}

struct PrescaleTap {
  int32_t index;  // in the source, [0, from)
  float weight;
};

namespace prescale {

VMAFX_HD int32_t reflected(int32_t i, int32_t size) {
  if (size == 1) return 0;
  while (i < 0 || i >= size) i = i < 0 ? -i : 2 * size - 2 - i;
  return i;
}

VMAFX_HD float bicubic(float t) {
  constexpr float a = -0.75f;
  if (t < 0) t = -t;
  if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? (((t - 5) * t + 8) * t - 4) * a : 0;
}

/* Sine and cosine of [0, pi / 4], by their series: within 1e-16. */
VMAFX_HD double sine(double q) {
  const double z = q * q;
  double sum = -1.0 / 1307674368000;
  sum = sum * z + 1.0 / 6227020800;
  sum = sum * z - 1.0 / 39916800;
  sum = sum * z + 1.0 / 362880;
  sum = sum * z - 1.0 / 5040;
  sum = sum * z + 1.0 / 120;
  sum = sum * z - 1.0 / 6;
  return q + q * z * sum;
}
VMAFX_HD double cosine(double q) {
  const double z = q * q;
  double sum = 1.0 / 20922789888000;
  sum = sum * z - 1.0 / 87178291200;
  sum = sum * z + 1.0 / 479001600;
  sum = sum * z - 1.0 / 3628800;
  sum = sum * z + 1.0 / 40320;
  sum = sum * z - 1.0 / 720;
  sum = sum * z + 1.0 / 24;
  return 1 - z * (0.5 - z * sum);
}

/* At t = i - d, i from -4 to 4, for d in [0, 1] up to rounding. With q = pi d / 4, sin(pi t) is -(-1)^i sin(4 q), and
 * sin(pi t / 4) that of a difference of which i pi / 4 has few sines. */
VMAFX_HD double lanczos4(int i, double t) {
  constexpr double kPi = 3.14159265358979323846, kHalfRoot = 0.70710678118654752440;
  if (t == 0) return 1;
  if (t <= -4 || t >= 4) return 0;
  const double q = kPi / 4 * (i - t), s = sine(q), c = cosine(q);
  const double sine_of_four = 4 * s * c * (1 - 2 * s * s);
  const int distance = i < 0 ? -i : i;
  const double side = distance % 4 == 0 ? 0 : distance == 2 ? 1 : kHalfRoot;  // sin(|i| pi / 4)
  const double top = distance == 0   ? 1
                     : distance == 1 ? kHalfRoot
                     : distance == 2 ? 0
                     : distance == 3 ? -kHalfRoot
                                     : -1;
  const double quarter = (i < 0 ? -side : side) * c - top * s;
  return 4 * (i % 2 ? sine_of_four : -sine_of_four) * quarter / (kPi * kPi * t * t);
}

}  // namespace prescale

/* x and its floor. */
struct PrescalePosition {
  float x;
  int32_t first;
};

VMAFX_HD PrescalePosition prescale_position(int position, int from, int to) {
  const float ratio = static_cast<float>(from) / static_cast<float>(to);
  const float x = static_cast<float>((position + 0.5) * ratio - 0.5);
  const int32_t cut = static_cast<int32_t>(x);
  return {x, static_cast<float>(cut) > x ? cut - 1 : cut};
}

/* The prescale_taps(method) taps of a position. */
VMAFX_HD void prescale_taps_at(PrescaleMethod method, int position, int from, int to, PrescaleTap* taps) {
  if (method == PrescaleMethod::kNearest) {
    const float ratio = static_cast<float>(from) / static_cast<float>(to);
    const int32_t index = static_cast<int32_t>(static_cast<float>(position) * ratio);
    taps[0] = {index < from ? index : from - 1, 1.0f};
    return;
  }
  const auto [x, x0] = prescale_position(position, from, to);
  if (method == PrescaleMethod::kBilinear) {
    const int32_t first = prescale::reflected(x0, from), second = static_cast<float>(x0) < x ? x0 + 1 : x0;
    const float d = x - static_cast<float>(first);
    taps[0] = {first, 1 - d};
    taps[1] = {prescale::reflected(second, from), d};
    return;
  }
  const float d = x - static_cast<float>(x0);
  const int count = prescale_taps(method), before = method == PrescaleMethod::kLanczos4 ? 4 : 1;
  for (int k = 0; k < count; k++) {
    const int i = k - before;
    const float t = static_cast<float>(i) - d;
    const float weight =
        method == PrescaleMethod::kLanczos4 ? static_cast<float>(prescale::lanczos4(i, t)) : prescale::bicubic(t);
    taps[k] = {prescale::reflected(x0 + i, from), weight};
  }
}

}  // namespace vmafx

#endif
