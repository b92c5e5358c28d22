/* What SpEED makes of the variances of blocks, for one and for vectors of them (twin-inl.h). */
#if defined(VMAFX_KERNELS_SPEED_SPEED_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_SPEED_SPEED_BLOCKS_INL_H
#undef VMAFX_KERNELS_SPEED_SPEED_BLOCKS_INL_H
#else
#define VMAFX_KERNELS_SPEED_SPEED_BLOCKS_INL_H
#endif

#include "kernels/arithmetic/transcendental-inl.h"
#include "kernels/arithmetic/twin-inl.h"
#include "kernels/speed/speed_math.h"

VMAFX_TWIN_BEGIN
namespace speed {

using namespace vmafx::speed;

/* A block as one of the sides has it. */
struct Block {
  Real variance;  // S
  Real entropy;   // E
};
#ifndef HWY_TARGET
static_assert(sizeof(Block) == kSpeedBlockBytes);
#endif

/* Where K is near to singular, rounding can leave an S below 0, or none: it then counts as 0 where there is no
 * logarithm of it. */
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

/* What weighs the entropies: log2(1 + S), of the S that the mode says. */
VMAFX_TWIN Double weight(int mode, bool of_dist, Real ref, Real dist) {
  const bool is_mixed = mode == 3 || (mode > 3 && of_dist);
  const Double r = widened(ref), d = widened(dist), quarter(0.25), three(0.75);
  const Double mixed = mode <= 4   ? widened(ref + dist) / Double(2)
                       : mode == 5 ? three * r + quarter * d
                                   : quarter * r + three * d;
  const Real own = mode == 2 || (mode == 0 && of_dist) ? dist : ref;
  return logarithm_or(is_mixed ? Double(1) + mixed : widened(Real(1) + own), Double(1));
}

VMAFX_TWIN Real difference(const SpeedShape& shape, const Block& ref, const Block& dist) {
  const Real least(shape.least_entropy);
  const Double of_ref = weight(shape.weight_mode, false, ref.variance, dist.variance);
  const Double of_dist = weight(shape.weight_mode, true, ref.variance, dist.variance);
  const Real apart = absolute(narrowed(widened(ref.entropy) * of_ref) - narrowed(widened(dist.entropy) * of_dist));
  return select(ref.entropy < least && dist.entropy < least, Real(0.0f), apart);
}

}  // namespace speed
VMAFX_TWIN_END

#endif
