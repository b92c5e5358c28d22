#include "kernels/adm/adm_csf.h"

#include <cerrno>
#include <cmath>
#include <string>

namespace vmafx {
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
    {1080, 3.0,
     {{0.01183f, 0.025026f, 0.04295f, 0.058621f}, {0.004302f, 0.011778f, 0.023918f, 0.035901f}},
     {{0.011249f, 0.022606f, 0.035930f, 0.045673f}, {0.004097f, 0.010921f, 0.021430f, 0.031313f}}},
    {1080, 5.0,
     {{0.004212f, 0.014809f, 0.029642f, 0.047464f}, {0.000984f, 0.005852f, 0.0146f, 0.027574f}},
     {{0.004052f, 0.013939f, 0.026298f, 0.038833f}, {0.000927f, 0.005544f, 0.013415f, 0.024515f}}},
    {2160, 1.5,
     {{0.01183f, 0.025026f, 0.04295f, 0.058621f}, {0.004302f, 0.011778f, 0.023918f, 0.035901f}},
     {{0.011249f, 0.022606f, 0.035930f, 0.045673f}, {0.004097f, 0.010921f, 0.021430f, 0.031313f}}},
    {2160, 3.0,
     {{0.00226f, 0.01183f, 0.025026f, 0.04295f}, {0.000479f, 0.004302f, 0.011778f, 0.023918f}},
     {{0.002166f, 0.011249f, 0.022606f, 0.035930f}, {0.000447f, 0.004097f, 0.010921f, 0.021430f}}},
    {2160, 5.0,
     {{0.000092f, 0.004212f, 0.014809f, 0.029642f}, {0.000050f, 0.000984f, 0.005852f, 0.0146f}},
     {{0.000077f, 0.004052f, 0.013939f, 0.026298f}, {0.000045f, 0.000927f, 0.005544f, 0.013415f}}},
    {720, 5.0,
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
    case AdmCsfMode::kBarten:
      return barten_sensitivity(display, scale, viewing.scale, viewing.diagonal_scale);
    case AdmCsfMode::kBlend: return {find_blend(viewing)->first[0][scale], find_blend(viewing)->first[1][scale]};
    case AdmCsfMode::kBlendMae: return {find_blend(viewing)->mae[0][scale], find_blend(viewing)->mae[1][scale]};
  }
  return {};
}

/* The low `bits` bits of value * 2^exponent: libvmaf converts to unsigned types that Barten's factors (1 to 30, times
 * the options' scale) do not fit. */
uint32_t cut_fixed_point(float value, int exponent, uint32_t bits) {
  return static_cast<uint32_t>(static_cast<int64_t>(std::ldexp(static_cast<double>(value), exponent))) & bits;
}

}  // namespace

Status adm_sensitivities(const AdmViewing& viewing, AdmSensitivity (&scales)[kAdmScales]) {
  VMAFX_TRY(check(viewing));
  for (int s = 0; s < kAdmScales; s++) scales[s] = sensitivity(viewing, s);
  return {};
}

void adm_fixed_sensitivity(const AdmViewing& viewing, int scale, const AdmSensitivity& sensitivity,
                           uint32_t (&rfactor)[kAdmBands]) {
  const double product = viewing.distance_h * viewing.display_height;
  const bool usual = viewing.mode == AdmCsfMode::kWatson97 && std::abs(product - kMinLinesTimesHeights) < 1.0e-8;
  if (scale > 0) {
    rfactor[0] = rfactor[1] = cut_fixed_point(sensitivity.straight, 32, UINT32_MAX);
    rfactor[2] = cut_fixed_point(sensitivity.diagonal, 32, UINT32_MAX);
  } else if (usual) {  // libvmaf's constants, 1.3 and 2.3 above the formula
    rfactor[0] = rfactor[1] = 36453;
    rfactor[2] = 49417;
  } else {
    rfactor[0] = rfactor[1] = cut_fixed_point(sensitivity.straight, 21, UINT16_MAX);
    rfactor[2] = cut_fixed_point(sensitivity.diagonal, 23, UINT16_MAX);
  }
}

}  // namespace vmafx
