#include "kernels/recolor/recolor_curves.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "kernels/steps/linear_light_of.h"

namespace vmafx {
namespace {

/* ST 2084, 4.2. */
constexpr double kM1 = 2610. / 16384, kM2 = 2523. / 4096 * 128;
constexpr double kC1 = 3424. / 4096, kC2 = 2413. / 4096 * 32, kC3 = 2392. / 4096 * 32;

double pq_light(double signal) {
  const double root = std::pow(std::max(signal, 0.0), 1 / kM2);
  const double below = kC2 - kC3 * root;
  return below > 0 ? std::pow(std::max(root - kC1, 0.0) / below, 1 / kM1) : INFINITY;
}

double pq_signal(double light) {
  const double power = std::pow(std::max(light, 0.0), kM1);
  return std::pow((kC1 + kC2 * power) / (1 + kC3 * power), kM2);
}

/* BT.2100 table 5. */
constexpr double kA = 0.17883277, kB = 1 - 4 * kA;
const double kC = 0.5 - kA * std::log(4 * kA);

double hlg_light(double signal) {
  if (signal <= 0) return 0;
  return signal <= 0.5 ? signal * signal / 3 : (std::exp((signal - kC) / kA) + kB) / 12;
}

double hlg_signal(double light) {
  if (light <= 0) return 0;
  return light <= 1. / 12 ? std::sqrt(3 * light) : kA * std::log(12 * light - kB) + kC;
}

/* IEC 61966-2-1, with the constants that make both parts meet. */
double srgb_light(double signal) {
  if (signal <= 0) return 0;
  return signal <= 0.04045 ? signal / 12.92 : std::pow((signal + 0.055) / 1.055, 2.4);
}

double srgb_signal(double light) {
  if (light <= 0) return 0;
  return light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

}  // namespace

double TransferCurve::light(double signal) const {
  switch (kind) {
    case Kind::kPq: return pq_light(signal);
    case Kind::kHlg: return hlg_light(signal);
    case Kind::kSrgb: return srgb_light(signal);
    case Kind::kGamma: break;
  }
  return std::pow(std::max(signal, 0.0), gamma);
}

double TransferCurve::signal(double light) const {
  switch (kind) {
    case Kind::kPq: return pq_signal(light);
    case Kind::kHlg: return hlg_signal(light);
    case Kind::kSrgb: return srgb_signal(light);
    case Kind::kGamma: break;
  }
  return std::pow(std::max(light, 0.0), 1 / gamma);
}

StatusOr<TransferCurve> transfer_curve_of(int transfer) {
  using enum TransferCurve::Kind;
  if (transfer == kPqTransfer) return TransferCurve{kPq};
  if (transfer == kHlgTransfer) return TransferCurve{kHlg};
  if (transfer == kSrgbTransfer) return TransferCurve{kSrgb};
  const bool is_power = transfer != Color::kUnspecified && transfer != kSmpte428Transfer;
  const double gamma = is_power ? display_gamma(transfer) : 0;
  if (gamma > 0) return TransferCurve{kGamma, gamma};
  return error(EINVAL, "transfer characteristics %d (H.273) cannot be converted", transfer);
}

double tone_mapped(double luminance, double peak, double display_peak) {
  const double whole = pq_signal(peak / kPqPeak), most = pq_signal(display_peak / kPqPeak) / whole;
  const double knee = 1.5 * most - 0.5;
  const double signal = std::min(pq_signal(luminance / kPqPeak) / whole, 1.0);
  if (most >= 1 || signal < knee) return std::min(luminance, display_peak);
  const double t = (signal - knee) / (1 - knee), t2 = t * t, t3 = t2 * t;
  const double mapped = (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * most;
  return pq_light(mapped * whole) * kPqPeak;
}

}  // namespace vmafx
