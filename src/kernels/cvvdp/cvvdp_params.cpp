#include "kernels/cvvdp/cvvdp_params.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/cvvdp/cvvdp_display.h"
#include "kernels/cvvdp/cvvdp_sensitivity.h"

namespace vmafx {
namespace {

constexpr int kLeastSize = 4;

/* -- Time ---------------------------------------------------------------------------------------------------------- */

constexpr double kSeconds = 0.25;     // length of the filters
constexpr double kTransientPeak = 5;  // Hz
constexpr double kSpread[kCvvdpChannels] = {5.79336, 14.1255, 6.63661, 0.12314};
constexpr double kPower[kCvvdpChannels] = {1.3314, 1.1196, 0.947901, 0.1898};

double response(int channel, double hertz) {
  const double bent = std::pow(hertz, kPower[channel]);
  if (channel < kCvvdpPlanes) return std::exp(-bent / kSpread[channel]);
  const double apart = bent - std::pow(kTransientPeak, kPower[channel]);
  return std::exp(-apart * apart / kSpread[channel]);
}

int taps_of(double fps) { return 2 * static_cast<int>(std::ceil(kSeconds * fps / 2)) + 1; }

/* The filter of a response that is real: taps around the middle one. */
void make_filter(int channel, double fps, int taps, float* filter) {
  const int half = taps / 2;
  for (int k = 0; k < taps; k++) {
    double sum = response(channel, 0);
    for (int i = 1; i <= half; i++)
      sum += 2 * response(channel, fps / 2 * i / half) * std::cos(2 * std::numbers::pi * i * (k - half) / taps);
    filter[k] = static_cast<float>(sum / taps);
  }
}

/* -- Space --------------------------------------------------------------------------------------------------------- */

constexpr double kLeastFrequency = 0.2, kBaseFrequency = 0.1;  // cycles per degree
constexpr double kSecondBand = 0.3228;  // relative to the highest frequency; each further band has half of it

double frequency_of(int band, double pixels_per_degree) {
  return pixels_per_degree / 2 * (band ? kSecondBand * std::exp2(1 - band) : 1);
}

int bands_of(const VideoFormat& format, double pixels_per_degree) {
  const int most = std::bit_width(static_cast<unsigned>(std::min(format.w, format.h))) - 2;
  int bands = 0;
  while (bands < kCvvdpMostBands - 2 && frequency_of(bands, pixels_per_degree) > kLeastFrequency) bands++;
  return std::clamp(bands + 1, 0, most) + 1;
}

/* -- Sensitivity --------------------------------------------------------------------------------------------------- */

constexpr double kCorrection = -0.2797423303127289;        // dB
constexpr double kGain[kCvvdpChannels] = {1, 1.45, 1, 1};  // but of the base band
constexpr double kInnerGain = 2;                           // gain of bands that are neither the first nor the last

/* The decimal logarithm, linear between the table's frequencies and beyond them. */
double log_sensitivity(int channel, int light, double frequency) {
  const double step = std::log10(kCvvdpMostFrequency / kCvvdpLeastFrequency) / (kCvvdpFrequencies - 1);
  const double place = std::log10(frequency / kCvvdpLeastFrequency) / step;
  const int at = std::clamp(static_cast<int>(std::floor(place)), 0, kCvvdpFrequencies - 2);
  const float* const row = kCvvdpSensitivity[channel][light];
  return row[at] + (static_cast<double>(row[at + 1]) - row[at]) * (place - at);
}

void set_sensitivity(CvvdpParams& params, int b, double frequency) {
  const bool is_base = b == params.bands - 1;
  for (int c = 0; c < kCvvdpChannels; c++) {
    const double gain = (is_base ? 1 : kGain[c]) * (is_base || b == 0 ? 1 : kInnerGain);
    float* const table = params.band[b].sensitivity[c];
    for (int light = 0; light < kCvvdpLights; light++)
      table[light] = static_cast<float>((log_sensitivity(c, light, frequency) + kCorrection / 20) * std::log2(10.0) +
                                        std::log2(gain));
    table[kCvvdpLights] = table[kCvvdpLights - 1];
  }
}

void set_bands(CvvdpParams& params, double pixels_per_degree) {
  int w = params.w, h = params.h;
  for (int b = 0; b < params.bands; b++) {
    params.band[b].w = w;
    params.band[b].h = h;
    set_sensitivity(params, b, b == params.bands - 1 ? kBaseFrequency : frequency_of(b, pixels_per_degree));
    w = (w + 1) / 2;
    h = (h + 1) / 2;
  }
  const double lights = std::log2(kCvvdpMostLight / kCvvdpLeastLight), scale = (kCvvdpLights - 1) / lights;
  params.light_scale = static_cast<float>(scale);
  params.light_offset = static_cast<float>(-std::log2(kCvvdpLeastLight) * scale);
}

/* -- Masking ------------------------------------------------------------------------------------------------------- */

constexpr double kBlurSigma = 3, kMaskGain = -0.7954971194267273;  // the logarithm
constexpr double kMostDifference = 2.5642454624176025;             // likewise
constexpr double kLogMasks[kCvvdpChannels][kCvvdpChannels] = {
    {-0.18950104713439941, -5.962151050567627, -4.31834602355957, -1.9321587085723877},
    {2.5655593872070312, 0.34406712651252747, -2.719646453857422, -0.4970424771308899},
    {3.8118371963500977, -1.0051705837249756, -0.5193376541137695, -0.5653647780418396},
    {-7.054771423339844, -5.527150630950928, -3.5106418132781982, -2.08804988861084}};

void set_masking(CvvdpParams& params) {
  double blur[kCvvdpBlurReach + 1], sum = 0;
  for (int k = 0; k <= kCvvdpBlurReach; k++) {
    blur[k] = std::exp(-0.5 * k * k / (kBlurSigma * kBlurSigma));
    sum += (k ? 2 : 1) * blur[k];
  }
  std::ranges::transform(blur, params.blur, [&](double tap) { return static_cast<float>(tap / sum); });
  params.blur_gain = static_cast<float>(std::pow(10, kMaskGain));
  params.most_difference = static_cast<float>(std::pow(10, kMostDifference));
  params.least_difference = std::pow(kCvvdpSmall, kCvvdpDifferencePower);
  for (int k = 0; k < kCvvdpChannels; k++) {
    params.least_mask[k] = std::pow(kCvvdpSmall, kCvvdpMaskPower[k]);
    for (int c = 0; c < kCvvdpChannels; c++) params.masks[k][c] = static_cast<float>(std::exp2(kLogMasks[k][c]));
  }
}

}  // namespace

StatusOr<CvvdpParams> cvvdp_params(const CvvdpViewing& viewing, const VideoFormat& format) {
  if (std::min(format.w, format.h) < kLeastSize)
    return error(EINVAL, "%dx%d is too small; it needs pictures of at least %dx%d", format.w, format.h, kLeastSize,
                 kLeastSize);
  if (!(viewing.fps > 0)) return error(EINVAL, "the inputs do not say their frame rate: set its option fps");
  const int taps = taps_of(viewing.fps);
  if (taps > kCvvdpMostTaps) return error(EINVAL, "%g frames per second are more than 512", viewing.fps);
  VMAFX_ASSIGN(const CvvdpDisplayModel model,
               cvvdp_display_model(viewing.display.empty() ? std::string(cvvdp_usual_display(format)) : viewing.display,
                                   viewing.display_file));
  VMAFX_ASSIGN(const CvvdpDisplay display, cvvdp_display(model, format));
  const double pixels_per_degree =
      viewing.pixels_per_degree > 0 ? viewing.pixels_per_degree : cvvdp_pixels_per_degree(model);
  CvvdpParams params{};
  static_cast<CvvdpConversion&>(params) = {
      .w = format.w,
      .h = format.h,
      .bpc = format.bpc,
      .has_chroma = format.plane_w(1) > 0 && format.plane_h(1) > 0 && format.planes() == 3,
      .chroma_w = format.plane_w(1),
      .chroma_h = format.plane_h(1),
      .across = {.halved = format.chroma == Chroma::k420 || format.chroma == Chroma::k422, .offset = 1},
      .down = {.halved = format.chroma == Chroma::k420, .offset = 1},
      .display = display};
  params.taps = taps;
  params.bands = bands_of(format, pixels_per_degree);
  for (int c = 0; c < kCvvdpChannels; c++) make_filter(c, viewing.fps, taps, params.filter[c]);
  set_bands(params, pixels_per_degree);
  set_masking(params);
  return params;
}

}  // namespace vmafx
