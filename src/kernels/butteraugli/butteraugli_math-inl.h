/* The arithmetic of one sample of butteraugli. */
#if defined(VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_MATH_INL_H
#undef VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_MATH_INL_H
#else
#define VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_MATH_INL_H
#endif

#include "kernels/arithmetic/transcendental-inl.h"
#include "kernels/arithmetic/twin-inl.h"
#include "kernels/butteraugli/butteraugli_math.h"
#include "kernels/steps/picture_light-inl.h"

VMAFX_TWIN_BEGIN

// -- Blurs -----------------------------------------------------------------------------------------------------------

/* Along a row. at(k): the sample k further on, 0 beyond the borders. */
template <class Blur, class Samples>
VMAFX_TWIN Real butteraugli_blurred_along(Samples at, Real scale) {
  Real sum = at(0);
  VMAFX_UNROLL
  for (int k = 1; k <= Blur::kRadius; k++) sum += (at(-k) + at(k)) * Real(Blur::tap(k));
  return sum * scale;
}

/* Down `count` columns, of rows one below the other, each taking kRadius rows above and below it; from top to bottom.
 * at(k): the row k below the uppermost one that is taken, 0 beyond the borders. */
template <class Blur, int count, class Samples>
VMAFX_TWIN void butteraugli_blur_down(Samples at, Real (&sums)[count]) {
  VMAFX_UNROLL
  for (int i = 0; i < count; i++) sums[i] = Real(0);
  VMAFX_UNROLL
  for (int k = 0; k < count + 2 * Blur::kRadius; k++) {
    const Real v = at(k);
    VMAFX_UNROLL
    for (int i = 0; i < count; i++) {
      const int distance = k - i - Blur::kRadius;
      if (distance >= -Blur::kRadius && distance <= Blur::kRadius)
        sums[i] += v * Real(Blur::tap(distance < 0 ? -distance : distance));
    }
  }
}

template <class Samples>
VMAFX_TWIN Real butteraugli_blurred_light(Samples at) {
  return (at(0) * Real(kButteraugliLightTap[0]) + (at(-1) + at(1)) * Real(kButteraugliLightTap[1])) +
         (at(-2) + at(2)) * Real(kButteraugliLightTap[2]);
}

// -- Color -----------------------------------------------------------------------------------------------------------

struct ButteraugliCones {
  Real l, m, s;
};

inline constexpr float kButteraugliBias = 1.7557483643287353f, kButteraugliBiasS = 12.226454707163354f;

VMAFX_TWIN Real butteraugli_absorbed(const float* absorbance, const Light& light, float bias) {
  return Real(absorbance[0]) * light.r + (Real(absorbance[1]) * light.g + (Real(absorbance[2]) * light.b + Real(bias)));
}

VMAFX_TWIN ButteraugliCones butteraugli_cones(const float (&absorbance)[9], const Light& light) {
  return {butteraugli_absorbed(absorbance, light, kButteraugliBias),
          butteraugli_absorbed(absorbance + 3, light, kButteraugliBias),
          butteraugli_absorbed(absorbance + 6, light, kButteraugliBiasS)};
}

/* The response to what is absorbed around a sample, by what is absorbed; with the logarithm of the reference program: a
 * rational function, off by up to 4e-6. */
VMAFX_TWIN Real butteraugli_sensitivity(Real absorbed, float bias) {
  const Real x = maximum(absorbed, Real(bias)), biased = x + Real(9.97106361f);
  const Integer exponent = shifted_right<23>(bits(biased) - Integer(0x3f2aaaab)); /* of biased / (2/3) */
  const Real f = from_bits(bits(biased) - shifted_left<23>(exponent)) - Real(1);
  const Real p = polynomial(f, 7.4245873327820566e-01f, 1.4287160470083755e+00f, -1.8503833400518310e-06f);
  const Real q = polynomial(f, 1.7409343003366853e-01f, 1.0096718572241148e+00f, 9.9032814277590719e-01f);
  const Real response = Real(13.3396263f) * (quotient(p, q) + real(exponent)) - Real(23.1604633f);
  return maximum(quotient(response, x), Real(1e-4f));
}

/* x from red to green, y brightness, b blue. */
struct ButteraugliXyb {
  Real x, y, b;
};

VMAFX_TWIN ButteraugliXyb butteraugli_xyb(const float (&absorbance)[9], const Light& light, const Light& blurred) {
  const ButteraugliCones here = butteraugli_cones(absorbance, light), around = butteraugli_cones(absorbance, blurred);
  const Real l = maximum(here.l * butteraugli_sensitivity(around.l, kButteraugliBias), Real(kButteraugliBias));
  const Real m = maximum(here.m * butteraugli_sensitivity(around.m, kButteraugliBias), Real(kButteraugliBias));
  const Real s = maximum(here.s * butteraugli_sensitivity(around.s, kButteraugliBiasS), Real(kButteraugliBiasS));
  return {l - m, l + m, s};
}

// -- Bands of frequencies ---------------------------------------------------------------------------------------------

VMAFX_TWIN Real butteraugli_bounded(Real v, float most) { return minimum(maximum(v, Real(-most)), Real(most)); }

/* Less by `range`, or nothing. */
VMAFX_TWIN Real butteraugli_without(Real v, float range) { return v - butteraugli_bounded(v, range); }

/* More by `range`, or by itself. */
VMAFX_TWIN Real butteraugli_amplified(Real v, float range) { return v + butteraugli_bounded(v, range); }

/* Counts the part of v beyond `most` less. */
VMAFX_TWIN Real butteraugli_softened(Real v, float most) {
  const Real bounded = butteraugli_bounded(v, most);
  return (v - bounded) * Real(0.724216145665f) + bounded;
}

/* v: what is left of a sample without the low frequencies; blurred: its middle ones. */
VMAFX_TWIN Real butteraugli_middle_x(Real blurred) { return butteraugli_without(blurred, 0.29f); }
VMAFX_TWIN Real butteraugli_middle_y(Real blurred) { return butteraugli_amplified(blurred, 0.1f); }

/* High frequencies of x count less where y has some. */
VMAFX_TWIN Real butteraugli_suppressed(Real x, Real y) {
  const Real suppress(46);
  return (quotient(suppress, y * y + suppress) * Real(0.346979444f) + Real(0.653020556f)) * x;
}

struct ButteraugliHighs {
  Real highest, high;
};

VMAFX_TWIN ButteraugliHighs butteraugli_highs_x(Real v, Real blurred) {
  return {butteraugli_without(v - blurred, 0.04f), butteraugli_without(blurred, 1.5f)};
}

VMAFX_TWIN ButteraugliHighs butteraugli_highs_y(Real v, Real blurred) {
  const Real high = butteraugli_softened(blurred, 28.4691806922f);
  return {butteraugli_softened(v - high, 5.19175294647f) * Real(2.69313763794f),
          butteraugli_amplified(high * Real(2.155f), 0.132f)};
}

/* All that is high at a sample, as it hides other things. */
VMAFX_TWIN Real butteraugli_activity(const ButteraugliHighs& x, const ButteraugliHighs& y) {
  const Real of_x = (x.highest + x.high) * Real(2.5f), of_y = y.highest * Real(0.4f) + y.high * Real(0.4f);
  const Real both = square_root(of_x * of_x + of_y * of_y);
  return square_root(both * Real(6.19424080439f) + Real(78.1125107f)) - Real(8.83812809f);
}

// -- Differences -----------------------------------------------------------------------------------------------------

/* How far `dist` is from `ref` beyond `least` to `most` times what that is; > 0 where it is too small. */
VMAFX_TWIN Real butteraugli_beyond(Real ref, Real dist, float least, float most) {
  const Real size = absolute(ref), zero(0), same_sign = select(ref < zero, -dist, dist);
  return maximum(size * Real(least) - same_sign, zero) - maximum(same_sign - size * Real(most), zero);
}

/* A sample's part in the lines through it. */
VMAFX_TWIN Real butteraugli_line_sample(Real ref, Real dist, const ButteraugliLines& lines) {
  const Real mean = (absolute(ref) + absolute(dist)) * Real(0.5f), weight = quotient(Real(1), Real(lines.norm) + mean);
  const Real beyond = butteraugli_beyond(ref, dist, 0.55f, 1.05f);
  return (weight * Real(lines.more)) * (ref - dist) +
         (weight * Real(lines.less)) * select(ref < Real(0), -beyond, beyond);
}

VMAFX_TWIN Real butteraugli_square(Real v) { return v * v; }

template <class Samples>
struct ButteraugliPairs {
  const Samples& at;
  VMAFX_TWIN Real operator()(int x, int y) const { return at(-x, -y) + at(x, y); }
};

/* Σ of the squares of sums along lines through a sample, of nine samples at most. at(x, y): the one there, 0 beyond the
 * borders; lines are the same both ways. */
template <class Samples>
VMAFX_TWIN Real butteraugli_lines(const Samples& at) {
  const ButteraugliPairs<Samples> pair = {at};
  const Real c = at(0, 0), right1 = pair(1, 0), down1 = pair(0, 1);
  const Real both11 = pair(1, 1), other11 = pair(-1, 1), both12 = pair(1, 2), other12 = pair(-1, 2);
  const Real both21 = pair(2, 1), other21 = pair(-2, 1);
  Real twice = butteraugli_square((c + down1) + ((other12 + pair(-1, 3)) + pair(-1, 4)));
  twice += butteraugli_square((c + down1) + ((both12 + pair(1, 3)) + pair(1, 4)));
  twice += butteraugli_square((c + right1) + ((both21 + pair(3, 1)) + pair(4, 1)));
  twice += butteraugli_square((c + right1) + ((other21 + pair(-3, 1)) + pair(-4, 1)));
  Real sum = butteraugli_square((c + right1) + ((pair(2, 0) + pair(3, 0)) + pair(4, 0)));
  sum += butteraugli_square((c + down1) + ((pair(0, 2) + pair(0, 3)) + pair(0, 4)));
  sum += butteraugli_square((c + both11) + (pair(2, 2) + pair(3, 3)));
  sum += butteraugli_square((c + other11) + (pair(-2, 2) + pair(-3, 3)));
  sum += butteraugli_square((c + both11) + (both12 + pair(2, 3)));
  sum += butteraugli_square((c + other11) + (other12 + pair(-2, 3)));
  sum += butteraugli_square((c + both11) + (both21 + pair(3, 2)));
  sum += butteraugli_square((c + other11) + (other21 + pair(-3, 2)));
  return sum + (twice + twice);
}

/* Σ of the squares of sums along lines for lower frequencies, with every other sample. */
template <class Samples>
VMAFX_TWIN Real butteraugli_sparse_lines(const Samples& at) {
  const ButteraugliPairs<Samples> pair = {at};
  const Real c = at(0, 0), both12 = c + pair(1, 2), other12 = c + pair(-1, 2);
  const Real both21 = c + pair(2, 1), other21 = c + pair(-2, 1);
  Real sum = butteraugli_square(c + (pair(2, 0) + pair(4, 0)));
  sum += butteraugli_square(c + (pair(0, 2) + pair(0, 4)));
  sum += butteraugli_square(c + (pair(2, 2) + pair(3, 3)));
  sum += butteraugli_square(c + (pair(-2, 2) + pair(-3, 3)));
  sum += butteraugli_square(other12 + pair(-1, 4));
  sum += butteraugli_square(both12 + pair(1, 4));
  sum += butteraugli_square(both21 + pair(4, 1));
  sum += butteraugli_square(other21 + pair(-4, 1));
  sum += butteraugli_square(both12 + pair(2, 3));
  sum += butteraugli_square(other12 + pair(-2, 3));
  sum += butteraugli_square(both21 + pair(3, 2));
  sum += butteraugli_square(other21 + pair(-3, 2));
  sum += butteraugli_square(other21 + pair(-4, 2));
  sum += butteraugli_square(both21 + pair(4, 2));
  sum += butteraugli_square(both12 + pair(2, 4));
  sum += butteraugli_square(other12 + pair(-2, 4));
  return sum;
}

/* Σ of weighted squares of what differs in low frequencies: ref less dist, of x, y and b. */
VMAFX_TWIN Real butteraugli_low_error(const ButteraugliWeights& weights, Real x, Real y, Real b) {
  return (x * x * Real(weights.low[0]) + y * y * Real(weights.low[1])) +
         butteraugli_square(b + y * Real(-0.362267051518f)) * Real(weights.low[2]);
}

/* The error of middle frequencies. */
VMAFX_TWIN Real butteraugli_middle_error(Real x, Real y, Real b) {
  return (x * x * Real(2150) + y * y * Real(10.6195433239f)) + b * b * Real(16.2176043152f);
}

/* The error of high frequencies, of x and y: differences, and lost or added amplitudes. */
VMAFX_TWIN Real butteraugli_high_error(const ButteraugliWeights& weights, Real ref_x, Real dist_x, Real ref_y,
                                       Real dist_y) {
  const Real beyond_x = butteraugli_beyond(ref_x, dist_x, 0.4f, 1),
             beyond_y = butteraugli_beyond(ref_y, dist_y, 0.4f, 1);
  return (butteraugli_square(ref_x - dist_x) * Real(weights.high_x) +
          butteraugli_square(beyond_x) * Real(weights.beyond_x)) +
         (butteraugli_square(ref_y - dist_y) * Real(weights.high_y) +
          butteraugli_square(beyond_y) * Real(weights.beyond_y));
}

/* The difference of activities counts, too. */
VMAFX_TWIN Real butteraugli_activity_error(Real ref, Real dist) { return butteraugli_square(ref - dist) * Real(10); }

// -- The map of distances ---------------------------------------------------------------------------------------------

/* The three least of numbers, in order. */
struct ButteraugliLeast3 {
  Real least, second, third;
};

VMAFX_TWIN ButteraugliLeast3 butteraugli_least_of(Real center) { return {center, center + center, center + center}; }

VMAFX_TWIN void butteraugli_take(ButteraugliLeast3& all, Real v) {
  const Real second = maximum(all.least, v), third = maximum(all.second, second);
  all.least = minimum(all.least, v);
  all.second = minimum(all.second, second);
  all.third = minimum(all.third, third);
}

/* How much is hidden at a sample: where one of the samples three further on is calm, less. */
VMAFX_TWIN Real butteraugli_hiding(const ButteraugliLeast3& all) {
  return (all.least * Real(0.45f) + all.second * Real(0.3f)) + all.third * Real(0.25f);
}

/* activity: the reference's around a sample, as for lines. */
template <class Samples>
VMAFX_TWIN Real butteraugli_hiding_at(const Samples& activity) {
  ButteraugliLeast3 all = butteraugli_least_of(activity(0, 0));
  VMAFX_UNROLL
  for (int y = -1; y <= 1; y++) {
    VMAFX_UNROLL
    for (int x = -1; x <= 1; x++)
      if (x || y) butteraugli_take(all, activity(kButteraugliStep * x, kButteraugliStep * y));
  }
  return butteraugli_hiding(all);
}

/* errors: of low frequencies, and of the others. */
VMAFX_TWIN Real butteraugli_distance(const ButteraugliWeights& weights, Real hiding, Real low_error, Real error) {
  const Real unit(weights.unit), one(1);
  const Real visible =
      unit * (one + quotient(Real(2.5485944793f), hiding * Real(0.451936922203f) + Real(0.829591754942f)));
  const Real visible_low =
      unit * (one + quotient(Real(0.505054525019f), hiding * Real(3.87449418804f) + Real(0.20025578522f)));
  return square_root(low_error * butteraugli_square(visible_low) + error * butteraugli_square(visible));
}

/* A distance combined with that of the picture of half the size. */
VMAFX_TWIN Real butteraugli_of_both(Real distance, Real half) { return distance * Real(0.85f) + half * Real(0.5f); }

/* distance^norm, its square and fourth power. */
struct ButteraugliPowers {
  Double of[3];
};

VMAFX_TWIN ButteraugliPowers butteraugli_powers(Real distance, double norm) {
  const Double d = widened(distance);
  ButteraugliPowers powers;
  powers.of[0] = d * d * d;
  if (norm != 3) {
    const Double least(static_cast<double>(kButteraugliLeast));
    powers.of[0] = select(d < least, Double(0), power(maximum(d, least), norm));
  }
  powers.of[1] = powers.of[0] * powers.of[0];
  powers.of[2] = powers.of[1] * powers.of[1];
  return powers;
}

VMAFX_TWIN_END

#endif
