#include "kernels/adm/adm_csf.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <numbers>
#include <string>

namespace vmafx {

/* -- Models -------------------------------------------------------------------------------------------------------- */

namespace {

/* libvmaf mixes float and double here; each conversion below is one of its. */

/* Display resolution in pixels per degree of visual angle: about 56.55 for 1080 lines from 3 heights. */
float pixels_per_degree(const AdmDisplay& display) {
  return static_cast<float>(display.distance_h * display.height * std::numbers::pi / 180.0);
}

/* The frequency of a scale's bands, in cycles per degree. */
float nominal_frequency(const AdmDisplay& display, int scale) {
  return static_cast<float>(pixels_per_degree(display) / std::pow(2.0, scale + 1));
}

/* Watson, Yang, Solomon, Villasenor 1997: the quantization step at the threshold of visibility, formula (9), for luma
 * (table IV). `g` scales the threshold's spatial frequency by orientation, `amplitude` is the basis function's (table
 * V). */
float watson_step(float resolution, int scale, float g, float amplitude) {
  constexpr float kA = 0.495f, kK = 0.466f, kF0 = 0.401f;
  const auto octave = static_cast<float>(std::log10(std::pow(2.0, scale + 1) * kF0 * g / resolution));
  return static_cast<float>(2.0 * kA * std::pow(10.0, kK * octave * octave) / amplitude);
}

/* Barten's sensitivity as HDR-VDP 2.2.1 has it (Mantiuk, Kim, Rempel, Heidrich, ACM Transactions on Graphics 30(4),
 * 2011, article 40), at the one luminance in use. */
constexpr float kLuminance = 100;  // cd/m2

/* A fitted parameter, interpolated over the logarithm of the luminance between its values at 20 and at 150 cd/m2. */
float at_luminance(float at_20, float at_150) {
  const auto left = static_cast<float>(std::log10(20.0));
  const auto right = static_cast<float>(std::log10(150.0));
  const auto position = static_cast<float>(std::log10(static_cast<double>(kLuminance)));
  return at_20 + ((at_150 - at_20) / (right - left)) * (position - left);
}

/* Modulation transfer of the eye's optics. */
float optics(float frequency) {
  constexpr float kA[4] = {0.424838596301290f, 0.572435103936480f, 0.000167576239164937f, 0.00255872352306433f};
  constexpr float kB[4] = {0.028f, 0.37f, 37, 360};
  float transfer = 0;
  for (int i = 0; i < 4; i++)
    transfer = static_cast<float>(transfer + kA[i] * std::exp(static_cast<double>(-kB[i] * frequency)));
  return transfer;
}

/* Sensitivity of rods and cones at the luminance in use. */
float receptors() {
  constexpr float kPeak = 30.162f, kDrop = 4.0627f, kSlope = 1.6596f, kLowSlope = 0.2712f;
  const double drop = std::pow(static_cast<double>(kDrop / kLuminance), static_cast<double>(kSlope));
  return static_cast<float>(kPeak * std::pow(drop + 1, static_cast<double>(-kLowSlope)));
}

float barten(const AdmDisplay& display, int scale, double weight) {
  const float frequency = nominal_frequency(display, scale);
  const float p0 = at_luminance(0.334278f, 0.394533f);
  const float p1 = at_luminance(3.79542f, 2.7755f);
  const float p2 = at_luminance(1.07327f, 1.16577f);
  const float p3 = at_luminance(6.4635f, 7.45665f);
  const auto a = static_cast<float>(1.0f + std::pow(static_cast<double>(p0 * frequency), static_cast<double>(p1)));
  const double low = std::exp(-std::pow(static_cast<double>(frequency / 7), 2.0));
  const auto b = static_cast<float>(1.0f / std::pow(1 - low, static_cast<double>(p2)));
  const auto neural = static_cast<float>(p3 / std::pow(static_cast<double>(a * b), 0.5));
  return static_cast<float>(neural * optics(frequency) * receptors() * weight);
}

/* Mannos and Sakrison's curve with the constants of the ADM paper. The eye is 0.7 times as sharp for diagonals. */
float paper(float frequency) { return static_cast<float>((0.31 + 0.69 * frequency) * std::exp(-0.29 * frequency)); }

}  // namespace

AdmSensitivity watson_sensitivity(const AdmDisplay& display, int scale) {
  constexpr float kStraightAmplitude[kAdmScales] = {0.67234f, 0.41317f, 0.22727f, 0.11792f};
  constexpr float kDiagonalAmplitude[kAdmScales] = {0.72709f, 0.49428f, 0.28688f, 0.15214f};
  const float resolution = pixels_per_degree(display);
  return {1.0f / watson_step(resolution, scale, 1.0f, kStraightAmplitude[scale]),
          1.0f / watson_step(resolution, scale, 0.534f, kDiagonalAmplitude[scale])};
}

AdmSensitivity barten_sensitivity(const AdmDisplay& display, int scale, double straight_weight,
                                  double diagonal_weight) {
  return {barten(display, scale, straight_weight), barten(display, scale, diagonal_weight)};
}

AdmSensitivity adm_paper_sensitivity(const AdmDisplay& display, int scale) {
  const float frequency = nominal_frequency(display, scale);
  return {paper(frequency), paper(static_cast<float>(frequency / 0.7))};
}

/* -- The integer ADM ----------------------------------------------------------------------------------------------- */

namespace {

/* The blends of Barten and Watson: libvmaf's fitted values, [h and v, or d][scale]. 2160 lines from 1.5 heights are
 * seen as 1080 lines from 3. Its entries for 480 lines, and 720 from 3 heights, are below what the arithmetic can
 * serve. */
struct Blend {
  int display_height;
  double distance_h;
  float first[2][kAdmScales];  // kBlend
  float mae[2][kAdmScales];    // kBlendMae: refitted for models from v1.0.17 on
};
constexpr Blend kBlends[] = {
    {1080,
     3.0,
     {{0.01183f, 0.025026f, 0.04295f, 0.058621f}, {0.004302f, 0.011778f, 0.023918f, 0.035901f}},
     {{0.011249f, 0.022606f, 0.035930f, 0.045673f}, {0.004097f, 0.010921f, 0.021430f, 0.031313f}}},
    {1080,
     5.0,
     {{0.004212f, 0.014809f, 0.029642f, 0.047464f}, {0.000984f, 0.005852f, 0.0146f, 0.027574f}},
     {{0.004052f, 0.013939f, 0.026298f, 0.038833f}, {0.000927f, 0.005544f, 0.013415f, 0.024515f}}},
    {2160,
     1.5,
     {{0.01183f, 0.025026f, 0.04295f, 0.058621f}, {0.004302f, 0.011778f, 0.023918f, 0.035901f}},
     {{0.011249f, 0.022606f, 0.035930f, 0.045673f}, {0.004097f, 0.010921f, 0.021430f, 0.031313f}}},
    {2160,
     3.0,
     {{0.00226f, 0.01183f, 0.025026f, 0.04295f}, {0.000479f, 0.004302f, 0.011778f, 0.023918f}},
     {{0.002166f, 0.011249f, 0.022606f, 0.035930f}, {0.000447f, 0.004097f, 0.010921f, 0.021430f}}},
    {2160,
     5.0,
     {{0.000092f, 0.004212f, 0.014809f, 0.029642f}, {0.000050f, 0.000984f, 0.005852f, 0.0146f}},
     {{0.000077f, 0.004052f, 0.013939f, 0.026298f}, {0.000045f, 0.000927f, 0.005544f, 0.013415f}}},
    {720,
     5.0,
     {{0.010144f, 0.022561f, 0.040309f, 0.05672f}, {0.003463f, 0.010282f, 0.021839f, 0.034641f}},
     {{0.009689f, 0.020577f, 0.034162f, 0.044523f}, {0.003302f, 0.009579f, 0.019661f, 0.030318f}}},
};

const Blend* find_blend(const AdmViewing& viewing) {
  for (const Blend& blend : kBlends)
    if (blend.display_height == viewing.display_height && blend.distance_h == viewing.distance_h) return &blend;
  return nullptr;
}

std::string known_blends() {
  std::string pairs;
  for (const Blend& blend : kBlends)
    pairs += format_text("%s%d lines from %g", pairs.empty() ? "" : ", ", blend.display_height, blend.distance_h);
  return pairs;
}

/* The product that the 16-bit arithmetic of scale 0 is made for, in lines times heights. */
constexpr double kMinLinesTimesHeights = 3.0 * 1080;

Status check(const AdmViewing& viewing) {
  const double product = viewing.distance_h * viewing.display_height;
  if (product < kMinLinesTimesHeights)
    return error(EINVAL,
                 "adm: adm_norm_view_dist %g times adm_ref_display_height %d is %g; the 16-bit arithmetic needs %g",
                 viewing.distance_h, viewing.display_height, product, kMinLinesTimesHeights);
  const bool blended = viewing.mode == AdmCsfMode::kBlend || viewing.mode == AdmCsfMode::kBlendMae;
  if (blended && !find_blend(viewing))
    return error(EINVAL,
                 "adm: adm_csf_mode %d is not known for adm_ref_display_height %d lines seen from adm_norm_view_dist "
                 "%g heights; it is for: %s",
                 static_cast<int>(viewing.mode), viewing.display_height, viewing.distance_h, known_blends().c_str());
  return {};
}

AdmSensitivity sensitivity(const AdmViewing& viewing, int scale) {
  const AdmDisplay display = {viewing.distance_h, viewing.display_height};
  switch (viewing.mode) {
    case AdmCsfMode::kWatson97: return watson_sensitivity(display, scale);
    case AdmCsfMode::kBarten: return barten_sensitivity(display, scale, viewing.scale, viewing.diagonal_scale);
    case AdmCsfMode::kBlend: return {find_blend(viewing)->first[0][scale], find_blend(viewing)->first[1][scale]};
    case AdmCsfMode::kBlendMae: return {find_blend(viewing)->mae[0][scale], find_blend(viewing)->mae[1][scale]};
  }
  return {};
}

/* The sensitivity as libvmaf converts it. All modes' sensitivities but kBarten's fit the types that it converts to. */
uint32_t fixed_point(float value, int exponent) {
  return static_cast<uint32_t>(std::ldexp(static_cast<double>(value), exponent));
}

/* A scale's factors in fixed point: binary places, and the largest sensitivities for which no step of the arithmetic
 * drops a high bit, whatever the picture (adm_math.h). At scale 0 the largest weighted coefficient of bands h and v,
 * 22930 * 0.01 * 2^6, is below 15360, from which on the masking's center tap would leave 16 bits; the limit of band d
 * is that of libvmaf's own constant. */
struct FixedPoint {
  int straight_places, diagonal_places;
  double most_straight, most_diagonal;
};
constexpr FixedPoint kFine = {21, 23, 0.01, 0.0058}, kCoarse = {32, 32, 0.03125, 0.03125};

/* The least exponent for which value / 2^exponent is at most `most`. */
int exponent_within(double value, double most) {
  int exponent = 0;
  const double mantissa = std::frexp(value / most, &exponent);
  return mantissa == 0.5 ? exponent - 1 : exponent;
}

/* Barten's factors (1 to 30, times up to 50 by adm_csf_scale and adm_csf_diag_scale) are given a unit in which the
 * larger one fills the fixed point. A factor of 0 has no say in it. */
int unit_of(const FixedPoint& format, const AdmSensitivity& sensitivity) {
  const double straight = static_cast<double>(sensitivity.straight),
               diagonal = static_cast<double>(sensitivity.diagonal);
  if (straight == 0 && diagonal == 0) return 0;
  if (straight == 0) return exponent_within(diagonal, format.most_diagonal);
  if (diagonal == 0) return exponent_within(straight, format.most_straight);
  return std::max(exponent_within(straight, format.most_straight), exponent_within(diagonal, format.most_diagonal));
}

}  // namespace

Status adm_sensitivities(const AdmViewing& viewing, std::span<AdmSensitivity, kAdmScales> scales) {
  VMAFX_TRY(check(viewing));
  for (int s = 0; s < kAdmScales; s++) scales[s] = sensitivity(viewing, s);
  return {};
}

int adm_fixed_sensitivity(const AdmViewing& viewing, int scale, const AdmSensitivity& sensitivity,
                          uint32_t (&rfactor)[kAdmBands]) {
  const FixedPoint& format = scale == 0 ? kFine : kCoarse;
  const double product = viewing.distance_h * viewing.display_height;
  const bool usual = viewing.mode == AdmCsfMode::kWatson97 && std::abs(product - kMinLinesTimesHeights) < 1.0e-8;
  if (viewing.mode == AdmCsfMode::kBarten) {
    const int unit = unit_of(format, sensitivity);
    const auto rounded = [unit](float value, int places) {
      return static_cast<uint32_t>(std::lround(std::ldexp(static_cast<double>(value), places - unit)));
    };
    rfactor[0] = rfactor[1] = rounded(sensitivity.straight, format.straight_places);
    rfactor[2] = rounded(sensitivity.diagonal, format.diagonal_places);
    return unit;
  }
  if (scale == 0 && usual) {  // libvmaf's constants, 1.3 and 2.3 above the formula
    rfactor[0] = rfactor[1] = 36453;
    rfactor[2] = 49417;
  } else {
    rfactor[0] = rfactor[1] = fixed_point(sensitivity.straight, format.straight_places);
    rfactor[2] = fixed_point(sensitivity.diagonal, format.diagonal_places);
  }
  return 0;
}

}  // namespace vmafx
