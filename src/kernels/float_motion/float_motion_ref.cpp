/* The definition of float_motion: differences, both passes of the blur, magnitudes, sample by sample. */
#include "kernels/common/fixed.h"
#include "kernels/common/mirror.h"
#include "kernels/common/rows-inl.h"
#include "kernels/float_motion/float_motion.h"

namespace vmafx {
namespace {

struct Floats {
  float* at;
  int w, h;
  float& operator()(int x, int y) const { return at[static_cast<size_t>(y) * w + x]; }
};

template <class T>
void subtract(const Plane<const T>& earlier, const Plane<const T>& current, int bpc, const Floats& out) {
  for (int y = 0; y < out.h; y++)
    for (int x = 0; x < out.w; x++)
      out(x, y) =
          (static_cast<float>(earlier.row(y)[x]) - static_cast<float>(current.row(y)[x])) * scale_to_8_bits(bpc);
}

/* `in` is overwritten. */
template <class Filter>
void blur(const Floats& in, const Floats& between) {
  const int w = in.w, h = in.h;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      between(x, y) = symmetric_sum<Filter>([&](int k) { return in(x, mirror(y + k, h)); });
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      in(x, y) = symmetric_sum<Filter>([&](int k) { return between(mirror(x + k, w), y); });
}

float half_size_sample(const Prescaler& half, const Floats& in, int x, int y) {
  const PrescaleTap *rows = half.row(y);
  const auto down = [&](int column) {
    return rows[0].weight * in(column, rows[0].index) + rows[1].weight * in(column, rows[1].index);
  };
  return half.column_weights(0)[x] * down(half.column_indices(0)[x]) +
         half.column_weights(1)[x] * down(half.column_indices(1)[x]);
}

}  // namespace

size_t float_motion_scratch_bytes_ref(int w, int h) { return 2 * sizeof(float) * w * h; }

void float_motion_ref(const FloatMotionParams& params, int plane, const SamplePlane& earlier,
                      const SamplePlane& current, std::byte* scratch, FloatMotionPlaneSums& sums) {
  const int w = current.w, h = current.h;
  const Floats diff{reinterpret_cast<float*>(scratch), w, h}, between{diff.at + static_cast<size_t>(w) * h, w, h};
  if (params.bpc == 8) subtract(earlier.as<uint8_t>(), current.as<uint8_t>(), params.bpc, diff);
  else subtract(earlier.as<uint16_t>(), current.as<uint16_t>(), params.bpc, diff);
  if (params.taps == 5) blur<FloatMotionBlur5>(diff, between);
  if (params.taps == 3) blur<FloatMotionBlur3>(diff, between);

  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) sums.sad += to_fixed<kFloatMotionBits>(absolute(diff(x, y)));
  if (!params.half_size[plane]) return;
  for (int y = 0; y < float_motion_half(h); y++)
    for (int x = 0; x < float_motion_half(w); x++)
      sums.half_size_sad +=
          to_fixed<kFloatMotionBits>(absolute(half_size_sample(*params.half_size[plane], diff, x, y)));
}

}  // namespace vmafx
