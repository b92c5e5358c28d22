/* The arithmetic of SpEED, shared by the twins, but for that of speed_matrix.h and speed_blocks-inl.h. */
#ifndef VMAFX_KERNELS_SPEED_SPEED_MATH_H
#define VMAFX_KERNELS_SPEED_SPEED_MATH_H

#include <cstdint>

#include "kernels/gpu/device.h"
#include "kernels/speed/speed_matrix.h"
#include "kernels/speed/speed_shape.h"

namespace vmafx::speed {

inline constexpr float kMiddle = 128;  // taken off the samples

/* -- Covariances --------------------------------------------------------------------------------------------------- */

/* A sum over all windows is made in double: along a row of windows in eight parts, of the columns x mod 8, which bands
 * of kSpeedBand rows add up row by row; then those eight as here; then the bands. */
VMAFX_HD double total(const double* part) {
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

/* Σ of the products of elements a and b, or of a alone, over the windows in rows `from` to `to` - 1 of a plane. */
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

/* -- Blocks -------------------------------------------------------------------------------------------------------- */

using Model = SpeedModel;

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

}  // namespace vmafx::speed

#endif
