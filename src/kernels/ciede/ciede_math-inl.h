/* The arithmetic of ciede, from the samples of a pixel to its ΔE₀₀. */
#if defined(VMAFX_KERNELS_CIEDE_CIEDE_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_CIEDE_CIEDE_MATH_INL_H
#undef VMAFX_KERNELS_CIEDE_CIEDE_MATH_INL_H
#else
#define VMAFX_KERNELS_CIEDE_CIEDE_MATH_INL_H
#endif

#include "kernels/arithmetic/transcendental-inl.h"
#include "kernels/ciede/ciede_math.h"

VMAFX_TWIN_BEGIN

struct CiedeLab {
  Real l, a, b;
};

/* x^0.4 within 4e-7, x from 0.0885 to 2.828: 2^0.4e · (1 + f)^0.4, e from -3 to 1. Cheaper than power(). */
VMAFX_TWIN Real ciede_root(Real x) {
  const PowerAndFraction parts = power_and_fraction(x);
  const Real e = real(parts.exponent), f = parts.fraction;
  /* A polynomial through five values, and a minimax one, within 1.7e-7. */
  const Real scale = polynomial(e, 0.00018900758f, 0.00350027904f, 0.0384940878f, 0.277324528f, 1.f);
  const Real p = polynomial(f, -0.0200007297f, 0.0331396945f, -0.0422358699f, 0.0638375208f, -0.119976141f,
                            0.400002301f, 0.999999881f);
  return scale * p;
}

/* Linear light, and what it lacks: a double that is right to 4e-7, and a float. */
struct CiedeLight {
  Double near;
  Real rest;
};

/* The light of a value x = (c + 0.055) / 1.055 of R'G'B', by sRGB's curve; the line is taken up to c = 10/255. The
 * error of x^0.4 shows in its fifth power, x². */
template <bool bright>
VMAFX_TWIN CiedeLight ciede_linear(Double x) {
  const Double square = x * x;
  const Real root = ciede_root(maximum(narrowed(x), Real(0.0885f)));
  const Double near = widened(root), near_2 = near * near;
  Double light = square * near, missing = square - near_2 * near_2 * near;
  const auto is_low = x <= Double((10 / 255. + 0.055) / 1.055);
  if (!bright && worth_computing(is_low)) {
    light = select(is_low, x * Double(1.055 / 12.92) - Double(0.055 / 12.92), light);
    missing = select(is_low, Double(0), missing);
  }
  return {light, narrowed(missing) * root * Real(0.2f)};
}

/* The lightness scale of Lab, of light mixed in shares that add up to 1: the nearest float, but for one in a
 * thousand. */
template <bool bright>
VMAFX_TWIN Real ciede_compressed(const CiedeLight& r, const CiedeLight& g, const CiedeLight& b, double of_r,
                                 double of_g, double of_b) {
  constexpr double kEpsilon = 216 / 24389., kSlope = 24389 / 27. / 116;
  const Double near = r.near * Double(of_r) + g.near * Double(of_g) + b.near * Double(of_b);
  const Real rest = r.rest * Real(static_cast<float>(of_r)) + g.rest * Real(static_cast<float>(of_g)) +
                    b.rest * Real(static_cast<float>(of_b));
  const Real c = narrowed(near), epsilon = Real(static_cast<float>(kEpsilon)), bounded = maximum(c, epsilon);
  const Real inverse = inverse_cube_root(bounded), root = cube_root(bounded, inverse);
  const Double wide = widened(root);
  const Real missing = narrowed(near - wide * wide * wide) + rest;
  const Real compressed = root + missing * (inverse * inverse * Real(1 / 3.f));
  const Mask is_low = c <= epsilon;
  if (bright || !worth_computing(is_low)) return compressed;
  return select(is_low, narrowed((near + widened(rest)) * Double(kSlope) + Double(16 / 116.)), compressed);
}

/* R'G'B', or what is added to it, in units of 1.055. */
struct CiedeRgb {
  Double r, g, b;
};

/* The offsets that chroma, less its zero, adds to luma to make it R'G'B' of BT.709. */
VMAFX_TWIN CiedeRgb ciede_offsets(const CiedeParams& params, Real cb, Real cr) {
  const Double u = widened(cb) * Double(params.chroma_scale), v = widened(cr) * Double(params.chroma_scale);
  return {Double(1.28033) * v, Double(-0.21482) * u - Double(0.38059) * v, Double(2.12798) * u};
}

/* (c + 0.055) / 1.055 of the values c of R'G'B', from luma, less its zero. */
VMAFX_TWIN CiedeRgb ciede_rgb(const CiedeParams& params, Real luma, const CiedeRgb& offsets) {
  const Double y = widened(luma) * Double(params.luma_scale) + Double(0.055 / 1.055);
  return {y + offsets.r, y + offsets.g, y + offsets.b};
}

/* Whether sRGB's curve and that of Lab do without their lines, for what ciede_rgb() returns: c > 0.1 has light of
 * 0.01. */
VMAFX_TWIN Mask ciede_is_bright(const CiedeRgb& rgb) {
  return minimum(minimum(narrowed(rgb.r), narrowed(rgb.g)), narrowed(rgb.b)) > Real((0.1f + 0.055f) / 1.055f);
}

/* L*a*b* of what ciede_rgb() returns. `bright`: ciede_is_bright() is known to hold. The floats are libvmaf's nearly
 * always: colors that are nearly gray, or nearly equal, have a chroma, or a difference, of some of their roundings. */
template <bool bright>
VMAFX_TWIN CiedeLab ciede_lab_of(const CiedeRgb& rgb) {
  const CiedeLight r = ciede_linear<bright>(rgb.r), g = ciede_linear<bright>(rgb.g), b = ciede_linear<bright>(rgb.b);
  /* XYZ of linear BT.709, divided by that of white. */
  const Real x = ciede_compressed<bright>(r, g, b, 0.4124564390896921 / 0.95047, 0.357576077643909 / 0.95047,
                                          0.18043748326639894 / 0.95047);
  const Real lightness = ciede_compressed<bright>(r, g, b, 0.21267285140562248, 0.715152155287818, 0.07217499330655958);
  const Real z = ciede_compressed<bright>(r, g, b, 0.019333895582329317 / 1.08883, 0.119192025881303 / 1.08883,
                                          0.9503040785363677 / 1.08883);
  return {fused(lightness, Real(116), Real(-16)), Real(500) * (x - lightness), Real(200) * (lightness - z)};
}

VMAFX_TWIN CiedeLab ciede_lab(const CiedeParams& params, Real luma, const CiedeRgb& offsets) {
  return ciede_lab_of<false>(ciede_rgb(params, luma, offsets));
}

VMAFX_TWIN Real ciede_length(Real x, Real y) { return square_root(x * x + y * y); }

/* √(c⁷ / (c⁷ + 25⁷)), nothing in a float's sense below c = 0.01. */
VMAFX_TWIN Real ciede_saturation(Real c) {
  const Real x = maximum(c, Real(0.01f)) * Real(0.04f);
  const Real x2 = x * x, x7 = ((x2 * x2) * x2) * x;
  return square_root(x7 / (x7 + Real(1)));
}

/* The direction halfway between two hues, the short way round, and the sine of half their distance. */
struct CiedeHues {
  Real mean_cos, mean_sin;
  Real half_sin, half_sin_divisor;  // the sine is their quotient
};

/* Hues of the vectors (a1, b1) and (a2, b2), c1 and c2 long. Halfway points the sum of the unit vectors, or, when they
 * are more than 90° apart and it might vanish, their difference, turned by 90°. */
VMAFX_TWIN CiedeHues ciede_hues(Real a1, Real b1, Real c1, Real a2, Real b2, Real c2) {
  const Real cross = a1 * b2 - a2 * b1, dot = a1 * a2 + b1 * b2;
  const Mask near = dot >= Real(0), turned_left = cross >= Real(0);
  const Real signed_c1 = select(near, c1, -c1);
  const Real a = a1 * c2 + a2 * signed_c1, b = b1 * c2 + b2 * signed_c1;
  const Real length = maximum(ciede_length(a, b), Real(1e-20f)); /* no color, no hue: the zeros above remain */
  const Real inverse = Real(1) / length;
  const Real cosine = a * inverse, sine = b * inverse;
  const Real mean_cos = select(near, cosine, select(turned_left, -sine, sine));
  const Real mean_sin = select(near, sine, select(turned_left, cosine, -cosine));
  const Real far_sin = select(turned_left, length, -length) * Real(0.5f);
  return {mean_cos, mean_sin, select(near, cross, far_sin), select(near, length, c1 * c2)};
}

/* T of the hue: 1 - 0.17 cos(h - 30°) + 0.24 cos 2h + 0.32 cos(3h + 6°) - 0.20 cos(4h - 63°). */
VMAFX_TWIN Real ciede_hue_weight(Real cos1, Real sin1) {
  const Real cos2 = cos1 * cos1 - sin1 * sin1, sin2 = Real(2) * (cos1 * sin1);
  const Real cos3 = cos2 * cos1 - sin2 * sin1, sin3 = sin2 * cos1 + cos2 * sin1;
  const Real cos4 = cos2 * cos2 - sin2 * sin2, sin4 = Real(2) * (cos2 * sin2);
  const Real odd =
      (cos3 * Real(0.31824701f) - sin3 * Real(0.033449109f)) - (cos1 * Real(0.14722432f) + sin1 * Real(0.085f));
  const Real even = cos2 * Real(0.24f) - (cos4 * Real(0.0907981f) + sin4 * Real(0.1782013f));
  return Real(1) + (odd + even);
}

/* sin(60° · e^(-((h - 275°) / 25°)²)) from u = 1 - cos(h - 275°), as arccos²(1 - u) is a smooth function of u. Minimax
 * polynomials of ours; within 1e-6. libvmaf does not see that 0° is 360°, where this is 1e-5 anyway. */
VMAFX_TWIN Real ciede_blue_turn(Real mean_cos, Real mean_sin) {
  const Real u = Real(1) - (mean_cos * Real(0.087155743f) - mean_sin * Real(0.9961947f));
  const Real exponent = polynomial(u, -0.316415489f, -0.640906513f, -2.5294714f, -15.1553802f);
  const Real turn = power_of_2(exponent * u), squared = turn * turn;
  const Real p = polynomial(squared, -0.000265783805f, 0.0104893856f, -0.191395745f, 1.04719746f);
  return p * turn;
}

VMAFX_TWIN Real ciede_difference(CiedeLab p, CiedeLab q) {
  const Real c1 = ciede_length(p.a, p.b), c2 = ciede_length(q.a, q.b);
  const Real grow = Real(1.5f) - Real(0.5f) * ciede_saturation((c1 + c2) * Real(0.5f));
  const Real a1 = p.a * grow, a2 = q.a * grow;  // a' of the paper
  const Real chroma1 = ciede_length(a1, p.b), chroma2 = ciede_length(a2, q.b), mean = (chroma1 + chroma2) * Real(0.5f);

  const Real from_middle = (p.l + q.l) * Real(0.5f) - Real(50), squared = from_middle * from_middle;
  const Real root = square_root(Real(20) + squared);
  const Real lightness = ((q.l - p.l) * root) / (Real(0.65f) * root + Real(0.65f * 0.015f) * squared);
  const Real chroma = (chroma2 - chroma1) / (Real(1) + Real(0.045f) * mean);

  const CiedeHues hues = ciede_hues(a1, p.b, chroma1, a2, q.b, chroma2);
  const Real weight = Real(4) + (Real(0.06f) * mean) * ciede_hue_weight(hues.mean_cos, hues.mean_sin);
  const Real hue = (Real(2) * square_root(chroma1 * chroma2) * hues.half_sin) / (hues.half_sin_divisor * weight);

  const Real turn = Real(-2) * ciede_saturation(mean) * ciede_blue_turn(hues.mean_cos, hues.mean_sin);
  const Real square = (lightness * lightness + chroma * chroma) + (hue * hue + turn * (chroma * hue));
  return square_root(maximum(square, Real(0)));
}

VMAFX_TWIN_END

#endif
