#include "kernels/cambi/cambi_luminance.h"

#include <algorithm>
#include <cmath>

namespace vmafx {
namespace {

/* Limited range at 10 bit. */
constexpr int kBlack = 64, kWhite = 940;
constexpr int kBeyond = 1 << 14;  // a level that there is not

double luminance(Eotf eotf, int level) {
  return eotf(static_cast<double>(std::clamp(level, kBlack, kWhite) - kBlack) / (kWhite - kBlack));
}

struct Step {
  Eotf eotf;
  double tvi;
  int d;

  bool is_visible(int level) const {
    const double from = luminance(eotf, level), to = luminance(eotf, level + d);
    return to - from > tvi * from;
  }

  /* The level at which it can be seen, and above which it cannot: found between black and white by bisection. */
  int highest_level() const {
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
};

int first_level_of(Eotf eotf, double darkest) {
  for (int level = kBlack; level <= kWhite; level++)
    if (luminance(eotf, level) >= darkest) return level == kBlack ? 0 : level;
  return kBeyond;
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
  CambiLevels levels = {};
  levels.diffs = diffs;
  const int dark = first_level_of(eotf, darkest);
  int lowest = kBeyond, highest = 0;
  for (int i = 0; i < diffs; i++) {
    levels.highest[i] = Step{eotf, tvi, i + 1}.highest_level();
    levels.lowest[i] = dark == kBeyond ? kBeyond : dark - diffs - i;
    lowest = std::min(lowest, levels.lowest[i]);
    highest = std::max(highest, levels.highest[i]);
  }
  levels.first = std::clamp(lowest - diffs, 0, kCambiMostLevel);
  levels.last = std::clamp(highest + diffs, levels.first, kCambiMostLevel);
  return levels;
}

}  // namespace vmafx
