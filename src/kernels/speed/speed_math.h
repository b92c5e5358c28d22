/* The arithmetic of SpEED, shared by the twins, but for that of speed_matrix.h. */
#ifndef VMAFX_KERNELS_SPEED_SPEED_MATH_H
#define VMAFX_KERNELS_SPEED_SPEED_MATH_H

#include <bit>
#include <cstdint>

#include "kernels/common/device.h"
#include "kernels/speed/speed_matrix.h"
#include "kernels/speed/speed_work.h"

namespace vmafx::speed {

inline constexpr float kMiddle = 128;  // taken off the samples

/* -- Numbers ----------------------------------------------------------------------------------------------------------
 * */

inline constexpr double kTwoByLn2 = 2.8853900817779268;
inline constexpr double kFlatEntropy = 4.0941911703612819;  // log2(2 pi e)

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
  return static_cast<double>(exponent) + s * sum * kTwoByLn2;
}

/* -- Covariances ------------------------------------------------------------------------------------------------------
 * */

/* A sum over all windows is made in double: along a row of windows in eight parts, of the columns x mod 8, which bands of
 * kSpeedBand rows add up row by row; then those eight as here; then the bands. */
VMAFX_HD double total(const double* part) {
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

/* Of the products of elements a and b of the windows in rows `from` to `to` - 1 of a plane, or of a alone. */
template <bool is_pair>
VMAFX_HD double band_sum(const SpeedShape& shape, const float* m, int stride, int from, int to, int a, int b) {
  double band[8] = {};
  for (int y = from; y < to; y++) {
    const float* row_a = m + (y + a / kSpeedBlock) * stride + a % kSpeedBlock;
    const float* row_b = m + (y + b / kSpeedBlock) * stride + b % kSpeedBlock;
    const auto term = [&](int x) { return is_pair ? static_cast<double>(row_a[x]) * row_b[x] : row_a[x]; };
    double row[8] = {};
    int x = 0;
    for (; x + 8 <= shape.windows_x(); x += 8) {
      VMAFX_UNROLL
      for (int i = 0; i < 8; i++) row[i] += term(x + i);
    }
    VMAFX_UNROLL
    for (int i = 0; i < 8; i++)
      if (x + i < shape.windows_x()) row[i] += term(x + i);
    VMAFX_UNROLL
    for (int i = 0; i < 8; i++) band[i] += row[i];
  }
  return total(band);
}

/* An element of K, from Σ ab, Σ a and Σ b over all windows. */
VMAFX_HD float covariance(const SpeedShape& shape, double products, double sum_a, double sum_b) {
  const double count = shape.windows_x() * shape.windows_y();
  return static_cast<float>((products - sum_a * sum_b / count) / count);
}

/* -- Blocks -----------------------------------------------------------------------------------------------------------
 * */

/* K made usable. */
struct Model {
  float turned[n][kSpeedRow], triangle[n][kSpeedRow];  // of factorise()
  float eigenvalues[n];
  int32_t is_regular;   // all of the eigenvalues are above 0,
  int32_t is_solvable;  // and the diagonal of the triangle is
};
static_assert(sizeof(Model) == kSpeedModelBytes);

VMAFX_HD bool is_regular(const float* eigenvalues) {
  for (int i = 0; i < n; i++)
    if (!(eigenvalues[i] >= kEpsilon)) return false;
  return true;
}

/* Whether K, which is used up, can be made one. */
template <class Team>
bool make_model(const Team& team, Matrix k, Model* model) {
  FactorRoom room = {};
  factorise(team, k, &room, model->turned, model->triangle);
  Tridiagonal t;
  float v[2 * n], x[n];
  tridiagonalise(team, k, v, x, &t);
  diagonalise(&t);
  for (int i = 0; i < n; i++) model->eigenvalues[i] = t.diagonal[i];
  model->is_regular = is_regular(model->eigenvalues);
  model->is_solvable = is_solvable(model->triangle);
  return model->is_regular && model->is_solvable;
}

/* A block as one of the sides has it. */
struct Block {
  float variance;  // S
  float entropy;   // E
};
static_assert(sizeof(Block) == kSpeedBlockBytes);

/* y' K^-1 y / 25 of a block: y(i) are its samples, x(i) memory for as many. */
template <class Samples, class Memory>
VMAFX_HD float variance(const Model& model, const Samples& y, const Memory& x) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int k = 0; k < n; k++) sum += model.turned[i][k] * y(k);
    x(i) = sum;
  }
  for (int i = n - 1; i >= 0; i--) {
    float left = x(i);
    for (int k = i + 1; k < n; k++) left -= x(k) * model.triangle[i][k];
    x(i) = left / model.triangle[i][i];
  }
  float sum = x(0) * y(0) / n;
  for (int i = 1; i < n; i++) sum += x(i) * y(i) / n;
  return sum;
}

/* Where K is near to singular, rounding can leave an S below 0, or none: it then counts as 0 where there is no
 * logarithm of it. */
VMAFX_HD double positive(double x, double otherwise) { return x > 0 ? x : otherwise; }

VMAFX_HD float entropy(const Model& model, float variance, float sigma) {
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum = static_cast<float>(sum + (log2(positive(model.eigenvalues[i] * variance + sigma, sigma)) + kFlatEntropy));
  return sum;
}

/* What weighs the entropies: log2(1 + S), of the S that the mode says. */
VMAFX_HD double weight(int mode, bool of_dist, float ref, float dist) {
  const bool is_mixed = mode == 3 || (mode > 3 && of_dist);
  const double mean = (ref + dist) / 2.0;
  const double mixed = mode <= 4 ? mean : mode == 5 ? 0.75 * ref + 0.25 * dist : 0.25 * ref + 0.75 * dist;
  const float own = mode == 2 || (mode == 0 && of_dist) ? dist : ref;
  return log2(positive(is_mixed ? 1 + mixed : 1 + own, 1));
}

VMAFX_HD float difference(const SpeedShape& shape, const Block& ref, const Block& dist) {
  if (ref.entropy < shape.least_entropy && dist.entropy < shape.least_entropy) return 0;
  const auto a = static_cast<float>(ref.entropy * weight(shape.weight_mode, false, ref.variance, dist.variance));
  const auto b = static_cast<float>(dist.entropy * weight(shape.weight_mode, true, ref.variance, dist.variance));
  return absolute(a - b);
}

}  // namespace vmafx::speed

#endif
