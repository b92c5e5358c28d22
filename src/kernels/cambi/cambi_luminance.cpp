/* The steps between levels that can be seen: the luminance of a level on a display, and thresholds on it. */
#include "kernels/cambi/cambi.h"

#include <algorithm>
#include <cmath>

namespace vmafx {
namespace {

/* Limited range at 10 bit. */
constexpr int kBlack = 64, kWhite = 940;
constexpr int kBeyond = 1 << 14;  // a level that there is not

/* The level at which a step of d can be seen, and above which it cannot: found between black and white by bisection. */
int highest_level(const double* luminance, double tvi, int d) {
  const auto is_visible = [&](int level) { return luminance[level + d] - luminance[level] > tvi * luminance[level]; };
  if (!is_visible(kBlack)) return 0;
  if (!is_visible(kBlack + 1)) return kBlack;
  int low = kBlack, high = kWhite - d - 1;
  if (is_visible(high)) return is_visible(high + 1) ? 1023 : high;
  for (;;) {
    const int middle = low + (high - low) / 2;
    if (!is_visible(middle)) high = middle;
    else if (is_visible(middle + 1)) low = middle;
    else return middle;
  }
}

}  // namespace

double bt1886_luminance(double signal) {
  constexpr double kGamma = 2.4;
  const double white = std::pow(300.0, 1 / kGamma), black = std::pow(0.01, 1 / kGamma), range = white - black;
  return std::pow(range, kGamma) * std::pow(std::max(signal + black / range, 0.0), kGamma);
}

double pq_luminance(double signal) {
  constexpr double kM1 = 2610. / 16384, kM2 = 2523. / 32, kC1 = 3424. / 4096, kC2 = 2413. / 128, kC3 = 2392. / 128;
  const double power = std::pow(signal, 1 / kM2);
  return 10000 * std::pow(std::max(power - kC1, 0.0) / (kC2 - kC3 * power), 1 / kM1);
}

CambiLevels cambi_levels(Eotf eotf, double tvi, double darkest, int diffs) {
  double luminance[kWhite + 1];
  for (int level = 0; level <= kWhite; level++)
    luminance[level] = eotf(static_cast<double>(std::max(level, kBlack) - kBlack) / (kWhite - kBlack));
  const int bright = static_cast<int>(std::lower_bound(luminance, std::end(luminance), darkest) - luminance);
  const int dark = bright > kWhite ? kBeyond : bright;

  CambiLevels levels = {};
  levels.diffs = diffs;
  levels.first_asked = kBeyond;
  for (int i = 0; i < diffs; i++) {
    levels.highest[i] = highest_level(luminance, tvi, i + 1);
    levels.lowest[i] = dark == kBeyond ? kBeyond : dark - diffs - i;
    levels.first_asked = std::min(levels.first_asked, levels.lowest[i]);
    levels.last_asked = std::max(levels.last_asked, levels.highest[i]);
  }
  levels.first = std::clamp(levels.first_asked - diffs, 0, kCambiMostLevel);
  levels.last = std::clamp(levels.last_asked + diffs, levels.first, kCambiMostLevel);
  return levels;
}

}  // namespace vmafx
