/* The SIMD twin of SpEED: one source for every instruction set, equal to speed_plain.cpp to the last bit.
 *
 * Only the rows under a window of the decimation are read, 9 of 16, and of them sums down are made at every column,
 * across at every 16th. A row of products, of which K has 325 in each row of windows, is made once for the up to five
 * windows that it is a row of. The blocks of a plane are lanes of the rest.
 *
 * All but the last sum over blocks is made of one side alone, so several encodes share the reference's variances and
 * entropies: n of them cost (n + 1) / 2n of what they cost alone, eight 0.56. */
#include "kernels/speed/speed.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include "kernels/speed/speed_math.h"
#include "kernels/steps/mirror.h"
#include "kernels/steps/prefetch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/speed/speed_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/speed/speed_blocks-inl.h"
#include "kernels/steps/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

void score_plane(const SpeedPlan& plan, const SpeedPlane& ref, std::span<const SpeedPlane> dists, std::byte* scratch,
                 std::span<SpeedSums* const> sums) {
  speed_plain(plan, ref, dists, scratch, sums);
}

#else

using namespace speed;

constexpr hn::CappedTag<double, 8> dd;         // the parts of a sum
constexpr hn::CappedTag<float, kSpeedRow> dr;  // a row of a matrix
using VD = hn::Vec<decltype(dd)>;
using VR = hn::Vec<decltype(dr)>;

HWY_INLINE int double_lanes() { return static_cast<int>(hn::Lanes(dd)); }

/* -- Decimation ---------------------------------------------------------------------------------------------------- */

constexpr int kPictures = 2;  // at most, that samples are made of

/* Σ down the rows around `y`. A last vector overlaps the one before: planes are wider than a vector. Meanwhile the rows
 * of `pictures` around the next `y` are asked for. */
template <class T, class Source>
void sum_down(const SpeedShape& shape, const Source& source, std::span<const Plane<const T>> pictures, int y,
              float* out) {
  const GaussianWindow& window = shape.antialias;
  int rows[2 * kMaxWindowHalf + 1];
  for (int k = -window.half; k <= window.half; k++) rows[k + window.half] = mirror(y + k, shape.h);
  Ahead ahead[kPictures * std::size(rows)];
  int size = 0;
  for (const Plane<const T>& picture : pictures)
    for (int k = -window.half; k <= window.half; k++) ahead[size++] = Ahead(picture, y + kSpeedStep + k);
  for (int next = 0; next < shape.w; next += lanes()) {
    const int x = std::min(next, shape.w - lanes());
    for (int i = 0; i < size; i++) ahead[i].fetch(x);
    store(ordered_sum<0>(window, [&](int k) HWY_ATTR { return source(rows[k + window.half], x); }), out + x);
  }
}

/* Σ across `row` around every 16th column. */
void sum_across(const GaussianWindow& window, const float* row, int count, float* out) {
  const VI columns = hn::Mul(hn::Iota(DI(), 0), hn::Set(DI(), kSpeedStep));
  for (int x = 0; x < count; x += lanes()) {
    const float* from = row + x * kSpeedStep;
    const VI inside = hn::Min(columns, hn::Set(DI(), (count - 1 - x) * kSpeedStep));
    const auto values = [&](int k) HWY_ATTR { return Real(hn::GatherIndex(DF(), from + k, inside)); };
    store(ordered_sum<0>(window, values), out + x);
  }
}

/* pictures: those that `source` reads, if any. */
template <class T, class Source>
void decimate(const SpeedShape& shape, const Source& source, std::span<const Plane<const T>> pictures,
              const SpeedMemory& memory) {
  float* row = memory.row + kSpeedSlack;
  for (int y = 0; y < shape.small_h; y++) {
    sum_down(shape, source, pictures, y * kSpeedStep, row);
    extend_mirrored(row, shape.w, shape.antialias.half);
    sum_across(shape.antialias, row, shape.small_w, memory.small.row(y));
  }
}

template <class T>
void decimate_samples(const SpeedShape& shape, const SpeedPlane& plane, const SpeedMemory& memory) {
  const Plane<const T> pictures[kPictures] = {plane.now.as<T>(), plane.before.as<T>()};
  const auto& [now, before] = pictures;
  if (before.data) decimate<T>(shape, Differences{now, before, shape.scale}, pictures, memory);
  else decimate<T>(shape, Samples{now, shape.scale}, {pictures, 1}, memory);
}

void decimate_scaled(const SpeedPlan& plan, const SpeedPlane& plane, const SpeedMemory& memory) {
  const PrescaledRows wanted = {kSpeedStep, plan.shape.antialias.half};
  plan.scaler->simd(speed_source(plan, plane), memory.scaled, memory.scaler, wanted);
  decimate<float>(plan.shape, [&](int y, int x) HWY_ATTR { return load(memory.scaled.row(y) + x); }, {}, memory);
}

void center(const SpeedShape& shape, const SpeedMemory& memory) {
  const GaussianWindow& window = shape.local;
  const Plane<float>& small = memory.small;
  float* row = memory.row + kSpeedSlack;
  for (int y = 0; y < small.h; y++) {
    const auto column = [&](int x) HWY_ATTR {
      return ordered_sum<0>(window, [&](int k) HWY_ATTR { return load(small.row(mirror(y + k, small.h)) + x); });
    };
    for (int x = 0; x < small.w; x += lanes()) store(column(x), row + x);
    extend_mirrored(row, small.w, window.half);
    for (int x = 0; x < small.w; x += lanes())
      store(load(small.row(y) + x) - ordered_sum<0>(window, AlongRow{row + x}), memory.centered.row(y) + x);
  }
}

/* -- Covariances --------------------------------------------------------------------------------------------------- */

/* K of the rows of m, which are given from the first one on. Row y of m is that of elements 5 i to 5 i + 4 in row y - i
 * of windows. */
class Covariances {
 public:
  Covariances(const SpeedShape& shape, const SpeedMemory& memory)
      : shape_(shape), m_(memory.centered), shifted_(memory.shifted), padded_(shape.padded_windows_x()) {}

  void add_row(int y) {
    shift_row(y);
    for (int apart = 0; apart < std::min(y + 1, kSpeedBlock); apart++)
      for (int x = 0; x < kSpeedBlock; x++) {
        const double *upper = shifted(y - apart, x), *lower = shifted(y, 0);
        for (int part = 0; part < 8; part += double_lanes()) multiply_rows(upper, lower, y - apart, apart, x, part);
      }
    for (int apart = 0; apart < std::min(y + 1, kSpeedBlock); apart++) end_bands(y - apart, apart);
  }

  void fill(Matrix k) const {
    for (int a = 0; a < n; a++)
      for (int b = 0; b <= a; b++) k[a][b] = k[b][a] = covariance(shape_, products_[b][a], sums_[a], sums_[b]);
  }

 private:
  double* shifted(int y, int x) const { return shifted_ + (y % kSpeedBlock * kSpeedBlock + x) * padded_; }

  /* Row y of m as each column of windows has it, then zeros. */
  void shift_row(int y) {
    const int w = shape_.windows_x();
    for (int x = 0; x < kSpeedBlock; x++) {
      const float* from = m_.row(y) + x;
      double* to = shifted(y, x);
      for (int i = 0; i < w; i++) to[i] = from[i];
      std::fill(to + w, to + padded_, 0.0);
    }
  }

  /* The rows of windows that element row `first` is in, when it is row y of m: in these, y - first. */
  bool is_row(int y, int first) const { return y >= first && y - first < shape_.windows_y(); }

  /* Some of the eight parts of the sums of products of column x of row y with those of the row that lies `apart` below,
   * and of row y itself. */
  HWY_INLINE void multiply_rows(const double* upper, const double* lower, int y, int apart, int x, int part) {
    VD sum0 = hn::Zero(dd), sum1 = sum0, sum2 = sum0, sum3 = sum0, sum4 = sum0, alone = sum0;
    for (int i = part; i < padded_; i += 8) {
      const VD value = hn::LoadU(dd, upper + i);
      const double* others = lower + i;
      sum0 = hn::Add(sum0, hn::Mul(value, hn::LoadU(dd, others)));
      sum1 = hn::Add(sum1, hn::Mul(value, hn::LoadU(dd, others + padded_)));
      sum2 = hn::Add(sum2, hn::Mul(value, hn::LoadU(dd, others + 2 * padded_)));
      sum3 = hn::Add(sum3, hn::Mul(value, hn::LoadU(dd, others + 3 * padded_)));
      sum4 = hn::Add(sum4, hn::Mul(value, hn::LoadU(dd, others + 4 * padded_)));
      alone = hn::Add(alone, value);
    }
    for (int first = 0; first + apart < kSpeedBlock; first++) {
      if (!is_row(y, first)) continue;
      const int a = first * kSpeedBlock + x;
      double(*bands)[8] = product_bands_[a] + (first + apart) * kSpeedBlock;
      add(sum0, bands[0] + part);
      add(sum1, bands[1] + part);
      add(sum2, bands[2] + part);
      add(sum3, bands[3] + part);
      add(sum4, bands[4] + part);
      if (apart == 0) add(alone, sum_bands_[a] + part);
    }
  }

  static HWY_INLINE void add(VD row, double* band) { hn::StoreU(hn::Add(hn::LoadU(dd, band), row), dd, band); }

  void end_bands(int y, int apart) {
    for (int first = 0; first + apart < kSpeedBlock; first++) {
      const int row = y - first;
      if (!is_row(y, first) || !((row + 1) % kSpeedBand == 0 || row + 1 == shape_.windows_y())) continue;
      for (int x = 0; x < kSpeedBlock; x++) {
        const int a = first * kSpeedBlock + x;
        for (int other = 0; other < kSpeedBlock; other++) {
          const int b = (first + apart) * kSpeedBlock + other;
          end_band(product_bands_[a][b], &products_[a][b]);
        }
        if (apart == 0) end_band(sum_bands_[a], &sums_[a]);
      }
    }
  }
  static void end_band(double* band, double* sum) {
    *sum += total(band);
    std::fill_n(band, 8, 0.0);
  }

  const SpeedShape& shape_;
  const Plane<float>& m_;
  double* const shifted_;
  const int padded_;
  double product_bands_[n][n][8] = {}, sum_bands_[n][8] = {};  // sums of the present band
  double products_[n][n] = {}, sums_[n] = {};
};

/* -- Matrices ------------------------------------------------------------------------------------------------------ */

/* A team of one, which multiplies whole rows at a time. */
struct Rows : Alone {
  HWY_NOINLINE void product(int first, int column, ConstMatrix a, ConstMatrix b, Matrix out) const {
    const int step = static_cast<int>(hn::Lanes(dr));
    for (int j = column / step * step; j < n; j += step) {
      int i = first;
      for (; i + 4 <= n; i += 4) {
        VR sum0 = hn::Zero(dr), sum1 = sum0, sum2 = sum0, sum3 = sum0;
        for (int k = first; k < n; k++) {
          const VR row = hn::LoadU(dr, b[k] + j);
          sum0 = hn::Add(sum0, hn::Mul(hn::Set(dr, a[i][k]), row));
          sum1 = hn::Add(sum1, hn::Mul(hn::Set(dr, a[i + 1][k]), row));
          sum2 = hn::Add(sum2, hn::Mul(hn::Set(dr, a[i + 2][k]), row));
          sum3 = hn::Add(sum3, hn::Mul(hn::Set(dr, a[i + 3][k]), row));
        }
        hn::StoreU(sum0, dr, out[i] + j);
        hn::StoreU(sum1, dr, out[i + 1] + j);
        hn::StoreU(sum2, dr, out[i + 2] + j);
        hn::StoreU(sum3, dr, out[i + 3] + j);
      }
      for (; i < n; i++) {
        VR sum = hn::Zero(dr);
        for (int k = first; k < n; k++) sum = hn::Add(sum, hn::Mul(hn::Set(dr, a[i][k]), hn::LoadU(dr, b[k] + j)));
        hn::StoreU(sum, dr, out[i] + j);
      }
    }
  }
};

/* -- Blocks -------------------------------------------------------------------------------------------------------- */

void gather_blocks(const SpeedShape& shape, const Plane<float>& m, const Plane<float>& values) {
  for (int i = 0; i < n; i++)
    for (int y = 0; y < shape.blocks_y; y++) {
      const float* row = m.row(y * kSpeedBlock + i / kSpeedBlock) + i % kSpeedBlock;
      for (int x = 0; x < shape.blocks_x; x++) values.row(i)[y * shape.blocks_x + x] = row[x * kSpeedBlock];
    }
}

/* Whether K can be used. */
bool measure(const SpeedPlan& plan, const SpeedPlane& plane, const SpeedMemory& memory, int side) {
  const SpeedShape& shape = plan.shape;
  if (plan.scaler) decimate_scaled(plan, plane, memory);
  else if (plan.bpc == 8) decimate_samples<uint8_t>(shape, plane, memory);
  else decimate_samples<uint16_t>(shape, plane, memory);
  center(shape, memory);
  Covariances covariances(shape, memory);
  for (int y = 0; y < shape.windows_y() + kSpeedBlock - 1; y++) covariances.add_row(y);
  float k[n][kSpeedRow] = {};
  covariances.fill(k);
  Model model = {};
  if (!make_model(Rows(), k, &model)) return false;
  gather_blocks(shape, memory.centered, memory.values);
  for (int b = 0; b < shape.blocks(); b += lanes()) {
    Real solution[n];
    const auto sample = [&](int i) HWY_ATTR { return load(memory.values.row(i) + b); };
    const Real s = variance(model, sample, [&](int i) HWY_ATTR -> Real& { return solution[i]; });
    store(s, memory.variance[side] + b);
    store(entropy(model, s, shape.sigma_nn), memory.entropy[side] + b);
  }
  return true;
}

void score_plane(const SpeedPlan& plan, const SpeedPlane& ref, std::span<const SpeedPlane> dists, std::byte* scratch,
                 std::span<SpeedSums* const> sums) {
  speed_score(plan, ref, dists, scratch, measure, sums);
}

#endif

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(score_plane);

void speed_simd(const SpeedPlan& plan, const SpeedPlane& ref, std::span<const SpeedPlane> dists, std::byte* scratch,
                std::span<SpeedSums* const> sums) {
  HWY_DYNAMIC_DISPATCH(score_plane)(plan, ref, dists, scratch, sums);
}

}  // namespace vmafx
#endif
