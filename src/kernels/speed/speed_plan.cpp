#include "kernels/speed/speed.h"

#include <cerrno>
#include <cmath>
#include <numbers>

#include "base/status.h"
#include "kernels/steps/rows.h"
#include "kernels/steps/scratch.h"

namespace vmafx {
namespace {

constexpr int kLeastSide = kSpeedStep * kSpeedBlock;

/* The window before the decimation has the taps of VIF's scale 1, but is as wide as four such filters in a row. */
GaussianWindow antialias_window(double kernelscale) {
  const int size = vif_window_size(1, kernelscale);
  return gaussian_window(size, static_cast<float>(2.0 * size / 5.0));
}

/* In floats, as libvmaf has it. */
float least_entropy(double sigma_nn, double nn_floor) {
  const double sigma = (1.0f + static_cast<float>(nn_floor)) * static_cast<float>(sigma_nn);
  return static_cast<float>(kSpeedDim * (std::log2(sigma) + std::log2(2 * std::numbers::pi * std::numbers::e)));
}

}  // namespace

StatusOr<SpeedPlan> SpeedPlan::create(const char* metric, const SpeedOptions& options, const VideoFormat& format,
                                      const SpeedPlanes& planes) {
  const double kernelscale = options.kernelscale, prescale = options.prescale;
  if (!is_vif_kernelscale(kernelscale))
    return error(EINVAL, "%s: speed_kernelscale=%g is none of %s", metric, kernelscale, kVifKernelscales);
  SpeedPlan plan;
  VMAFX_ASSIGN(plan.method, prescale_method(metric, options.prescale_method));
  plan.planes = planes;
  const int w = plan.w = format.plane_w(planes.first), h = plan.h = format.plane_h(planes.first);
  plan.bpc = format.bpc;
  plan.max_val = options.max_val;
  SpeedShape& shape = plan.shape;
  shape.w = prescaled_size(w, prescale);
  shape.h = prescaled_size(h, prescale);
  if (shape.w < kLeastSide || shape.h < kLeastSide)
    return error(EINVAL, "%s: a plane of %dx%d%s is too small, it needs %dx%d", metric, shape.w, shape.h,
                 shape.w == w && shape.h == h ? "" : ", after prescaling,", kLeastSide, kLeastSide);
  shape.small_w = shape.w / kSpeedStep;
  shape.small_h = shape.h / kSpeedStep;
  shape.blocks_x = shape.small_w / kSpeedBlock;
  shape.blocks_y = shape.small_h / kSpeedBlock;
  shape.scale = scale_to_8_bits(plan.bpc);
  shape.weight_mode = options.weight_var_mode;
  shape.sigma_nn = static_cast<float>(options.sigma_nn);
  shape.least_entropy = least_entropy(options.sigma_nn, options.nn_floor);
  shape.antialias = antialias_window(kernelscale);
  shape.local = vif_window(4, kernelscale);
  if (std::abs(prescale - 1.0) >= 1e-3) plan.scaler.emplace(plan.method, w, h, shape.w, shape.h);
  return plan;
}

SpeedMemory::SpeedMemory(const SpeedPlan& plan, std::byte* memory) {
  const SpeedShape& shape = plan.shape;
  Scratch scratch(memory);
  const auto plane = [&](int w, int h) { return scratch.take_plane<float>(w, h, 0, kSpeedSlack); };
  if (plan.scaler) {
    scaled = plane(shape.w, shape.h);
    scaler = scratch.take<std::byte>(plan.scaler->scratch_bytes());
  }
  small = plane(shape.small_w, shape.small_h);
  centered = plane(shape.small_w, shape.small_h);
  row = scratch.take<float>(shape.w + 2 * kSpeedSlack);
  shifted = scratch.take<double>(kSpeedDim * shape.padded_windows_x());
  values = plane(shape.blocks(), kSpeedDim);
  for (float*& of_side : variance) of_side = scratch.take<float>(shape.blocks() + kSpeedSlack);
  for (float*& of_side : entropy) of_side = scratch.take<float>(shape.blocks() + kSpeedSlack);
  bytes = scratch.bytes();
}

}  // namespace vmafx
