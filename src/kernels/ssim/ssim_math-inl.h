/* The arithmetic of one sample and of one window of float_ssim and float_ms_ssim, for all twins (twin-inl.h). */
#if defined(VMAFX_KERNELS_SSIM_SSIM_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_SSIM_SSIM_MATH_INL_H
#undef VMAFX_KERNELS_SSIM_SSIM_MATH_INL_H
#else
#define VMAFX_KERNELS_SSIM_SSIM_MATH_INL_H
#endif

#include "kernels/ssim/ssim_math.h"
#include "kernels/steps/rows-inl.h"

VMAFX_TWIN_BEGIN

/* A sum of floats that is rounded once, as libvmaf's are, which adds up in double. `high` takes what each term has in
 * multiples of one power of two, because it stays within [2, 4)·2^bits; `low` takes the rest, which is exact as long as
 * a float has room for it: always for samples of 8 bit, and for what lies among darker samples but for errors of
 * 2^(bits - 46), where floats of a mean like that of samples are 2^(bits - 24) apart. The sum of all terms stays below
 * 2^bits; beyond, little is lost. */
template <int bits>
class SsimSum {
 public:
  VMAFX_TWIN explicit SsimSum(Real term) : high_(Real(kStart) + term), low_(term - (high_ - Real(kStart))) {}
  VMAFX_TWIN void add(Real term) { take(term, high_ + term); }
  /* Adds like add(), by the units that multiply, which are less busy here. */
  VMAFX_TWIN void add_there(Real term) { take(term, plus(high_, term)); }
  VMAFX_TWIN void add(const SsimSum& other) {
    high_ = high_ + other.high();
    low_ = plus(low_, other.low_);
  }
  VMAFX_TWIN Real high() const { return high_ - Real(kStart); }
  VMAFX_TWIN Real low() const { return low_; }
  VMAFX_TWIN Real rounded() const { return high() + low_; }

 private:
  VMAFX_TWIN void take(Real term, Real high) {
    low_ = plus(low_, term - (high - high_));
    high_ = high;
  }

  static constexpr float kStart = 3.f * static_cast<float>(1 << bits);
  Real high_, low_;
};

/* Samples are below 256, after the halving filter, which overshoots, below 512 in all but contrived pictures. */
inline constexpr int kSsimSampleBits = 9, kSsimProductBits = 17;
using SsimSampleSum = SsimSum<kSsimSampleBits>;

/* term(-radius) + … + term(radius), in two chains, which do not wait for each other. The units that
 * multiply add, too, but less where terms are of `products`, which they have to make. */
template <int bits, int radius, bool products, class Term>
VMAFX_TWIN SsimSum<bits> ssim_sum(const Term& term) {
  SsimSum<bits> sum(term(0)), other(term(1));
  sum.add(term(-1));
  VMAFX_UNROLL
  for (int k = 2; k <= radius; k++) {
    if (products) sum.add(term(k));
    else sum.add_there(term(k));
    other.add_there(term(-k));
  }
  sum.add(other);
  return sum;
}

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
template <int bits, bool products = false, class Values>
VMAFX_TWIN Real ssim_mean(const Values& values) {
  return ssim_sum<bits, SsimWindow::kRadius, products>(SsimWindowTerms<Values>{values}).rounded();
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

/* The part of a sample of the next scale that comes from row y: values(-kRadius) to values(kRadius) are those of that
 * row. */
template <class Values>
VMAFX_TWIN SsimSampleSum ssim_halving_row(int y, const Values& values) {
  return ssim_sum<kSsimSampleBits, SsimHalving::kRadius, false>(SsimHalvingTerms<Values>{values, y});
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
  Real SsimMeans::* kind;
  VMAFX_TWIN Real operator()(int k) const { return values(k).*kind; }
};

/* The weighted means of values(-kRadius) to values(kRadius), a window's row or column. */
template <bool products = false, class Values>
VMAFX_TWIN SsimMeans ssim_means(const Values& values) {
  using Of = SsimValuesOf<Values>;
  return {ssim_mean<kSsimSampleBits, products>(Of{values, &SsimMeans::ref}),
          ssim_mean<kSsimSampleBits, products>(Of{values, &SsimMeans::dist}),
          ssim_mean<kSsimProductBits, products>(Of{values, &SsimMeans::ref_ref}),
          ssim_mean<kSsimProductBits, products>(Of{values, &SsimMeans::dist_dist}),
          ssim_mean<kSsimProductBits, products>(Of{values, &SsimMeans::ref_dist})};
}

VMAFX_TWIN SsimMeans ssim_products(Real ref, Real dist) { return {ref, dist, ref * ref, dist * dist, ref * dist}; }

/* Luminance, contrast, structure and their product; double where libvmaf has it. */
struct SsimValues {
  Double l, c, s, lcs;
};

/* l and lcs are 0 unless `with_l`. */
template <bool with_l>
VMAFX_TWIN SsimValues ssim_values(const SsimMeans& mean) {
  const Real zero = Real(0.f), c1 = Real(kSsimC1), c2 = Real(kSsimC2), c3 = Real(kSsimC3);
  const Real ref_sq = mean.ref * mean.ref, dist_sq = mean.dist * mean.dist;
  const Real xx = maximum(mean.ref_ref - ref_sq, zero), yy = maximum(mean.dist_dist - dist_sq, zero);
  const Real deviations = square_root(xx * yy), noisy_xy = mean.ref_dist - mean.ref * mean.dist;
  /* If one of the pictures is flat, a negative covariance is noise. */
  const Real xy = select(deviations > zero, noisy_xy, maximum(noisy_xy, zero));

  const Double two(2);
  const Double c = (two * widened(deviations) + Double(kSsimC2)) / widened(xx + yy + c2);
  const Double s = widened((xy + c3) / (deviations + c3));
  if constexpr (!with_l) return {Double(0), c, s, Double(0)};
  const Double l = (two * widened(mean.ref) * widened(mean.dist) + Double(kSsimC1)) / widened(ref_sq + dist_sq + c1);
  return {l, c, s, l * c * s};
}

/* Whether a window sees a difference between the pictures. */
VMAFX_TWIN Mask ssim_differ(const SsimMeans& mean) {
  return !((mean.ref == mean.dist) & (mean.ref_ref == mean.dist_dist));
}

VMAFX_TWIN_END

#endif
