/* Transfer functions in double, from their standards: what the tables of recolor.h are made of.
 *
 *   SDR     light = signal^gamma, gamma by display_gamma() (BT.1886: 2.4); 1 is white
 *   sRGB    IEC 61966-2-1; 1 is white
 *   linear  light = signal
 *   PQ      SMPTE ST 2084, BT.2100 table 4; 1 is 10000 cd/m2
 *   HLG     ARIB STD-B67, BT.2100 table 5: light of the scene, 1 at the signal 1; its display has 1000 cd/m2 */
#ifndef VMAFX_KERNELS_RECOLOR_RECOLOR_CURVES_H
#define VMAFX_KERNELS_RECOLOR_RECOLOR_CURVES_H

#include "base/status.h"

namespace vmafx {

struct TransferCurve {
  enum class Kind { kGamma, kSrgb, kPq, kHlg };

  Kind kind = Kind::kGamma;
  double gamma = 2.4;  // kGamma; 1: linear

  bool is_hdr() const { return kind == Kind::kPq || kind == Kind::kHlg; }
  bool operator==(const TransferCurve&) const = default;

  /* Light of a signal (EOTF; HLG: inverse OETF), and the signal of light. Both continue beyond 1, and give 0 (PQ: the
   * signal of black) below 0. */
  double light(double signal) const;
  double signal(double light) const;
};

/* By a code point of H.273. EINVAL: unknown, or one without such a curve (logarithms, SMPTE 428). */
StatusOr<TransferCurve> transfer_curve_of(int transfer);

/* The nominal peak of a display of HLG, in cd/m2, at which its system gamma is kHlgGamma (BT.2100 table 5), and the
 * luminance of PQ's signal 1. */
inline constexpr double kHlgPeak = 1000, kHlgGamma = 1.2, kPqPeak = 10000;

/* BT.2390, 5.4 (EETF): the luminance that light of `luminance` cd/m2 has on a display of `display_peak`, if the display
 * it was made for has `peak`; both blacks are 0. Equal up to a knee, then compressed; beyond `peak` it is
 * display_peak. */
double tone_mapped(double luminance, double peak, double display_peak);

}  // namespace vmafx

#endif
