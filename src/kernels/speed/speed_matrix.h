/* The matrix algebra of SpEED, in single precision: each element is the result of libvmaf's operations in its order,
 * whatever the size of the team that makes them. (Sums of products with exact zeros are left out, which moves nothing
 * but signs of zeros.) The matrices are covariances, symmetric to the bit. */
#ifndef VMAFX_KERNELS_SPEED_SPEED_MATRIX_H
#define VMAFX_KERNELS_SPEED_SPEED_MATRIX_H

#include "kernels/arithmetic/real.h"
#include "kernels/gpu/device.h"
#include "kernels/speed/speed_shape.h"

namespace vmafx::speed {

inline constexpr int n = kSpeedDim;
inline constexpr double kEpsilon = 1e-6;  // smaller values count as 0

using Matrix = float (*)[kSpeedRow];
using ConstMatrix = const float (*)[kSpeedRow];

/* A team does the work that may be done in parallel:
 *
 *   team.each(count, f)    f(i) for i from 0 to count - 1, in any order; then all that they wrote is seen by all
 *   team.square(size, f)   f(i, j) for i and j from 0 to size - 1, likewise
 *   team.product(first, column, a, b, out)
 *       out[i][j] = Σ a[i][k] b[k][j] over k from `first`, in this order, for i from `first` and j from `column`
 *
 * With a team of one, Alone, these are plain loops. */
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
  VMAFX_HD void product(int first, int column, ConstMatrix a, ConstMatrix b, Matrix out) const;
};

VMAFX_HD float product_element(int first, ConstMatrix a, ConstMatrix b, int i, int j) {
  float sum = 0;
  for (int k = first; k < n; k++) sum += a[i][k] * b[k][j];
  return sum;
}

VMAFX_HD void Alone::product(int first, int column, ConstMatrix a, ConstMatrix b, Matrix out) const {
  for (int i = first; i < n; i++)
    for (int j = column; j < n; j++) out[i][j] = product_element(first, a, b, i, j);
}

VMAFX_HD float hypotenuse(float x, float y) { return square_root(x * x + y * y); }

/* 1 / √x for x from 1 to 2, rounded correctly, in single precision and integers only: near a result y = Y 2^-24, the
 * sign of (2 Y ± 1)² x - 2^50 tells on which side of the middle between two floats 1 / √x lies. The difference fits 64
 * bits though its terms do not. */
VMAFX_HD float inverse_square_root_by_integers(float x) {
  const float half = 0.5f * x;
  float near = 1.57963908f + x * (-0.730514348f + x * 0.147687584f);  // 0.3 % off
  near = near * (1.5f - half * (near * near));
  near = near + near * (0.5f - half * (near * near));  // a place off at most
  const auto twice = static_cast<uint32_t>(2 * (bits(near) - bits(0.25f)));
  const auto scaled = static_cast<uint64_t>(bits(x) - bits(0.5f));
  const auto middle_below = static_cast<int64_t>(uint64_t{twice - 1} * (twice - 1) * scaled);
  const auto middle_above = static_cast<int64_t>(uint64_t{twice + 1} * (twice + 1) * scaled);
  return from_bits(bits(near) + (middle_above < 0) - (middle_below > 0));
}

/* The same. Double precision is slow on most GPUs. */
VMAFX_HD float inverse_square_root(float x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return inverse_square_root_by_integers(x);
#else
  return static_cast<float>(1 / __builtin_sqrt(static_cast<double>(x)));
#endif
}

/* -- Eigenvalues --------------------------------------------------------------------------------------------------- */

/* A symmetric tridiagonal matrix: beside[i] stands beside diagonal[i] and diagonal[i + 1]. */
struct Tridiagonal {
  float diagonal[n], beside[n];
};

/* The Householder reflection I - tau v v', v[k + 1] = 1, that clears column k of `a` below what stands beside the
 * diagonal, on both sides of the part that is left. `v`, `x`: memory. */
template <class Team>
VMAFX_HD void tridiagonalise_column(const Team& team, int k, Matrix a, float* v, float* x, Tridiagonal* out) {
  const int first = k + 1, left = n - first;
  float squares = 0;
  for (int i = first + 1; i < n; i++) squares += a[i][k] * a[i][k];
  const float rest = square_root(squares), head = a[first][k], norm = hypotenuse(head, rest);
  const float beside = rest == 0 ? head : head >= 0 ? -norm : norm;
  team.each(1, [&](int) { out->beside[k] = beside; });
  if (rest == 0) return;
  const float tau = (beside - head) / beside, scale = head - beside;
  team.each(left, [&](int r) { v[first + r] = r == 0 ? 1.0f : a[first + r][k] / scale; });
  team.each(left, [&](int r) {
    const int i = first + r;
    float sum = 0;
    for (int j = first; j < n; j++) sum += tau * a[j][i] * v[j];
    x[i] = sum;
  });
  float along = 0;
  for (int i = first; i < n; i++) along += x[i] * v[i];
  const float part = -0.5f * tau * along;
  team.each(left, [&](int r) { v[n + r] = x[first + r] + part * v[first + r]; });
  team.square(left,
              [&](int r, int c) { a[first + r][first + c] -= v[n + r] * v[first + c] + v[first + r] * v[n + c]; });
}

/* `a` is used up; `v`: memory for 2 n, `x` for n. */
template <class Team>
VMAFX_HD void tridiagonalise(const Team& team, Matrix a, float* v, float* x, Tridiagonal* out) {
  for (int k = 0; k < n - 2; k++) tridiagonalise_column(team, k, a, v, x, out);
  team.each(n, [&](int i) {
    out->diagonal[i] = a[i][i];
    if (i == n - 2) out->beside[i] = a[n - 1][n - 2];
  });
}

/* The eigenvalue of the last two of `size` rows that is nearer to the last. */
VMAFX_HD float trailing_eigenvalue(const float* diagonal, const float* beside, int size) {
  const float a = diagonal[size - 2], b = diagonal[size - 1], ab = beside[size - 2];
  const float half = (a - b) * 0.5f;
  if (half > 0) return b - ab * (ab / (half + hypotenuse(half, ab)));
  if (half == 0) return b - absolute(ab);
  return b + ab * (ab / (-half + hypotenuse(half, ab)));
}

struct Rotation {
  float c, s;
};

/* The rotation that turns (a, b) so that b becomes 0. */
VMAFX_HD Rotation rotation(float a, float b) {
  const bool is_steep = absolute(b) > absolute(a);
  const float t = -(is_steep ? a : b) / (is_steep ? b : a);
  const float longer = inverse_square_root(1 + t * t), shorter = longer * t;
  if (b == 0) return {1, 0};
  return {is_steep ? shorter : longer, is_steep ? longer : shorter};
}

/* A step of the implicit QR iteration on `size` >= 2 rows: rotations chase down an element beside those beside the
 * diagonal, `bulge`. */
VMAFX_HD void iterate(float* diagonal, float* beside, int size) {
  float shift = trailing_eigenvalue(diagonal, beside, size);
  if (kEpsilon * absolute(shift) > absolute(diagonal[0]) + absolute(beside[0])) shift = 0;
  float x = diagonal[0] - shift, z = beside[0];  // the next rotation's arguments
  float a = diagonal[0], b = beside[0];          // row k as it is by now
  float before = 0, bulge = 0;                   // in row k - 1
  for (int k = 0; k < size - 1; k++) {
    const float next = diagonal[k + 1], beside_next = k < size - 2 ? beside[k + 1] : 0;
    const auto [c, s] = rotation(x, z);
    if (k > 0) beside[k - 1] = c * before - s * bulge;
    diagonal[k] = c * (c * a - s * b) + s * (s * next - c * b);
    x = before = c * (s * a + c * b) - s * (s * b + c * next);
    z = bulge = -s * beside_next;
    a = s * (s * a + c * b) + c * (s * b + c * next);
    b = c * beside_next;
  }
  diagonal[size - 1] = a;
  beside[size - 2] = before;
}

/* Clears what is small beside rows `first` to `last` of the diagonal. Returns from where on nothing is 0. */
VMAFX_HD int chop(int first, int last, Tridiagonal* t) {
  int start = first;
  for (int i = first; i < last; i++) {
    const float beside = t->beside[i];
    if (absolute(beside) < kEpsilon * (absolute(t->diagonal[i]) + absolute(t->diagonal[i + 1]))) t->beside[i] = 0;
    if (t->beside[i] == 0) start = i + 1;
  }
  return start;
}

/* Makes t's diagonal its eigenvalues, from the last one up. */
VMAFX_HD void diagonalise(Tridiagonal* t) {
  constexpr int kMostSteps = 500;
  int first = chop(0, n - 1, t);
  for (int last = n - 1, steps = 0; last > 0 && steps < kMostSteps;) {
    if (first == last) {
      first = --last;
      while (first > 0 && t->beside[first - 1] != 0) first--;
    } else {
      iterate(t->diagonal + first, t->beside + first, last - first + 1);
      first = chop(first, last, t);
      steps++;
    }
  }
}

/* -- Linear systems ------------------------------------------------------------------------------------------------ */

/* Step k of the decomposition: the reflection I - 2 v v' that clears column k of `z` below the diagonal, in `h`, then
 * applied to `z` and `q`. v points to the positive side, as the diagonal of a covariance does. */
template <class Team>
VMAFX_HD void reflect(const Team& team, int k, ConstMatrix z, ConstMatrix q, Matrix next_z, Matrix next_q, float* v,
                      Matrix h) {
  float squares = 0;
  for (int i = k; i < n; i++) squares += z[i][k] * z[i][k];
  const float head = z[k][k] + square_root(squares);
  squares = head * head;
  for (int i = k + 1; i < n; i++) squares += z[i][k] * z[i][k];
  const float norm = square_root(squares);
  team.each(n - k, [&](int i) { v[k + i] = (i == 0 ? head : z[k + i][k]) / norm; });
  team.square(n - k, [&](int r, int c) {
    const float outer = -2 * v[k + r] * v[k + c];
    h[k + r][k + c] = r == c ? outer + 1 : outer;
  });
  team.product(k, k, h, z, next_z);
  team.product(k, 0, h, q, next_q);
}

/* Memory for factorise(), all of it cleared where its columns are wider than n. */
struct FactorRoom {
  float h[n][kSpeedRow], z[2][n][kSpeedRow], q[2][n][kSpeedRow];
  float v[n];
};

/* turned and triangle with turned' turned = I and triangle = turned a, its lower half aside. */
template <class Team>
VMAFX_HD void factorise(const Team& team, ConstMatrix a, FactorRoom* room, Matrix turned, Matrix triangle) {
  team.square(n, [&](int i, int j) {
    room->z[0][i][j] = a[i][j];
    room->q[0][i][j] = i == j;
  });
  for (int k = 0; k < n - 1; k++) {
    const int from = k % 2, to = 1 - from;
    reflect(team, k, room->z[from], room->q[from], room->z[to], room->q[to], room->v, room->h);
    team.each(n, [&](int j) { turned[k][j] = room->q[to][k][j]; });  // no later step touches it
  }
  team.each(n, [&](int j) { turned[n - 1][j] = room->q[(n - 1) % 2][n - 1][j]; });
  team.product(0, 0, turned, a, triangle);
}

VMAFX_HD bool is_solvable(ConstMatrix triangle) {
  for (int i = 0; i < n; i++)
    if (!(absolute(triangle[i][i]) >= kEpsilon)) return false;
  return true;
}

}  // namespace vmafx::speed

#endif
