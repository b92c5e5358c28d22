/* Rows of the first scale from samples: as they are, or means over blocks, whose sums are exact. */
#if defined(VMAFX_KERNELS_SSIM_SSIM_REDUCE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_SSIM_SSIM_REDUCE_INL_H
#undef VMAFX_KERNELS_SSIM_SSIM_REDUCE_INL_H
#else
#define VMAFX_KERNELS_SSIM_SSIM_REDUCE_INL_H
#endif

#include "kernels/common/rows-inl.h"
#include "kernels/ssim/ssim.h"
#include "kernels/ssim/ssim_math.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {

/* What holds a sum of up to 10 samples. */
template <class T>
using ColumnSum = hwy::MakeWide<T>;

/* Sums over `rows` rows, of lanes of samples that begin at column x. */
template <class T>
HWY_INLINE void add_columns(const T* const* in, int rows, int x, ColumnSum<T>* out) {
  const hn::ScalableTag<ColumnSum<T>> wide;
  const hn::Rebind<T, decltype(wide)> narrow;
  auto sum = hn::PromoteTo(wide, hn::LoadU(narrow, in[0] + x));
  for (int i = 1; i < rows; i++) sum = hn::Add(sum, hn::PromoteTo(wide, hn::LoadU(narrow, in[i] + x)));
  hn::StoreU(sum, wide, out + x);
}

template <class T>
void sum_columns(const T* const* in, int rows, int w, ColumnSum<T>* out) {
  const int step = static_cast<int>(hn::Lanes(hn::ScalableTag<ColumnSum<T>>()));
  int x = 0;
  for (; x + step <= w; x += step) add_columns(in, rows, x, out);
  if (x == w) return;
  if (w >= step) return add_columns(in, rows, w - step, out); /* some once more */
  for (; x < w; x++) {
    out[x] = 0;
    for (int i = 0; i < rows; i++) out[x] = static_cast<ColumnSum<T>>(out[x] + in[i][x]);
  }
}

template <int factor, class Sum>
void mean_columns(const Sum* in, int count, float scale, float* out) {
  in += ssim_first_sample(0, factor);
  for (int x = 0; x < count; x++, in += factor) {
    uint32_t sum = 0;
    VMAFX_UNROLL
    for (int i = 0; i < factor; i++) sum += in[i];
    out[x] = static_cast<float>(static_cast<int32_t>(sum)) * scale;
  }
}

/* Row y of means over blocks. `columns` has room for `factor` sums before it, and kRowSlack. */
template <int factor, class T>
void mean_row(const SsimParams& params, const Plane<const T>& in, int y, ColumnSum<T>* columns, float* out) {
  const T* rows[factor];
  for (int i = 0; i < factor; i++) rows[i] = in.row(mirror_repeated(ssim_first_sample(y, factor) + i, in.h));
  sum_columns(rows, factor, in.w, columns);
  for (int i = 0; i < factor; i++) {
    columns[-1 - i] = columns[mirror_repeated(-1 - i, in.w)];
    columns[in.w + i] = columns[mirror_repeated(in.w + i, in.w)];
  }
  mean_columns<factor>(columns, ssim_reduced(in.w, factor), ssim_mean_scale(factor, params.bpc), out);
}

template <class T>
void reduce_samples(const SsimParams& params, const Plane<const T>& in, int y, uint32_t* memory, float* out) {
  auto* columns = reinterpret_cast<ColumnSum<T>*>(memory);
  switch (params.factor) {
    case 1: return samples_to_floats(in.row(y), in.w, ssim_mean_scale(1, params.bpc), out);
    case 2: return mean_row<2>(params, in, y, columns, out);
    case 3: return mean_row<3>(params, in, y, columns, out);
    case 4: return mean_row<4>(params, in, y, columns, out);
    case 5: return mean_row<5>(params, in, y, columns, out);
    case 6: return mean_row<6>(params, in, y, columns, out);
    case 7: return mean_row<7>(params, in, y, columns, out);
    case 8: return mean_row<8>(params, in, y, columns, out);
    case 9: return mean_row<9>(params, in, y, columns, out);
    default: return mean_row<10>(params, in, y, columns, out);
  }
}

HWY_INLINE void reduce_row(const SsimParams& params, const SamplePlane& in, int y, uint32_t* columns, float* out) {
  if (params.bpc == 8) reduce_samples(params, in.as<uint8_t>(), y, columns, out);
  else reduce_samples(params, in.as<uint16_t>(), y, columns, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#endif
