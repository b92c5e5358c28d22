/* Linear light of pictures, see linear_light.h: of a sample (light_at) and, in a Highway source, of rows of them
 * (light_row); a picture of half the size (mean_of_4, halve_rows). `hdr`: video may be HDR. */
#if defined(VMAFX_KERNELS_STEPS_PICTURE_LIGHT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_STEPS_PICTURE_LIGHT_INL_H
#undef VMAFX_KERNELS_STEPS_PICTURE_LIGHT_INL_H
#else
#define VMAFX_KERNELS_STEPS_PICTURE_LIGHT_INL_H
#endif

#include "kernels/steps/hdr_light-inl.h"
#include "kernels/steps/rows-inl.h"

#ifdef HWY_TARGET
#include <algorithm>

#include "base/picture.h"
#endif

VMAFX_TWIN_BEGIN

/* A sample of the next scale: the mean of four, the upper two first. */
VMAFX_TWIN Real mean_of_4(Real a, Real b, Real c, Real d) { return (((a + b) + c) + d) * Real(0.25f); }

#ifndef HWY_TARGET

template <bool hdr>
VMAFX_HD Light display_light(const LinearLight& p, const GammaRgb& rgb) {
  if constexpr (hdr) {
    if (p.display != DisplayLight::kSdr) return hdr_light(p, rgb);
  }
  return sdr_light(p, rgb);
}

/* 16 times the code of chroma at a luma sample, less that of neutral colors. row(y): the samples of a row. */
template <class Row>
VMAFX_HD int chroma_at(const PictureLight& params, const ChromaTaps& across, const ChromaTaps& down, Row row) {
  const auto *top = row(down.first), *below = row(down.second);
  return chroma_between(chroma_between(top[across.first], top[across.second], across.weight),
                        chroma_between(below[across.first], below[across.second], across.weight), down.weight) -
         params.light.neutral_chroma;
}

/* The light at a luma sample. row(plane, y): the samples of a row. */
template <bool hdr, class Row>
VMAFX_HD Light light_at(const PictureLight& params, int x, int y, Row row) {
  int cb = 0, cr = 0;
  if (params.has_chroma) {
    const ChromaTaps across = params.across.taps(x, params.chroma_w), down = params.down.taps(y, params.chroma_h);
    cb = chroma_at(params, across, down, [&](int at) { return row(1, at); });
    cr = chroma_at(params, across, down, [&](int at) { return row(2, at); });
  }
  return display_light<hdr>(params.light, gamma_rgb(params.light, row(0, y)[x], cb, cr));
}

#elif HWY_TARGET != HWY_SCALAR

// -- Linear light of a row -------------------------------------------------------------------------------------------

/* Four times the chroma between two rows, of columns `from` to `to` - 1, into out[0] and on. The ends are repeated. */
template <class T>
HWY_INLINE void chroma_between_rows(const Plane<const T>& plane, const ChromaTaps& rows, int from, int to, float* below,
                                    float* out) {
  const int first = std::max(from, 0), last = std::min(to, plane.w), count = last - first;
  float* inside = out + (first - from);
  samples_to_floats(plane.row(rows.first) + first, count, static_cast<float>(4 - rows.weight), inside);
  samples_to_floats(plane.row(rows.second) + first, count, static_cast<float>(rows.weight), below);
  for (int i = 0; i < count; i += lanes()) store(load(inside + i) + load(below + i), inside + i);
  std::fill(out, inside, inside[0]);
  std::fill(inside + count, out + (to - from), inside[count - 1]);
}

/* 16 times the chroma of `count` columns from x on, an even one, less that of neutral colors. All of it is exact. */
template <class T>
HWY_INLINE void chroma_row(const PictureLight& params, const Plane<const T>& plane, int y, int x, int count,
                           const LightLines& lines, float* out) {
  float *below = lines.of[3], *rows = lines.of[4];
  const ChromaTaps down = params.down.taps(y, plane.h);
  const Real neutral(static_cast<float>(params.light.neutral_chroma));
  if (!params.across.halved) {
    chroma_between_rows(plane, down, x, x + count, below, rows);
    for (int i = 0; i < count; i += lanes()) store(load(rows + i) * Real(4) - neutral, out + i);
    return;
  }
  const int pairs = (count + 1) / 2;
  chroma_between_rows(plane, down, x / 2 - 1, x / 2 + pairs + 1, below, rows);
  const float offset = static_cast<float>(params.across.offset);
  const Real before(offset), at_even(4 - offset), at_odd(2 + offset), after(2 - offset);
  for (int i = 0; i < pairs; i += lanes()) {
    const Real at = load(rows + i + 1);
    const Real even = load(rows + i) * before + at * at_even, odd = at * at_odd + load(rows + i + 2) * after;
    hn::StoreInterleaved2((even - neutral).v, (odd - neutral).v, DF(), out + 2 * i);
  }
}

/* A row of luma and chroma, as gamma_rgb() takes them. */
struct GammaRow {
  const LinearLight& light;
  const float *luma, *cb, *cr;

  HWY_INLINE GammaRgb at(int i) const {
    return gamma_rgb(light, widened(load(luma + i)), widened(load(cb + i)), widened(load(cr + i)));
  }
};

HWY_INLINE void hdr_light_row(const GammaRow& row, int count, float* const (&out)[3]) {
  for (int i = 0; i < count; i += lanes()) {
    const Light light = hdr_light(row.light, row.at(i));
    store(light.r, out[0] + i);
    store(light.g, out[1] + i);
    store(light.b, out[2] + i);
  }
}

/* The columns where vectors begin that reach into the toe of the display's curve. Samples in the toe take longer than
 * those above it, and are faster in a loop of their own than behind a branch that is taken now and then. */
class ToeList {
 public:
  /* `memory`: for a float of each vector. */
  HWY_INLINE explicit ToeList(float* memory) : columns_(reinterpret_cast<int32_t*>(memory)) {}
  HWY_INLINE void add(int column, bool in_toe) {
    columns_[size_] = column;
    size_ += in_toe;
  }
  HWY_INLINE const int32_t* begin() const { return columns_; }
  HWY_INLINE const int32_t* end() const { return columns_ + size_; }

 private:
  int32_t* columns_;
  int size_ = 0;
};

/* `memory`: a line. */
HWY_INLINE void sdr_light_row(const GammaRow& row, int count, float* memory, float* const (&out)[3]) {
  const DisplayCurve& curve = row.light.curve;
  const int vectors = count / lanes() + 2;
  ToeList toes[3] = {ToeList(memory), ToeList(memory + vectors), ToeList(memory + 2 * vectors)};
  const Double toe(curve.toe);
  static constexpr Double GammaRgb::* kKinds[] = {&GammaRgb::r, &GammaRgb::g, &GammaRgb::b};
  for (int i = 0; i < count; i += lanes()) {
    const GammaRgb rgb = row.at(i);
    VMAFX_UNROLL
    for (int kind = 0; kind < 3; kind++) {
      store(code_above_toe(curve, rgb.*kKinds[kind]), out[kind] + i);
      toes[kind].add(i, any(rgb.*kKinds[kind] <= toe));
    }
  }
  VMAFX_UNROLL
  for (int kind = 0; kind < 3; kind++)
    for (const int i : toes[kind]) {
      const Double gamma = row.at(i).*kKinds[kind];
      store(select(gamma <= toe, code_in_toe(curve, gamma), load(out[kind] + i)), out[kind] + i);
    }
  for (float* line : out)
    for (int i = 0; i < count; i += lanes()) store(linear(load(line + i)), line + i);
}

/* `count` columns from x on, an even one. */
template <bool hdr, class T>
HWY_INLINE void light_row(const PictureLight& params, const Picture& picture, int y, int x, int count,
                          const LightLines& lines, float* const (&out)[3]) {
  float *luma = lines.of[0], *cb = lines.of[1], *cr = lines.of[2];
  samples_to_floats(picture.plane[0].as<T>().row(y) + x, count, 1, luma);
  if (params.has_chroma) {
    chroma_row(params, picture.plane[1].as<T>(), y, x, count, lines, cb);
    chroma_row(params, picture.plane[2].as<T>(), y, x, count, lines, cr);
  } else {
    std::fill_n(cb, count + kRowSlack, 0.0f);
    std::fill_n(cr, count + kRowSlack, 0.0f);
  }
  const GammaRow row = {params.light, luma, cb, cr};
  if constexpr (hdr) {
    if (params.light.display != DisplayLight::kSdr) return hdr_light_row(row, count, out);
  }
  sdr_light_row(row, count, lines.of[3], out);
}

/* Makes half a row of the next scale. If `columns` is odd, the last one counts twice. */
HWY_INLINE void halve_rows(float* top, float* below, int columns, float* out) {
  if (columns % 2) {
    top[columns] = top[columns - 1];
    below[columns] = below[columns - 1];
  }
  for (int i = 0; 2 * i < columns; i += lanes()) {
    VF top_left, top_right, left, right;
    hn::LoadInterleaved2(DF(), top + 2 * i, top_left, top_right);
    hn::LoadInterleaved2(DF(), below + 2 * i, left, right);
    store(mean_of_4(top_left, top_right, left, right), out + i);
  }
}

#endif

VMAFX_TWIN_END

#endif
