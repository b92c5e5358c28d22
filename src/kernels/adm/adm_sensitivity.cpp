#include "kernels/adm/adm_sensitivity.h"

#include <cmath>
#include <numbers>

#include "kernels/adm/adm_scales.h"

namespace vmafx {
namespace {

/* libvmaf mixes float and double here; each conversion below is one of its. */

/* Display resolution in pixels per degree of visual angle: about 56.55 for 1080 lines from 3 heights. */
float pixels_per_degree(const AdmDisplay& display) {
  return static_cast<float>(display.distance_h * display.height * std::numbers::pi / 180.0);
}

/* Of a scale's bands, in cycles per degree. */
float nominal_frequency(const AdmDisplay& display, int scale) {
  return static_cast<float>(pixels_per_degree(display) / std::pow(2.0, scale + 1));
}

/* Watson, Yang, Solomon, Villasenor 1997: the quantisation step at the threshold of visibility, formula (9), for luma
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
float paper(float frequency) {
  return static_cast<float>((0.31 + 0.69 * frequency) * std::exp(-0.29 * frequency));
}

}  // namespace

AdmSensitivity watson_sensitivity(const AdmDisplay& display, int scale) {
  constexpr float kStraightAmplitude[kAdmScales] = {0.67234f, 0.41317f, 0.22727f, 0.11792f};
  constexpr float kDiagonalAmplitude[kAdmScales] = {0.72709f, 0.49428f, 0.28688f, 0.15214f};
  const float resolution = pixels_per_degree(display);
  return {1.0f / watson_step(resolution, scale, 1.0f, kStraightAmplitude[scale]),
          1.0f / watson_step(resolution, scale, 0.534f, kDiagonalAmplitude[scale])};
}

AdmSensitivity barten_sensitivity(const AdmDisplay& display, int scale, double straight_weight, double diagonal_weight) {
  return {barten(display, scale, straight_weight), barten(display, scale, diagonal_weight)};
}

AdmSensitivity adm_paper_sensitivity(const AdmDisplay& display, int scale) {
  const float frequency = nominal_frequency(display, scale);
  return {paper(frequency), paper(static_cast<float>(frequency / 0.7))};
}

}  // namespace vmafx
