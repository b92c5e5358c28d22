/* The definition of float_motion: both frames blurred, their difference and that at half the size, sample by sample. */
#include "kernels/motion/float_motion.h"
#include "kernels/steps/mirror.h"
#include "kernels/steps/row_sums.h"
#include "kernels/steps/rows-inl.h"

namespace vmafx {
namespace {

using Floats = Plane<float>;

/* `between` is overwritten. */
template <class Filter, class T>
void blur(const Plane<const T>& in, int bpc, const Floats& between, const Floats& out) {
  const int w = out.w, h = out.h;
  for (int y = 0; y < h; y++) samples_to_floats(in.row(y), w, scale_to_8_bits(bpc), kFloatMotionOffset, out.row(y));
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      between.row(y)[x] = ordered_sum<Filter>([&](int k) { return out.row(mirror(y + k, h))[x]; });
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      out.row(y)[x] = ordered_sum<Filter>([&](int k) { return between.row(y)[mirror(x + k, w)]; });
}

template <class T>
void blur(const FloatMotionParams& params, const Plane<const T>& in, const Floats& between, const Floats& out) {
  if (params.taps == 1) blur<FloatMotionNoBlur>(in, params.format.bpc, between, out);
  else if (params.taps == 3) blur<FloatMotionBlur3>(in, params.format.bpc, between, out);
  else blur<FloatMotionBlur5>(in, params.format.bpc, between, out);
}

void blur(const FloatMotionParams& params, const SamplePlane& in, const Floats& between, const Floats& out) {
  if (params.format.bpc == 8) blur(params, in.as<uint8_t>(), between, out);
  else blur(params, in.as<uint16_t>(), between, out);
}

float half_size_sample(const Prescaler& half, const Floats& in, int x, int y) {
  float sum = 0;
  for (int j = 0; j < half.taps(); j++)
    for (int i = 0; i < half.taps(); i++)
      sum +=
          in.row(half.row(y)[j].index)[half.column_indices(i)[x]] * (half.column_weights(i)[x] * half.row(y)[j].weight);
  return sum;
}

template <class Magnitude>
uint64_t sad(int w, int h, Magnitude magnitude) {
  RowSum sum;
  for (int y = 0; y < h; y++) {
    for (int x = 0; x < w; x++) sum.add(magnitude(x, y));
    sum.end_row();
  }
  return sum.word();
}

}  // namespace

size_t float_motion_scratch_bytes_plain(const FloatMotionParams& params) {
  return 3 * sizeof(float) * params.format.w * params.format.h;
}

void float_motion_plain(const FloatMotionParams& params, int plane, const SamplePlane& earlier,
                        const SamplePlane& current, std::byte* scratch, FloatMotionPlaneSums& sums) {
  const int w = current.w, h = current.h;
  const ptrdiff_t stride = w * static_cast<ptrdiff_t>(sizeof(float));
  const Floats a{reinterpret_cast<float*>(scratch), stride, w, h}, b{a.row(h), stride, w, h},
      between{b.row(h), stride, w, h};
  blur(params, earlier, between, a);
  blur(params, current, between, b);
  sums.sad = sad(w, h, [&](int x, int y) { return absolute(a.row(y)[x] - b.row(y)[x]); });
  if (!params.half_size[plane]) return;
  const Prescaler& half = *params.half_size[plane];
  sums.half_size_sad = sad(float_motion_half(w), float_motion_half(h), [&](int x, int y) {
    return absolute(half_size_sample(half, a, x, y) - half_size_sample(half, b, x, y));
  });
}

}  // namespace vmafx
