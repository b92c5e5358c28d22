/* The SIMD twin of SpEED: one source for every instruction set, equal to speed_ref.cpp to the last bit.
 *
 * Only the rows under a window of the decimation are read, 9 of 16, and of them sums down are made at every column,
 * across at every 16th. K's 325 sums of products are made of 41: two elements of a 5x5 window that lie (dx, dy) apart
 * have the same products as any other two, but for rows and columns at the ends. The blocks of a plane are lanes of the
 * rest. */
#include "kernels/speed/speed.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/common/mirror.h"
#include "kernels/common/rows.h"
#include "kernels/speed/speed_math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/speed/speed_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

void score_plane(const SpeedPlan& plan, const SpeedPlane& ref, const SpeedPlane& dist, std::byte* scratch,
                 SpeedSums* sums) {
  speed_ref(plan, ref, dist, scratch, sums);
}

#else

namespace hn = hwy::HWY_NAMESPACE;
using namespace speed;

constexpr hn::ScalableTag<float> df;
constexpr hn::ScalableTag<int32_t> di;
constexpr hn::ScalableTag<double> dd;
constexpr hn::ScalableTag<int64_t> dl;
using VF = hn::Vec<decltype(df)>;
using VD = hn::Vec<decltype(dd)>;
using VL = hn::Vec<decltype(dl)>;

HWY_INLINE int float_lanes() { return static_cast<int>(hn::Lanes(df)); }
HWY_INLINE int long_lanes() { return static_cast<int>(hn::Lanes(dl)); }

/* -- Decimation -------------------------------------------------------------------------------------------------------
 * */

template <class T>
HWY_INLINE VF load_samples(const T* from) {
  return hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(hn::Rebind<T, decltype(df)>(), from)));
}

/* What decimate() reads, at rows y and columns x. */
template <class T>
struct Samples {
  Plane<const T> now;
  float scale;
  HWY_INLINE VF operator()(int y, int x) const {
    return hn::Sub(hn::Mul(load_samples(now.row(y) + x), hn::Set(df, scale)), hn::Set(df, kMiddle));
  }
};
template <class T>
struct Differences {
  Plane<const T> now, before;
  float scale;
  HWY_INLINE VF operator()(int y, int x) const {
    return hn::Mul(hn::Sub(load_samples(before.row(y) + x), load_samples(now.row(y) + x)), hn::Set(df, scale));
  }
};
struct Floats {
  Plane<float> now;
  HWY_INLINE VF operator()(int y, int x) const { return hn::LoadU(df, now.row(y) + x); }
};
struct FloatDifferences {
  Plane<float> now, before;
  HWY_INLINE VF operator()(int y, int x) const {
    return hn::Sub(hn::LoadU(df, before.row(y) + x), hn::LoadU(df, now.row(y) + x));
  }
};

/* Σ down the rows around `y`. A last vector overlaps the one before: planes are wider than a vector. */
template <class Source>
void sum_down(const SpeedShape& shape, const Source& source, int y, float* out) {
  const GaussianWindow& window = shape.antialias;
  int rows[2 * kMaxWindowHalf + 1];
  for (int k = -window.half; k <= window.half; k++) rows[k + window.half] = mirror(y + k, shape.h);
  const int step = float_lanes();
  for (int next = 0; next < shape.w; next += step) {
    const int x = std::min(next, shape.w - step);
    VF sum = hn::Zero(df);
    for (int k = -window.half; k <= window.half; k++)
      sum = hn::Add(sum, hn::Mul(hn::Set(df, window.taps[k < 0 ? -k : k]), source(rows[k + window.half], x)));
    hn::StoreU(sum, df, out + x);
  }
}

/* Σ across `row` around every 16th column. */
void sum_across(const GaussianWindow& window, const float* row, int count, float* out) {
  const auto columns = hn::Mul(hn::Iota(di, 0), hn::Set(di, kSpeedStep));
  for (int x = 0; x < count; x += float_lanes()) {
    const float* from = row + x * kSpeedStep;
    const auto inside = hn::Min(columns, hn::Set(di, (count - 1 - x) * kSpeedStep));
    VF sum = hn::Zero(df);
    for (int k = -window.half; k <= window.half; k++)
      sum = hn::Add(sum, hn::Mul(hn::Set(df, window.taps[k < 0 ? -k : k]), hn::GatherIndex(df, from + k, inside)));
    hn::StoreU(sum, df, out + x);
  }
}

template <class Source>
void decimate(const SpeedShape& shape, const Source& source, const SpeedMemory& memory) {
  float* row = memory.row + kSpeedSlack;
  for (int y = 0; y < shape.small_h; y++) {
    sum_down(shape, source, y * kSpeedStep, row);
    extend_mirrored(row, shape.w, shape.antialias.half);
    sum_across(shape.antialias, row, shape.small_w, memory.small.row(y));
  }
}

template <class T>
void decimate_samples(const SpeedShape& shape, const SpeedPlane& plane, const SpeedMemory& memory) {
  const auto now = plane.now.as<T>(), before = plane.before.as<T>();
  if (before.data) decimate(shape, Differences<T>{now, before, shape.scale}, memory);
  else decimate(shape, Samples<T>{now, shape.scale}, memory);
}

void decimate_scaled(const SpeedPlan& plan, const SpeedPlane& plane, const SpeedMemory& memory) {
  const auto &now = memory.scaled[0], &before = memory.scaled[1];
  const PrescaledRows wanted = {kSpeedStep, plan.shape.antialias.half};
  plan.scaler->simd(plane.now, plan.bpc, -kMiddle, now, memory.scaler, wanted);
  if (plane.before.data) {
    plan.scaler->simd(plane.before, plan.bpc, -kMiddle, before, memory.scaler, wanted);
    decimate(plan.shape, FloatDifferences{now, before}, memory);
  } else {
    decimate(plan.shape, Floats{now}, memory);
  }
}

void centre(const SpeedShape& shape, const SpeedMemory& memory) {
  const GaussianWindow& window = shape.local;
  const Plane<float>& small = memory.small;
  float* row = memory.row + kSpeedSlack;
  for (int y = 0; y < small.h; y++) {
    for (int x = 0; x < small.w; x += float_lanes()) {
      VF sum = hn::Zero(df);
      for (int k = -window.half; k <= window.half; k++)
        sum = hn::Add(sum, hn::Mul(hn::Set(df, window.taps[k < 0 ? -k : k]),
                                   hn::LoadU(df, small.row(mirror(y + k, small.h)) + x)));
      hn::StoreU(sum, df, row + x);
    }
    extend_mirrored(row, small.w, window.half);
    for (int x = 0; x < small.w; x += float_lanes()) {
      VF sum = hn::Zero(df);
      for (int k = -window.half; k <= window.half; k++)
        sum = hn::Add(sum, hn::Mul(hn::Set(df, window.taps[k < 0 ? -k : k]), hn::LoadU(df, row + x + k)));
      const VF m = hn::Sub(hn::LoadU(df, small.row(y) + x), sum);
      hn::StoreU(hn::NearestInt(hn::Mul(m, hn::Set(df, 1 / static_cast<float>(kUnit)))), di, memory.centred.row(y) + x);
    }
  }
}

/* -- Covariances ------------------------------------------------------------------------------------------------------
 * */

HWY_INLINE VL products_at(const int32_t* a, const int32_t* b) {
  const hn::Rebind<int32_t, decltype(dl)> half;
  return hn::MulEven(hn::BitCast(di, hn::PromoteTo(dl, hn::LoadU(half, a))),
                     hn::BitCast(di, hn::PromoteTo(dl, hn::LoadU(half, b))));
}

/* Elements (dx, dy) apart: a at (x, y) of a window, b at (x + dx, y + dy). */
class Pairs {
 public:
  HWY_INLINE Pairs(const SpeedShape& shape, const SpeedMemory& memory, int dx, int dy)
      : shape_(shape), m_(memory.centred), columns_(memory.columns), dx_(dx), dy_(dy), first_(dx < 0 ? -dx : 0) {}

  int first() const { return first_; }

  /* Into `columns`: the products of a column, of the windows that have their first row at 0. */
  void start() {
    for (int x = first_; x < end(); x += long_lanes()) {
      VL sum = hn::Zero(dl);
      for (int y = 0; y < shape_.windows_y(); y++) sum = hn::Add(sum, at(x, y));
      hn::StoreU(sum, dl, columns_ + x);
    }
  }
  /* Those with their first row at y become those at y + 1. */
  void move_down(int y) {
    for (int x = first_; x < end(); x += long_lanes()) {
      const VL change = hn::Sub(at(x, y + shape_.windows_y()), at(x, y));
      hn::StoreU(hn::Add(hn::LoadU(dl, columns_ + x), change), dl, columns_ + x);
    }
  }
  /* Σ over the columns of the windows that have their first column at first(). */
  __int128 total() const {
    int64_t low = 0;
    __int128 high = 0;
    for (int x = first_; x < first_ + shape_.windows_x(); x++) {
      low += columns_[x] & 0xffffffff;
      high += columns_[x] >> 32;
    }
    return (high << 32) + low;
  }
  int64_t column(int x) const { return columns_[x]; }

 private:
  int end() const { return shape_.blocks_x * kSpeedBlock - (dx_ > 0 ? dx_ : 0); }
  HWY_INLINE VL at(int x, int y) const { return products_at(m_.row(y) + x, m_.row(y + dy_) + x + dx_); }

  const SpeedShape& shape_;
  const Plane<int32_t>& m_;
  int64_t* columns_;
  const int dx_, dy_, first_;
};

void multiply_pairs(const SpeedShape& shape, const SpeedMemory& memory, int dx, int dy, __int128 (*products)[n]) {
  Pairs pairs(shape, memory, dx, dy);
  pairs.start();
  for (int y = 0; y + dy < kSpeedBlock; y++) {
    if (y > 0) pairs.move_down(y - 1);
    __int128 sum = pairs.total();
    for (int x = pairs.first(); x < kSpeedBlock && x + dx < kSpeedBlock; x++) {
      if (x > pairs.first())
        sum += pairs.column(x - 1 + shape.windows_x()) - static_cast<__int128>(pairs.column(x - 1));
      const int a = y * kSpeedBlock + x, b = a + dy * kSpeedBlock + dx;
      products[b][a] = sum;
    }
  }
}

/* Σ of each element over all windows; the largest |m|. */
int64_t sum_elements(const SpeedShape& shape, const Plane<int32_t>& m, int64_t* sums) {
  int64_t largest = 0;
  std::fill_n(sums, n, 0);
  const int w = shape.windows_x(), h = shape.windows_y();
  for (int y = 0; y < h + kSpeedBlock - 1; y++) {
    const int32_t* row = m.row(y);
    int64_t sum = 0;
    for (int x = 0; x < w; x++) sum += row[x];
    for (int x = 0; x < w + kSpeedBlock - 1; x++) largest = std::max(largest, std::abs(int64_t{row[x]}));
    for (int x = 0; x < kSpeedBlock; x++) {
      if (x > 0) sum += int64_t{row[x - 1 + w]} - row[x - 1];
      for (int first = std::max(0, y - h + 1); first < kSpeedBlock && first <= y; first++)
        sums[first * kSpeedBlock + x] += sum;
    }
  }
  return largest;
}

void covariances(const SpeedShape& shape, const SpeedMemory& memory, double (*k)[n]) {
  int64_t sums[n];
  const int64_t largest = sum_elements(shape, memory.centred, sums);
  /* High planes of the strongest contrast would need more than 64 bits for a column. */
  if (largest * largest > std::numeric_limits<int64_t>::max() / shape.windows_y()) {
    speed_covariances(shape, memory.centred, k);
    return;
  }
  __int128 products[n][n];
  for (int dy = 0; dy < kSpeedBlock; dy++)
    for (int dx = dy ? 1 - kSpeedBlock : 0; dx < kSpeedBlock; dx++) multiply_pairs(shape, memory, dx, dy, products);
  fill_covariances(shape, [&](int a, int b) { return products[a][b]; }, sums, k);
}

/* -- Blocks -----------------------------------------------------------------------------------------------------------
 * */

void gather_blocks(const SpeedShape& shape, const Plane<int32_t>& m, const Plane<double>& values) {
  for (int i = 0; i < n; i++)
    for (int y = 0; y < shape.blocks_y; y++) {
      const int32_t* row = m.row(y * kSpeedBlock + i / kSpeedBlock) + i % kSpeedBlock;
      for (int x = 0; x < shape.blocks_x; x++) values.row(i)[y * shape.blocks_x + x] = row[x * kSpeedBlock] * kUnit;
    }
}

/* S of a vector of blocks, whose `values` become z. */
HWY_INLINE VD variances(const Model& model, const Plane<double>& values, int b) {
  VD sum = hn::Zero(dd);
  for (int k = 0; k < n; k++) {
    const VD z = hn::LoadU(dd, values.row(k) + b);
    sum = hn::Add(sum, hn::Mul(hn::Mul(z, z), hn::Set(dd, model.inverse[k])));
    for (int i = k + 1; i < n; i++) {
      double* at = values.row(i) + b;
      hn::StoreU(hn::Sub(hn::LoadU(dd, at), hn::Mul(hn::Set(dd, model.lower[i][k]), z)), dd, at);
    }
  }
  return hn::Div(sum, hn::Set(dd, n));
}

HWY_INLINE VD determinants(const Model& model, VD variance, VD sigma) {
  const VD squared = hn::Mul(variance, variance);
  VD last = hn::Set(dd, 1), now = hn::Add(hn::Mul(variance, hn::Set(dd, model.diagonal[0])), sigma);
  for (int i = 1; i < n; i++) {
    const VD diagonal = hn::Add(hn::Mul(variance, hn::Set(dd, model.diagonal[i])), sigma);
    const VD beside = hn::Mul(hn::Mul(squared, hn::Set(dd, model.beside2[i])), last);
    last = now;
    now = hn::Sub(hn::Mul(diagonal, now), beside);
  }
  return now;
}

void measure_blocks(const SpeedShape& shape, const Model& model, const SpeedMemory& memory, int side) {
  gather_blocks(shape, memory.centred, memory.values);
  double *variance = memory.variance[side], *entropies = memory.entropy[side];
  const VD sigma = hn::Set(dd, shape.sigma_nn);
  for (int b = 0; b < shape.blocks(); b += long_lanes()) {
    const VD s = variances(model, memory.values, b);
    hn::StoreU(s, dd, variance + b);
    hn::StoreU(determinants(model, s, sigma), dd, entropies + b);
  }
  for (int b = 0; b < shape.blocks(); b++) entropies[b] = entropy(entropies[b]);
}

/* Whether K can be used. */
bool measure(const SpeedPlan& plan, const SpeedPlane& plane, const SpeedMemory& memory, int side) {
  if (plan.scaler) decimate_scaled(plan, plane, memory);
  else if (plan.bpc == 8) decimate_samples<uint8_t>(plan.shape, plane, memory);
  else decimate_samples<uint16_t>(plan.shape, plane, memory);
  centre(plan.shape, memory);
  double k[n][n], work[n][n], product[n];
  Model model;
  covariances(plan.shape, memory, k);
  make_model(Alone(), k, work, product, &model);
  if (model.regular) measure_blocks(plan.shape, model, memory, side);
  return model.regular;
}

void score_plane(const SpeedPlan& plan, const SpeedPlane& ref, const SpeedPlane& dist, std::byte* scratch,
                 SpeedSums* sums) {
  const SpeedMemory memory = plan.memory(scratch);
  *sums = {};
  if (!measure(plan, ref, memory, 0)) sums->singular |= 1;
  if (!measure(plan, dist, memory, 1)) sums->singular |= 2;
  if (sums->singular) return;
  for (int b = 0; b < plan.shape.blocks(); b++)
    sums->difference += difference(plan.shape, {memory.variance[0][b], memory.entropy[0][b]},
                                   {memory.variance[1][b], memory.entropy[1][b]});
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(score_plane);

void speed_simd(const SpeedPlan& plan, const SpeedPlane& ref, const SpeedPlane& dist, std::byte* scratch,
                SpeedSums* sums) {
  HWY_DYNAMIC_DISPATCH(score_plane)(plan, ref, dist, scratch, sums);
}

}  // namespace vmafx
#endif
