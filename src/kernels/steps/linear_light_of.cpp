#include "kernels/steps/linear_light_of.h"

#include <cerrno>
#include <cmath>
#include <iterator>

#include "kernels/steps/matrix3.h"

namespace vmafx {
namespace {

// -- Transfer --------------------------------------------------------------------------------------------------------

constexpr double kMostCode = 65535;

/* From v^gamma to the codes of sRGB. */
DisplayCurve of_gamma(double gamma) {
  constexpr double kToe = 0.0031308, kToeScale = 12.92 * kMostCode;
  const double toe = std::pow(kToe, 1 / gamma);
  return {.toe = toe,
          .toe_scale = kToeScale,
          .toe_power = gamma,
          .scale = 1.055 * kMostCode,
          .power = gamma == 2.4 ? 1 : gamma / 2.4,
          .offset = -0.055 * kMostCode,
          .inverse_toe = static_cast<float>(1 / toe),
          .code_at_toe = static_cast<float>(kToe * kToeScale)};
}

constexpr DisplayCurve kSrgb = {.toe = 0,
                                .toe_scale = 0,
                                .toe_power = 1,
                                .scale = kMostCode,
                                .power = 1,
                                .offset = 0,
                                .inverse_toe = 1,
                                .code_at_toe = 0};

/* The power of the display by transfer characteristics; 0: none that is known. */
constexpr double kGamma[] = {0, 2.4, 2.4, 0, 2.2, 2.8, 2.4, 2.4, 1, 0, 0, 2.4, 2.4, 0, 2.4, 2.4, 0, 2.6};

StatusOr<DisplayCurve> curve_of(int transfer) {
  if (transfer == kSrgbTransfer) return kSrgb;
  const double gamma = display_gamma(transfer);
  if (gamma > 0) return of_gamma(gamma);
  return error(EINVAL, "transfer characteristics %d (H.273) have no white to scale to; those of SDR do", transfer);
}

// -- Matrix ----------------------------------------------------------------------------------------------------------

/* By matrix coefficients; 0: they are unknown, or not a linear function of R'G'B'. */
constexpr LumaParts kLumaParts[] = {{},           {0.2126, 0.0722}, {0.2126, 0.0722}, {},
                                    {0.30, 0.11}, {0.299, 0.114},   {0.299, 0.114},   {0.212, 0.087},
                                    {},           {0.2627, 0.0593}};

// -- Primaries -------------------------------------------------------------------------------------------------------

struct Chromaticity {
  double x, y;
  Vector3 xyz() const { return {x / y, 1, (1 - x - y) / y}; }
};

struct Primaries {
  Chromaticity red, green, blue, white;

  Matrix3 to_xyz() const {
    const Vector3 r = red.xyz(), g = green.xyz(), b = blue.xyz();
    const Matrix3 columns = {r[0], g[0], b[0], r[1], g[1], b[1], r[2], g[2], b[2]};
    return product(columns, diagonal(product(inverse(columns), white.xyz())));
  }
};

constexpr Chromaticity kD65 = {0.3127, 0.3290}, kC = {0.310, 0.316}, kDci = {0.314, 0.351};
constexpr Primaries kBt709 = {{0.640, 0.330}, {0.300, 0.600}, {0.150, 0.060}, kD65};

StatusOr<Primaries> primaries_of(int code) {
  switch (code) {
    case 1:
    case 2: return kBt709;
    case 4: return Primaries{{0.67, 0.33}, {0.21, 0.71}, {0.14, 0.08}, kC};
    case 5: return Primaries{{0.64, 0.33}, {0.29, 0.60}, {0.15, 0.06}, kD65};
    case 6:
    case 7: return Primaries{{0.630, 0.340}, {0.310, 0.595}, {0.155, 0.070}, kD65};
    case 8: return Primaries{{0.681, 0.319}, {0.243, 0.692}, {0.145, 0.049}, kC};
    case 9: return Primaries{{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}, kD65};
    case 11: return Primaries{{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}, kDci};
    case 12: return Primaries{{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}, kD65};
    case 22: return Primaries{{0.630, 0.340}, {0.295, 0.605}, {0.155, 0.077}, kD65};
    default: return error(EINVAL, "color primaries %d (H.273) are not known", code);
  }
}

/* Bradford's adaptation of XYZ under one white to that under another. */
Matrix3 adapted(const Chromaticity& from, const Chromaticity& to) {
  constexpr Matrix3 kCones = {0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296};
  const Vector3 a = product(kCones, from.xyz()), b = product(kCones, to.xyz());
  return product(inverse(kCones), product(diagonal({b[0] / a[0], b[1] / a[1], b[2] / a[2]}), kCones));
}

/* The system gamma of HLG, less 1, by the extended formula of BT.2390: within 0.012 of BT.2100's from 400 to 2000
 * cd/m2, and equal at 1000. */
float hlg_power_of(double peak) { return static_cast<float>(1.2 * std::pow(1.111, std::log2(peak / 1000)) - 1); }

}  // namespace

double display_gamma(int transfer) { return transfer >= 0 && transfer < std::ssize(kGamma) ? kGamma[transfer] : 0; }

StatusOr<LumaParts> luma_parts_of(int matrix) {
  const LumaParts parts = matrix >= 0 && matrix < std::ssize(kLumaParts) ? kLumaParts[matrix] : LumaParts{};
  if (parts.red > 0) return parts;
  return error(EINVAL, "matrix coefficients %d (H.273) are unknown, or not a linear function of R'G'B'", matrix);
}

StatusOr<LinearLight> display_rgb_of(const VideoFormat& format) {
  const bool full_range = format.color.range == Color::Range::kFull;
  VMAFX_ASSIGN(const LumaParts parts, luma_parts_of(format.color.matrix));
  const double step = 1 << (format.bpc - 8), most = (1 << format.bpc) - 1;
  const double luma = full_range ? most : 219 * step, chroma = 16 * (full_range ? most : 224 * step);
  const double red = 2 * (1 - parts.red), blue = 2 * (1 - parts.blue), green = 1 - parts.red - parts.blue;
  return LinearLight{.luma = 1 / luma,
                     .luma_offset = full_range ? 0 : -16 * step / luma,
                     .red_cr = red / chroma,
                     .green_cb = -blue * parts.blue / green / chroma,
                     .green_cr = -red * parts.red / green / chroma,
                     .blue_cb = blue / chroma,
                     .neutral_chroma = 16 << (format.bpc - 1),
                     .display = DisplayLight::kSdr,
                     .curve = kSrgb,
                     .hlg_power = 0};
}

StatusOr<LinearLight> linear_light_of(const VideoFormat& format) {
  VMAFX_ASSIGN(const DisplayCurve curve, curve_of(format.color.transfer));
  VMAFX_ASSIGN(LinearLight light, display_rgb_of(format));
  light.curve = curve;
  return light;
}

StatusOr<LinearLight> linear_light_of(const VideoFormat& format, double hlg_peak) {
  const int transfer = format.color.transfer;
  if (transfer != kPqTransfer && transfer != kHlgTransfer) return linear_light_of(format);
  VMAFX_ASSIGN(LinearLight light, display_rgb_of(format));
  light.display = transfer == kPqTransfer ? DisplayLight::kPq : DisplayLight::kHlg;
  light.hlg_power = hlg_power_of(hlg_peak);
  return light;
}

PictureLight picture_light_of(const VideoFormat& format, const LinearLight& light) {
  return {.w = format.w,
          .h = format.h,
          .bpc = format.bpc,
          .has_chroma = format.planes() == 3,
          .chroma_w = format.plane_w(1),
          .chroma_h = format.plane_h(1),
          .across = chroma_across(format),
          .down = chroma_down(format),
          .light = light};
}

StatusOr<PictureLight> picture_light_of(const VideoFormat& format) {
  VMAFX_ASSIGN(const LinearLight light, linear_light_of(format));
  return picture_light_of(format, light);
}

StatusOr<std::array<double, 9>> primaries_to_xyz(int code) {
  VMAFX_ASSIGN(const Primaries primaries, primaries_of(code));
  return product(adapted(primaries.white, kD65), primaries.to_xyz());
}

StatusOr<std::array<double, 9>> primaries_to_bt709(const VideoFormat& format) {
  const int code = format.color.primaries;
  if (code == 1 || code == 2) return Matrix3{1, 0, 0, 0, 1, 0, 0, 0, 1};
  VMAFX_ASSIGN(const Matrix3 to_xyz, primaries_to_xyz(code));
  return product(inverse(kBt709.to_xyz()), to_xyz);
}

ChromaAxis chroma_across(const VideoFormat& format) {
  using enum Color::ChromaLocation;
  const auto at = format.color.chroma_location;
  return {.halved = format.chroma == Chroma::k420 || format.chroma == Chroma::k422,
          .offset = at == kCenter || at == kTop || at == kBottom ? 1 : 0};
}

ChromaAxis chroma_down(const VideoFormat& format) {
  using enum Color::ChromaLocation;
  const auto at = format.color.chroma_location;
  return {.halved = format.chroma == Chroma::k420,
          .offset = at == kTopLeft || at == kTop         ? 0
                    : at == kBottomLeft || at == kBottom ? 2
                                                         : 1};
}

}  // namespace vmafx
