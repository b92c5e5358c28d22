/* The way from the variances of blocks to SpEED's sums, for one block and for vectors of them (twin-inl.h). */
#if defined(VMAFX_KERNELS_SPEED_SPEED_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_SPEED_SPEED_BLOCKS_INL_H
#undef VMAFX_KERNELS_SPEED_SPEED_BLOCKS_INL_H
#else
#define VMAFX_KERNELS_SPEED_SPEED_BLOCKS_INL_H
#endif

#include "kernels/arithmetic/transcendental-inl.h"
#include "kernels/arithmetic/twin-inl.h"
#include "kernels/speed/speed_math.h"
#include "kernels/steps/rows-inl.h"

VMAFX_TWIN_BEGIN
namespace speed {

using namespace vmafx::speed;

/* Samples of a plane without prescaling, at row y from column x on. */
template <class Plane>
struct Samples {
  Plane now;
  float scale;
  VMAFX_TWIN Real operator()(int y, int x) const { return load_samples(now.row(y) + x) * Real(scale) - Real(kMiddle); }
};
template <class Plane>
struct Differences {
  Plane now, before;
  float scale;
  VMAFX_TWIN Real operator()(int y, int x) const {
    return (load_samples(before.row(y) + x) - load_samples(now.row(y) + x)) * Real(scale);
  }
};

/* y' K^-1 y / 25 of a block: y(i) are its samples, x(i) memory for as many. */
template <class Values, class Memory>
VMAFX_TWIN Real variance(const Model& model, const Values& y, const Memory& x) {
  for (int i = 0; i < n; i++) {
    Real sum(0.0f);
    for (int k = 0; k < n; k++) sum += Real(model.turned[i][k]) * y(k);
    x(i) = sum;
  }
  for (int i = n - 1; i >= 0; i--) {
    Real left = x(i);
    for (int k = i + 1; k < n; k++) left = left - x(k) * Real(model.triangle[i][k]);
    x(i) = left / Real(model.triangle[i][i]);
  }
  Real sum(0.0f);
  for (int i = 0; i < n; i++) sum += x(i) * y(i) / Real(n);
  return sum;
}

/* The logarithm of x, or of `otherwise` if x has none: if K is near to singular, rounding can leave an S at or below
 * 0. */
VMAFX_TWIN Double logarithm_or(Double x, Double otherwise) { return logarithm2(select(Double(0) < x, x, otherwise)); }

VMAFX_TWIN Real entropy(const Model& model, Real variance, float sigma) {
  constexpr double kFlat = 4.0941911703612819;  // log2(2 pi e)
  Real sum(0.0f);
  for (int i = 0; i < n; i++) {
    const Double spread = widened(Real(model.eigenvalues[i]) * variance + Real(sigma));
    sum = narrowed(widened(sum) + (logarithm_or(spread, Double(sigma)) + Double(kFlat)));
  }
  return sum;
}

#ifndef HWY_TARGET
/* The weight of the entropies: log2(1 + S), with the S that the mode names. */
VMAFX_HD double weight(int mode, bool of_dist, float ref, float dist) {
  const bool is_mixed = mode == 3 || (mode > 3 && of_dist);
  const double r = ref, d = dist;
  const double mixed = mode <= 4 ? (ref + dist) / 2.0 : mode == 5 ? 0.75 * r + 0.25 * d : 0.25 * r + 0.75 * d;
  const float own = mode == 2 || (mode == 0 && of_dist) ? dist : ref;
  return logarithm_or(is_mixed ? 1 + mixed : 1 + own, 1);
}

VMAFX_HD float difference(const SpeedShape& shape, const SpeedBlockSums& ref, const SpeedBlockSums& dist) {
  if (ref.entropy < shape.least_entropy && dist.entropy < shape.least_entropy) return 0;
  const double of_ref = weight(shape.weight_mode, false, ref.variance, dist.variance);
  const double of_dist = weight(shape.weight_mode, true, ref.variance, dist.variance);
  return absolute(static_cast<float>(ref.entropy * of_ref) - static_cast<float>(dist.entropy * of_dist));
}
#endif

}  // namespace speed
VMAFX_TWIN_END

#endif
