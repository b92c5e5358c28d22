#include "kernels/speed/speed_plan.h"

#include <cerrno>
#include <cmath>
#include <numbers>

#include "base/aligned.h"
#include "kernels/steps/rows.h"

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

/* Hands out pieces of memory, on cache lines. */
class Pieces {
 public:
  explicit Pieces(std::byte* memory) : memory_(memory) {}
  template <class T>
  T* take(size_t count) {
    const size_t at = bytes_;
    bytes_ += round_to_lines(count * sizeof(T));
    return memory_ ? reinterpret_cast<T*>(memory_ + at) : nullptr;
  }
  template <class T>
  Plane<T> take_plane(int w, int h) {
    const size_t pitch = (w + 2 * kSpeedSlack - 1) / kSpeedSlack * kSpeedSlack;
    return {take<T>(pitch * h), static_cast<ptrdiff_t>(pitch * sizeof(T)), w, h};
  }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* memory_;
  size_t bytes_ = 0;
};

}  // namespace

StatusOr<SpeedPlan> SpeedPlan::create(const char* metric, const SpeedOptions& options, int w, int h, int bpc,
                                      int weight_mode) {
  const double kernelscale = options.kernelscale, prescale = options.prescale;
  if (!is_vif_kernelscale(kernelscale))
    return error(EINVAL, "%s: speed_kernelscale=%g is none of %s", metric, kernelscale, kVifKernelscales);
  SpeedPlan plan;
  VMAFX_ASSIGN(plan.method, prescale_method(metric, options.prescale_method));
  plan.bpc = bpc;
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
  shape.scale = scale_to_8_bits(bpc);
  shape.weight_mode = weight_mode;
  shape.sigma_nn = static_cast<float>(options.sigma_nn);
  shape.least_entropy = least_entropy(options.sigma_nn, options.nn_floor);
  shape.antialias = antialias_window(kernelscale);
  shape.local = vif_window(4, kernelscale);
  if (std::abs(prescale - 1.0) >= 1e-3) plan.scaler.emplace(plan.method, w, h, shape.w, shape.h);
  return plan;
}

size_t SpeedPlan::lay_out(std::byte* scratch, SpeedMemory* memory) const {
  Pieces pieces(scratch);
  SpeedMemory m = {};
  if (scaler) {
    m.scaled = pieces.take_plane<float>(shape.w, shape.h);
    m.scaler = pieces.take<std::byte>(scaler->scratch_bytes());
  }
  m.small = pieces.take_plane<float>(shape.small_w, shape.small_h);
  m.centered = pieces.take_plane<float>(shape.small_w, shape.small_h);
  m.row = pieces.take<float>(shape.w + 2 * kSpeedSlack);
  m.shifted = pieces.take<double>(kSpeedDim * shape.padded_windows_x());
  m.values = pieces.take_plane<float>(shape.blocks(), kSpeedDim);
  for (int side = 0; side < 2; side++) {
    m.variance[side] = pieces.take<float>(shape.blocks() + kSpeedSlack);
    m.entropy[side] = pieces.take<float>(shape.blocks() + kSpeedSlack);
  }
  if (memory) *memory = m;
  return pieces.bytes();
}

SpeedMemory SpeedPlan::memory(std::byte* scratch) const {
  SpeedMemory memory;
  lay_out(scratch, &memory);
  return memory;
}

}  // namespace vmafx
