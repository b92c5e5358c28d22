/* The table of cvvdp_sensitivity.cpp. */
#ifndef VMAFX_KERNELS_CVVDP_CVVDP_SENSITIVITY_H
#define VMAFX_KERNELS_CVVDP_CVVDP_SENSITIVITY_H

#include "kernels/cvvdp/cvvdp_math.h"

namespace vmafx {

inline constexpr int kCvvdpFrequencies = 32;
inline constexpr double kCvvdpLeastFrequency = 0.1, kCvvdpMostFrequency = 64;  // cycles per degree
inline constexpr double kCvvdpLeastLight = 0.005, kCvvdpMostLight = 10000;     // cd/m²

extern const float kCvvdpSensitivity[kCvvdpChannels][kCvvdpLights][kCvvdpFrequencies];

}  // namespace vmafx

#endif
