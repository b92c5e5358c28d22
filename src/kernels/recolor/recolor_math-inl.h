/* The color of a sample, from the source's signal to the target's, see recolor.h. */
#if defined(VMAFX_KERNELS_RECOLOR_RECOLOR_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_RECOLOR_RECOLOR_MATH_INL_H
#undef VMAFX_KERNELS_RECOLOR_RECOLOR_MATH_INL_H
#else
#define VMAFX_KERNELS_RECOLOR_RECOLOR_MATH_INL_H
#endif

#include "kernels/arithmetic/twin-inl.h"
#include "kernels/recolor/recolor_math.h"
#include "kernels/steps/picture_light-inl.h"

VMAFX_TWIN_BEGIN

struct ColorTriple {
  Real a, b, c;
};

VMAFX_TWIN Real weighted(const float* weights, const ColorTriple& v) {
  return (Real(weights[0]) * v.a + Real(weights[1]) * v.b) + Real(weights[2]) * v.c;
}

VMAFX_TWIN ColorTriple product(const float* matrix, const ColorTriple& v) {
  return {weighted(matrix, v), weighted(matrix + 3, v), weighted(matrix + 6, v)};
}

/* Between entries i and i + 1. */
VMAFX_TWIN Real between(const float* table, Integer i, Real part) {
  const Real at = entry(table, i);
  return at + (entry(table + 1, i) - at) * part;
}

VMAFX_TWIN Real by_signal(const float* table, Real signal) {
  const Real place = minimum(maximum(signal, Real(0.0f)) * Real(float(kSignalSteps)), Real(float(kSignalEntries - 2)));
  const Integer i = truncated(place);
  return between(table, i, place - real(i));
}

VMAFX_TWIN Real by_light(const float* table, Real light) {
  constexpr int32_t kLeastBits = (127 - 44) << 23;  // of kLeastLight
  const Real inside = minimum(maximum(light, Real(kLeastLight)), Real(kMostLight));
  const Integer above = bits(inside) - Integer(kLeastBits);
  const Real part = real(above & Integer((1 << kLightShift) - 1)) * Real(1.0f / (1 << kLightShift));
  return between(table, shifted_right<kLightShift>(above), part);
}

VMAFX_TWIN ColorTriple after_step(const RecolorStep& step, const float* tables, const ColorTriple& v) {
  const ColorTriple light = product(step.matrix, v);
  if (step.gain == kNoTable) return light;
  const Real level = step.of_largest ? maximum(maximum(light.a, light.b), light.c) : weighted(step.weights, light);
  const Real gain = by_light(tables + step.gain, level);
  return {light.a * gain, light.b * gain, light.c * gain};
}

/* Y'CbCr to Y'CbCr, as numbers. */
VMAFX_TWIN ColorTriple recolored(const Recolor& p, const float* tables, const ColorTriple& from) {
  ColorTriple v = product(p.to_signal, from);
  if (p.decode != kNoTable) {
    const float *decode = tables + p.decode, *encode = tables + p.encode;
    v = {by_signal(decode, v.a), by_signal(decode, v.b), by_signal(decode, v.c)};
    for (int i = 0; i < p.n_steps; i++) v = after_step(p.steps[i], tables, v);
    v = {by_light(encode, v.a), by_light(encode, v.b), by_light(encode, v.c)};
  }
  return product(p.from_signal, v);
}

/* A code of the target. */
VMAFX_TWIN Integer code_of(const Recolor& p, Real number, float scale, float offset) {
  return rounded(minimum(maximum(number * Real(scale) + Real(offset), Real(0.0f)), Real(p.most)));
}
VMAFX_TWIN Integer luma_code(const Recolor& p, Real number) { return code_of(p, number, p.to.luma, p.to.luma_offset); }
VMAFX_TWIN Integer chroma_code(const Recolor& p, Real number) {
  return code_of(p, number, p.to.chroma, p.to.chroma_offset);
}

/* The mean of four neighbors in one direction. */
VMAFX_TWIN Real chroma_mean(const ChromaAxis& axis, Real a, Real b, Real c, Real d) {
  return ((a * Real(chroma_weight(axis, 0)) + b * Real(chroma_weight(axis, 1))) + c * Real(chroma_weight(axis, 2))) +
         d * Real(chroma_weight(axis, 3));
}

#ifndef HWY_TARGET

/* The numbers of the target at a luma sample. row(plane, y): the samples of a row. */
template <class Row>
VMAFX_HD ColorTriple color_at(const Recolor& p, const float* tables, int x, int y, Row row) {
  const PictureLight& source = p.source;
  ColorTriple from = {static_cast<float>(row(0, y)[x]) * p.from.luma + p.from.luma_offset, 0, 0};
  if (source.has_chroma) {
    const ChromaTaps across = source.across.taps(x, source.chroma_w), down = source.down.taps(y, source.chroma_h);
    from.b = real(chroma_at(source, across, down, [&](int at) { return row(1, at); })) * p.from.chroma;
    from.c = real(chroma_at(source, across, down, [&](int at) { return row(2, at); })) * p.from.chroma;
  }
  return recolored(p, tables, from);
}

/* Chroma that each plane keeps for itself: the number of a code. */
VMAFX_HD float kept_chroma(const Recolor& p, int code) {
  return static_cast<float>(16 * code - p.source.light.neutral_chroma) * p.from.chroma;
}

#endif

VMAFX_TWIN_END

#endif
