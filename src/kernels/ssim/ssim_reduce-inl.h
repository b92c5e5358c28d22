/* The first scale's plane from samples: means over blocks. */
#if defined(VMAFX_KERNELS_SSIM_SSIM_REDUCE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_SSIM_SSIM_REDUCE_INL_H
#undef VMAFX_KERNELS_SSIM_SSIM_REDUCE_INL_H
#else
#define VMAFX_KERNELS_SSIM_SSIM_REDUCE_INL_H
#endif

#include "kernels/ssim/ssim_math-inl.h"
#include "kernels/ssim/ssim_rows.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {

/* The sum over `rows` rows of lanes() columns from x on. */
template <class T>
HWY_INLINE void add_columns(const T* const* in, int rows, int x, Real scale, Real weight, float* high, float* low) {
  SsimSampleSum sum(load_samples(in[0] + x) * scale * weight);
  for (int i = 1; i < rows; i++) sum.add(load_samples(in[i] + x) * scale * weight);
  store(sum.high(), high + x);
  store(sum.low(), low + x);
}

/* The sums of columns of a row of blocks. */
template <class T>
void sum_columns(const SsimParams& params, const T* const* in, int w, float* high, float* low) {
  const int step = lanes();
  const Real scale = Real(scale_to_8_bits(params.bpc)), weight = Real(ssim_block_weight(params.factor));
  int x = 0;
  for (; x + step <= w; x += step) add_columns(in, params.factor, x, scale, weight, high, low);
  if (x == w) return;
  if (w >= step) return add_columns(in, params.factor, w - step, scale, weight, high, low); /* some once more */
  T padded[10][kRowSlack] = {};
  const T* rows[10] = {};
  for (int i = 0; i < params.factor; i++) {
    std::copy_n(in[i], w, padded[i]);
    rows[i] = padded[i];
  }
  add_columns(rows, params.factor, 0, scale, weight, high, low);
}

/* Over `factor` columns each. */
template <int factor>
void mean_columns(const float* high, const float* low, int count, float* out) {
  high += ssim_first_sample(0, factor);
  low += ssim_first_sample(0, factor);
  for (int x = 0; x < count; x++, high += factor, low += factor) {
    float high_sum = 0, low_sum = 0;
    VMAFX_UNROLL
    for (int i = 0; i < factor; i++) {
      high_sum += high[i];
      low_sum += low[i];
    }
    out[x] = high_sum + low_sum;
  }
}

/* `mean_columns<factor>` for each. */
using MeanColumns = void (*)(const float*, const float*, int, float*);
inline MeanColumns mean_columns_of(int factor) {
  switch (factor) {
    case 2: return mean_columns<2>;
    case 3: return mean_columns<3>;
    case 4: return mean_columns<4>;
    case 5: return mean_columns<5>;
    case 6: return mean_columns<6>;
    case 7: return mean_columns<7>;
    case 8: return mean_columns<8>;
    case 9: return mean_columns<9>;
    default: return mean_columns<10>;
  }
}

template <class T>
void reduce(const SsimParams& params, const Plane<const T>& in, const SsimMemory& memory, const Plane<float>& out) {
  const int factor = params.factor;
  const MeanColumns mean_columns = mean_columns_of(factor);
  for (int y = 0; y < out.h; y++) {
    const T* rows[10] = {};
    for (int i = 0; i < factor; i++) rows[i] = in.row(mirror_repeated(ssim_first_sample(y, factor) + i, in.h));
    sum_columns(params, rows, in.w, memory.columns(0), memory.columns(1));
    for (const int kind : {0, 1}) extend_repeated(memory.columns(kind), in.w, std::min(factor, in.w));
    mean_columns(memory.columns(0), memory.columns(1), out.w, out.row(y));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#endif
