/* The arithmetic of one sample and of one window of float_ssim and float_ms_ssim, for all twins (twin-inl.h). */
#if defined(VMAFX_KERNELS_SSIM_SSIM_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_SSIM_SSIM_MATH_INL_H
#undef VMAFX_KERNELS_SSIM_SSIM_MATH_INL_H
#else
#define VMAFX_KERNELS_SSIM_SSIM_MATH_INL_H
#endif

#include "kernels/common/rows-inl.h"
#include "kernels/ssim/ssim_math.h"

VMAFX_TWIN_BEGIN

/* A sum of floats that is rounded once, as libvmaf's are, which adds up in double. Here `high` takes what the terms
 * have in multiples of one power of two, because it stays within [2, 4)·2^bits, and `low` what they have beyond that.
 * Terms come in groups of which each outweighs those behind it: what `high` did not take is found for a group at once,
 * and exactly unless neighbouring samples differ several times over, where the last bit of a mean does not matter. The
 * sum of all terms stays below 2^bits; beyond, little is lost. */
template <int bits>
class SsimSum {
 public:
  template <class... Rest>
  VMAFX_TWIN explicit SsimSum(Real largest, Rest... rest) {
    const Real start = Real(kStart);
    high_ = start + largest;
    ((high_ = high_ + rest), ...);
    low_ = largest - (high_ - start);
    ((low_ = plus(low_, rest)), ...);
  }
  template <class... Rest>
  VMAFX_TWIN void add(Real largest, Rest... rest) {
    const Real before = high_;
    high_ = high_ + largest;
    ((high_ = high_ + rest), ...);
    Real left = largest - (high_ - before);
    ((left = plus(left, rest)), ...);
    low_ = plus(low_, left);
  }
  VMAFX_TWIN void add(const SsimSum& other) {
    high_ = plus(high_, other.high());
    low_ = plus(low_, other.low_);
  }
  VMAFX_TWIN Real high() const { return high_ - Real(kStart); }
  VMAFX_TWIN Real low() const { return low_; }
  VMAFX_TWIN Real rounded() const { return high() + low_; }

 private:
  static constexpr float kStart = 3.f * static_cast<float>(1 << bits);
  Real high_, low_;
};

/* Samples are below 256, after the halving filter, which overshoots, below 512 in all but contrived pictures. */
inline constexpr int kSsimSampleBits = 9, kSsimProductBits = 17;
using SsimSampleSum = SsimSum<kSsimSampleBits>;

/* Values by their weights. (Of a type, as lambdas are not always inlined.) */
template <class Values>
struct SsimWindowTerms {
  const Values& values;
  VMAFX_TWIN Real operator()(int k) const { return values(k) * Real(SsimWindow::tap(k < 0 ? -k : k)); }
};

template <class Values>
struct SsimHalvingTerms {
  const Values& values;
  int y;
  VMAFX_TWIN Real operator()(int k) const { return values(k) * Real(SsimHalving::tap(y, k < 0 ? -k : k)); }
};

/* The weighted mean over a window's row or column, values(-kRadius) to values(kRadius). */
template <int bits, class Values>
VMAFX_TWIN Real ssim_mean(const Values& values) {
  const SsimWindowTerms<Values> term{values};
  SsimSum<bits> sum(term(0), term(3), term(5)), other(term(1), term(-3), term(-5)); /* two chains */
  sum.add(term(-1), term(4));
  other.add(term(2), term(-4));
  sum.add(term(-2));
  sum.add(other);
  return sum.rounded();
}

/* The same, of both values that share a weight. */
template <class Values>
struct SsimPairTerms {
  const Values& values;
  VMAFX_TWIN Real operator()(int k) const { return (values(-k) + values(k)) * Real(SsimWindow::tap(k)); }
};

/* ssim_mean() with a rounding at every step: within 2^-22 of it, at a third of the operations. */
template <class Values>
VMAFX_TWIN Real ssim_rough_mean(const Values& values) {
  const SsimPairTerms<Values> pair{values};
  return values(0) * Real(SsimWindow::tap(0)) + (pair(1) + (pair(2) + (pair(3) + (pair(4) + pair(5)))));
}

/* The mean of a block of factor² samples, values(row, column). Columns add up first. */
template <class Values>
VMAFX_TWIN Real ssim_block_mean(int factor, Values values) {
  const Real weight = Real(ssim_block_weight(factor));
  Real high = Real(0.f), low = Real(0.f);
  for (int i = 0; i < factor; i++) {
    SsimSampleSum column(values(0, i) * weight);
    for (int j = 1; j < factor; j++) column.add(values(j, i) * weight);
    high = high + column.high();
    low = low + column.low();
  }
  return high + low;
}

/* What row y of a sample of the next scale adds to it: values(-kRadius) to values(kRadius) are those of that row. */
template <class Values>
VMAFX_TWIN SsimSampleSum ssim_halving_row(int y, const Values& values) {
  const SsimHalvingTerms<Values> term{values, y};
  SsimSampleSum sum(term(0)), other(term(1), term(4)); /* two chains */
  sum.add(term(-1), term(-4));
  other.add(term(2), term(3));
  sum.add(term(-2), term(-3));
  sum.add(other);
  return sum;
}

/* Σ over rows of such sums, high(-kRadius) to high(kRadius), and the same of low(). */
template <class High, class Low>
VMAFX_TWIN Real ssim_halving_sum(High high, Low low) {
  Real high_sum = high(0), low_sum = low(0);
  VMAFX_UNROLL
  for (int k = 1; k <= SsimHalving::kRadius; k++) {
    high_sum = high_sum + (high(-k) + high(k));
    low_sum = low_sum + (low(-k) + low(k));
  }
  return high_sum + low_sum;
}

/* Weighted means over a window: of the pictures, of their squares, and of their product. */
struct SsimMeans {
  Real ref, dist, ref_ref, dist_dist, ref_dist;
};

template <class Values>
struct SsimValuesOf {
  const Values& values;
  Real SsimMeans::*kind;
  VMAFX_TWIN Real operator()(int k) const { return values(k).*kind; }
};

template <bool exact, int bits, class Values>
VMAFX_TWIN Real ssim_mean_of(const Values& values) {
  if constexpr (exact) return ssim_mean<bits>(values);
  else return ssim_rough_mean(values);
}

/* The same over a window's row or column, of values(-kRadius) to values(kRadius). */
template <bool exact, class Values>
VMAFX_TWIN SsimMeans ssim_means(const Values& values) {
  using Of = SsimValuesOf<Values>;
  return {ssim_mean_of<exact, kSsimSampleBits>(Of{values, &SsimMeans::ref}),
          ssim_mean_of<exact, kSsimSampleBits>(Of{values, &SsimMeans::dist}),
          ssim_mean_of<exact, kSsimProductBits>(Of{values, &SsimMeans::ref_ref}),
          ssim_mean_of<exact, kSsimProductBits>(Of{values, &SsimMeans::dist_dist}),
          ssim_mean_of<exact, kSsimProductBits>(Of{values, &SsimMeans::ref_dist})};
}

VMAFX_TWIN SsimMeans ssim_products(Real ref, Real dist) { return {ref, dist, ref * ref, dist * dist, ref * dist}; }

/* What luminance, contrast, structure and their product lack to 1. libvmaf takes the quotients l and c in double, from
 * sums of floats; their difference to 1 is found from the same floats without rounding it at 2^-24. */
struct SsimLosses {
  Real l, c, s, lcs;
};

/* a·b - `product`, which is a·b rounded: Dekker, Numer. Math. 18, 1971. */
VMAFX_TWIN Real ssim_product_rest(Real a, Real b, Real product) {
  const Real split = Real(4097.f), big_a = a * split, big_b = b * split;
  const Real high_a = big_a - (big_a - a), high_b = big_b - (big_b - b), low_a = a - high_a, low_b = b - high_b;
  return ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b;
}

/* `sum` - (a + b), where `sum` is a + b rounded: Knuth, The Art of Computer Programming 2, 4.2.2. */
VMAFX_TWIN Real ssim_sum_excess(Real a, Real b, Real sum) {
  const Real near_b = sum - a;
  return ((sum - near_b) - a) + (near_b - b);
}

/* l and lcs are 0 unless `with_l`. */
template <bool with_l>
VMAFX_TWIN SsimLosses ssim_losses(const SsimMeans& mean) {
  const Real zero = Real(0.f), one = Real(1.f), c1 = Real(kSsimC1), c2 = Real(kSsimC2), c3 = Real(kSsimC3);
  const Real ref_sq = mean.ref * mean.ref, dist_sq = mean.dist * mean.dist, product = mean.ref * mean.dist;
  const Real xx = maximum(mean.ref_ref - ref_sq, zero), yy = maximum(mean.dist_dist - dist_sq, zero);
  const Real deviations = square_root(xx * yy), noisy_xy = mean.ref_dist - product;
  /* Where one of the pictures is flat, a negative covariance is noise. */
  const Real xy = select(deviations > zero, noisy_xy, maximum(noisy_xy, zero));

  SsimLosses loss = {zero, zero, zero, zero};
  const Real variances = xx + yy, c_below = variances + c2;
  loss.c = ((variances - (deviations + deviations)) + ssim_sum_excess(variances, c2, c_below)) / c_below;
  loss.s = one - (xy + c3) / (deviations + c3);
  if constexpr (with_l) {
    const Real l_below = ref_sq + dist_sq + c1, rest = ssim_product_rest(mean.ref, mean.dist, product);
    loss.l = ((l_below - (product + product)) - c1 - (rest + rest)) / l_below;
    const Real lc = loss.l + (loss.c - loss.l * loss.c);
    loss.lcs = lc + (loss.s - lc * loss.s);
  }
  return loss;
}

VMAFX_TWIN Integer ssim_fixed(Real loss) { return rounded(loss * Real(static_cast<float>(1 << kSsimBits))); }

VMAFX_TWIN_END

#endif
