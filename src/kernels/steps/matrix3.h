/* Vectors and matrices of three, in double. */
#ifndef VMAFX_KERNELS_STEPS_MATRIX3_H
#define VMAFX_KERNELS_STEPS_MATRIX3_H

#include <array>

namespace vmafx {

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<double, 9>;  // row by row

inline Vector3 product(const Matrix3& m, const Vector3& v) {
  Vector3 out;
  for (int i = 0; i < 3; i++) out[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
  return out;
}

inline Matrix3 product(const Matrix3& a, const Matrix3& b) {
  Matrix3 out;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
  return out;
}

inline Matrix3 inverse(const Matrix3& m) {
  const Matrix3 adjugate = {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                            m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                            m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
  const double determinant = m[0] * adjugate[0] + m[1] * adjugate[3] + m[2] * adjugate[6];
  Matrix3 out;
  for (int i = 0; i < 9; i++) out[i] = adjugate[i] / determinant;
  return out;
}

inline Matrix3 diagonal(const Vector3& v) { return {v[0], 0, 0, 0, v[1], 0, 0, 0, v[2]}; }

}  // namespace vmafx

#endif
