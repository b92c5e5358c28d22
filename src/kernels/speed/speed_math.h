/* The arithmetic of SpEED, shared by the twins. What a twin may do in parallel it gives to a Team:
 *
 *   team.each(count, f)    f(i) for i from 0 to count - 1, in any order; then all that they wrote is seen by all
 *   team.square(size, f)   f(i, j) for i and j from 0 to size - 1, likewise
 *
 * With a team of one, Alone, these are plain loops. */
#ifndef VMAFX_KERNELS_SPEED_SPEED_MATH_H
#define VMAFX_KERNELS_SPEED_SPEED_MATH_H

#include <bit>
#include <cstdint>

#include "kernels/common/device.h"
#include "kernels/common/fixed.h"
#include "kernels/speed/speed_work.h"

namespace vmafx::speed {

inline constexpr int n = kSpeedDim;
inline constexpr float kMiddle = 128;  // taken off the samples: what is close to 0 loses less

/* m in multiples of 2^-20, as int32_t: |m| < 2^10, as x is below 2^8, a difference below 2^9, and prescaling may double
 * them. 2^-18 would be seen in small planes, see weighted(). */
inline constexpr int kBits = 20;
inline constexpr double kUnit = 0x1p-20;
/* The sum over blocks: each below 25 · 31 · 14, of which 2^17 make 2^31. */
inline constexpr int kScoreBits = 30;
inline constexpr double kLeastEigenvalue = 1e-6;

struct Alone {
  template <class F>
  VMAFX_HD void each(int count, F f) const {
    for (int i = 0; i < count; i++) f(i);
  }
  template <class F>
  VMAFX_HD void square(int size, F f) const {
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) f(i, j);
  }
};

/* A sum under a symmetric window; values(i) for i from -half to half. In libvmaf's order, so that m has its bits: small
 * planes have a K so near to singular that the last ones are seen in the fifth digit of scores. */
template <class Values>
VMAFX_HD float weighted(const GaussianWindow& window, Values values) {
  float sum = 0;
  for (int k = -window.half; k <= window.half; k++) sum += window.taps[k < 0 ? -k : k] * values(k);
  return sum;
}

/* -- Numbers ----------------------------------------------------------------------------------------------------------
 * */

VMAFX_HD double to_double(__int128 value) {
  const auto size = static_cast<unsigned __int128>(value < 0 ? -value : value);
  const auto high = static_cast<uint64_t>(size >> 64), low = static_cast<uint64_t>(size);
  const double positive = static_cast<double>(high) * 0x1p64 + static_cast<double>(low);
  return value < 0 ? -positive : positive;
}

/* Of a normal x > 0, within 1e-15; the same everywhere, as it is made of + - * only: a guess from the bits at 1 / root,
 * 3 % off, and what Newton makes of it. */
VMAFX_HD double square_root(double x) {
  double y = std::bit_cast<double>(INT64_C(0x5fe6eb50c7b537a9) - (std::bit_cast<int64_t>(x) >> 1));
  for (int i = 0; i < 5; i++) y = y * (1.5 - 0.5 * x * y * y);
  return x * y;
}

/* Of a normal x > 0, within 1e-14: x = 2^e m, m in [2/3, 4/3); log m = 2 artanh((m - 1) / (m + 1)), whose series ends
 * at (1/5)^21. */
VMAFX_HD double log2(double x) {
  const int64_t bits = std::bit_cast<int64_t>(x);
  const int64_t above = bits - INT64_C(0x3fe5555555555555);  // the bits of 2/3
  const int64_t exponent = above >> 52;
  const double m = std::bit_cast<double>(bits - exponent * (INT64_C(1) << 52));
  const double s = (m - 1) / (m + 1), z = s * s;
  double sum = 1.0 / 19;
  sum = sum * z + 1.0 / 17;
  sum = sum * z + 1.0 / 15;
  sum = sum * z + 1.0 / 13;
  sum = sum * z + 1.0 / 11;
  sum = sum * z + 1.0 / 9;
  sum = sum * z + 1.0 / 7;
  sum = sum * z + 1.0 / 5;
  sum = sum * z + 1.0 / 3;
  sum = sum * z + 1.0;
  return static_cast<double>(exponent) + s * sum * 2.8853900817779268;  // 2 / ln 2
}

/* -- The matrix -------------------------------------------------------------------------------------------------------
 * */

/* Cov(a, b) from Σ ab, Σ a and Σ b over `count` samples. */
VMAFX_HD double covariance(__int128 products, int64_t sum_a, int64_t sum_b, int count) {
  const __int128 scaled = products * count - static_cast<__int128>(sum_a) * sum_b;
  return to_double(scaled) / (static_cast<double>(count) * count) * (kUnit * kUnit);
}

/* K, from Σ over all 5x5 windows of the products of their elements a and b <= a, and from those of each element. */
template <class Products>
VMAFX_HD void fill_covariances(const SpeedShape& shape, Products products, const int64_t* sums, double (*k)[n]) {
  const int count = shape.windows_x() * shape.windows_y();
  for (int a = 0; a < n; a++)
    for (int b = 0; b <= a; b++) k[a][b] = k[b][a] = covariance(products(a, b), sums[a], sums[b], count);
}

/* K made usable. */
struct Model {
  double lower[n][n];   // L of K = L D L', below its diagonal of ones
  double inverse[n];    // of D
  double diagonal[n];   // of the tridiagonal T, which has K's eigenvalues
  double beside2[n];    // [i]: the square of T's element beside diagonal[i - 1] and [i]
  int64_t regular;
};
static_assert(sizeof(Model) == kSpeedModelBytes);

/* One of Householder's reflections: makes column k of `a` tridiagonal, in the part that is left, from k on. */
template <class Team>
VMAFX_HD void reflect(const Team& team, int k, double (*a)[n], double* product, Model* model) {
  double rest = 0;
  for (int i = k + 2; i < n; i++) rest += a[i][k] * a[i][k];
  const double first = a[k + 1][k], norm2 = first * first + rest;
  team.each(1, [&](int) {
    model->diagonal[k] = a[k][k];
    model->beside2[k + 1] = norm2;
  });
  if (!(rest > 1e-200)) return;
  const double norm = square_root(norm2), v_first = first < 0 ? first - norm : first + norm;
  const double half = first < 0 ? norm2 - norm * first : norm2 + norm * first;  // v'v / 2
  const int left = n - 1 - k;
  team.each(left, [&](int r) {
    const int i = k + 1 + r;
    double sum = a[i][k + 1] * v_first;
    for (int j = k + 2; j < n; j++) sum += a[i][j] * a[j][k];
    product[i] = sum / half;
  });
  double along = v_first * product[k + 1];
  for (int i = k + 2; i < n; i++) along += a[i][k] * product[i];
  along /= 2 * half;
  team.square(left, [&](int r, int c) {
    const int i = k + 1 + r, j = k + 1 + c;
    const double v_i = i == k + 1 ? v_first : a[i][k], v_j = j == k + 1 ? v_first : a[j][k];
    a[i][j] -= v_i * (product[j] - along * v_j) + v_j * (product[i] - along * v_i);
  });
}

/* Whether all of T's eigenvalues are above the least: T less that is positive definite. */
VMAFX_HD bool is_regular(const Model& model) {
  double pivot = model.diagonal[0] - kLeastEigenvalue;
  for (int i = 1; i < n; i++) {
    if (!(pivot > 0)) return false;
    pivot = model.diagonal[i] - kLeastEigenvalue - model.beside2[i] / pivot;
  }
  return pivot > 0;
}

/* K = L D L', step k: only below the diagonal; in column k of `a` L is left times D. */
template <class Team>
VMAFX_HD void eliminate(const Team& team, int k, double (*a)[n], Model* model) {
  const double inverse = 1 / a[k][k];
  const int left = n - 1 - k;
  team.each(left, [&](int r) { model->lower[k + 1 + r][k] = a[k + 1 + r][k] * inverse; });
  team.square(left, [&](int r, int c) {
    if (c <= r) a[k + 1 + r][k + 1 + c] -= model->lower[k + 1 + r][k] * a[k + 1 + c][k];
  });
  team.each(1, [&](int) { model->inverse[k] = inverse; });
}

/* `k` is used up; `work` and `product` are memory. All of it is shared by the team. */
template <class Team>
VMAFX_HD void make_model(const Team& team, double (*k)[n], double (*work)[n], double* product, Model* model) {
  team.square(n, [&](int i, int j) {
    work[i][j] = k[i][j];
    model->lower[i][j] = 0;
  });
  team.each(n, [&](int i) { model->inverse[i] = model->beside2[i] = 0; });
  for (int i = 0; i < n - 2; i++) reflect(team, i, work, product, model);
  team.each(1, [&](int) {
    model->diagonal[n - 2] = work[n - 2][n - 2];
    model->diagonal[n - 1] = work[n - 1][n - 1];
    model->beside2[n - 1] = work[n - 1][n - 2] * work[n - 1][n - 2];
  });
  const bool regular = is_regular(*model);
  if (regular)
    for (int i = 0; i < n; i++) eliminate(team, i, k, model);
  team.each(1, [&](int) { model->regular = regular; });
}

/* -- Blocks -----------------------------------------------------------------------------------------------------------
 * */

/* A block as one of the sides has it. */
struct Block {
  double variance;  // S
  double entropy;   // E
};

/* Of S T + sigma I, by the recurrence for tridiagonal matrices; 0.1^25 to 10^235, as the trace of K is below 25 · 2^20
 * and S below the number of blocks. */
VMAFX_HD double determinant(const Model& model, double variance, double sigma) {
  double last = 1, now = variance * model.diagonal[0] + sigma;
  for (int i = 1; i < n; i++) {
    const double next = (variance * model.diagonal[i] + sigma) * now - variance * variance * model.beside2[i] * last;
    last = now;
    now = next;
  }
  return now;
}

VMAFX_HD double entropy(double determinant) {
  constexpr double kFlat = 4.0941911703612819;  // log2(2 pi e)
  return log2(determinant) + n * kFlat;
}

/* What weighs the entropies: log2(1 + S), of the S that the mode says. */
VMAFX_HD double weighing_variance(int mode, bool of_dist, double ref, double dist) {
  switch (mode) {
    case 1: return ref;
    case 2: return dist;
    case 3: return (ref + dist) / 2;
    case 4: return of_dist ? (ref + dist) / 2 : ref;
    case 5: return of_dist ? 0.75 * ref + 0.25 * dist : ref;
    case 6: return of_dist ? 0.25 * ref + 0.75 * dist : ref;
    default: return of_dist ? dist : ref;
  }
}

VMAFX_HD int64_t difference(const SpeedShape& shape, const Block& ref, const Block& dist) {
  if (ref.entropy < shape.least_entropy && dist.entropy < shape.least_entropy) return 0;
  const double a = ref.entropy * log2(1 + weighing_variance(shape.weight_mode, false, ref.variance, dist.variance));
  const double b = dist.entropy * log2(1 + weighing_variance(shape.weight_mode, true, ref.variance, dist.variance));
  return to_fixed<kScoreBits>(a < b ? b - a : a - b);
}

}  // namespace vmafx::speed

#endif
