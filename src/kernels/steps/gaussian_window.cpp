#include "kernels/steps/gaussian_window.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace vmafx {

namespace {

constexpr float kKernelscales[] = {1.0f,     1 / 2.0f, 3 / 2.0f,  2.0f,      2 / 3.0f,  24 / 10.0f, 360 / 97.0f,
                                   4 / 3.0f, 3.5f / 3, 3.75f / 3, 4.25f / 3, 5 / 3.0f,  3.0f,       1 / 2.25f,
                                   1.4746f,  1.54f,    1.6f,      1.06667f,  0.711111f, 0.740740f,  1.111111f};
constexpr float kTolerance = 1e-3f;

float density(float x, float sigma) {
  const double peak = 1 / (sigma * std::sqrt(2 * std::numbers::pi));
  return static_cast<float>(std::exp(-0.5 * x / sigma * x / sigma)) / static_cast<float>(peak);
}

}  // namespace

const char* const kVifKernelscales =
    "1, 1/2, 3/2, 2, 2/3, 2.4, 360/97, 4/3, 3.5/3, 3.75/3, 4.25/3, 5/3, 3, 1/2.25, 1.4746, 1.54, 1.6, 1.06667, "
    "0.711111, "
    "0.74074, 1.111111";

GaussianWindow gaussian_window(int size, float sigma) {
  GaussianWindow window;
  window.half = size / 2;
  float sum = 0;
  for (int i = -window.half; i <= window.half; i++) sum += density(static_cast<float>(i), sigma);
  for (int i = 0; i <= window.half; i++) window.taps[i] = density(static_cast<float>(i), sigma) / sum;
  return window;
}

bool is_vif_kernelscale(double kernelscale) {
  return std::ranges::any_of(
      kKernelscales, [&](float valid) { return std::abs(static_cast<float>(kernelscale) - valid) < kTolerance; });
}

int vif_window_size(int scale, double kernelscale) {
  const int taps = (16 >> scale) + 1;
  const int size = static_cast<int>(std::ceil(static_cast<float>(taps) * static_cast<float>(kernelscale)));
  return std::max(size | 1, 3);
}

GaussianWindow vif_window(int scale, double kernelscale) {
  const int size = vif_window_size(scale, kernelscale);
  return gaussian_window(size, static_cast<float>(size) / 5.0f);
}

}  // namespace vmafx
