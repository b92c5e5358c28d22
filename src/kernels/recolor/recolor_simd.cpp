/* The SIMD twin of Recolorer: one source for every instruction set. Rows become floats, then numbers of the target;
 * where chroma is halved down, four rows of it wait in a ring. */
#include "kernels/recolor/recolor.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/recolor/recolor_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "kernels/recolor/recolor_math-inl.h"
#include "kernels/recolor/recolor_rows.h"
#include "kernels/steps/picture_light-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

void recolor(const Recolorer& r, const Picture& in, const RecolorOutput& out, RecolorRows rows, std::byte* scratch) {
  r.plain(in, out, rows, scratch);
}

#else

/* The numbers of the target in row y. */
template <class From>
HWY_INLINE void number_row(const Recolorer& r, const Picture& in, int y, const RecolorLines& lines) {
  const Recolor& p = r.params();
  const float* const tables = r.tables().data();
  const int w = p.source.w, even = w + w % 2;
  const LightLines source = lines.source();
  samples_to_floats(in.plane[0].as<From>().row(y), w, 1, source.of[0]);
  for (const int chroma : {1, 2}) {
    if (p.source.has_chroma) chroma_row(p.source, in.plane[chroma].as<From>(), y, 0, even, source, source.of[chroma]);
    else std::fill_n(source.of[chroma], even + kRowSlack, 0.0f);
  }
  const Real luma(p.from.luma), offset(p.from.luma_offset), chroma(p.from.chroma);
  for (int x = 0; x < w; x += lanes()) {
    const ColorTriple to = recolored(
        p, tables,
        {load(source.of[0] + x) * luma + offset, load(source.of[1] + x) * chroma, load(source.of[2] + x) * chroma});
    store(to.a, lines.number(0) + x);
    store(to.b, lines.number(1) + x);
    store(to.c, lines.number(2) + x);
  }
}

/* A row of chroma of half the width, of a row of numbers, which it extends. */
HWY_INLINE void narrow_row(const Recolor& p, float* numbers, float* out) {
  const int w = p.source.w;
  numbers[-1] = numbers[inside_picture(-1, w)];
  for (const int beyond : {w, w + 1}) numbers[beyond] = numbers[inside_picture(beyond, w)];
  for (int x = 0; x < p.chroma_w; x += lanes()) {
    VF a, b, c, d;
    hn::LoadInterleaved2(DF(), numbers + 2 * x - 1, a, b);
    hn::LoadInterleaved2(DF(), numbers + 2 * x + 1, c, d);
    store(chroma_mean(p.across, a, b, c, d), out + x);
  }
}

/* The codes of `n` numbers, each number(x) a vector. */
template <class To, class Number>
HWY_INLINE void code_row(const Recolor& p, int n, float scale, float offset, Number number, To* out) {
  const hn::Rebind<To, DF> d;
  int x = 0;
  for (; x + lanes() <= n; x += lanes())
    hn::StoreU(hn::DemoteTo(d, code_of(p, number(x), scale, offset).v), d, out + x);
  if (x == n) return;
  To last[kRowSlack];
  hn::StoreU(hn::DemoteTo(d, code_of(p, number(x), scale, offset).v), d, last);
  std::copy_n(last, n - x, out + x);
}

template <class To>
To* row_of(const RecolorOutput& out, int plane, int y) {
  return reinterpret_cast<To*>(static_cast<std::byte*>(out.data[plane]) + y * out.stride[plane]);
}

template <class To>
HWY_INLINE void chroma_code_row(const Recolor& p, int plane, int y, const RecolorLines& lines,
                                const RecolorOutput& out) {
  To* const to = row_of<To>(out, plane, y);
  const float* rows[RecolorLines::kRing];
  if (!p.down.halved) {
    const float* const row = p.across.halved ? lines.narrow(plane - 1, y) : lines.number(plane);
    return code_row(p, p.chroma_w, p.to.chroma, p.to.chroma_offset, [=](int x) HWY_ATTR { return load(row + x); }, to);
  }
  for (int tap = 0; tap < RecolorLines::kRing; tap++)
    rows[tap] = lines.narrow(plane - 1, inside_picture(2 * y - 1 + tap, p.source.h));
  code_row(
      p, p.chroma_w, p.to.chroma, p.to.chroma_offset,
      [&](int x) HWY_ATTR {
        return chroma_mean(p.down, load(rows[0] + x), load(rows[1] + x), load(rows[2] + x), load(rows[3] + x));
      },
      to);
}

/* Chroma that each plane keeps for itself. */
template <class From, class To>
void keep_chroma(const Recolor& p, const Picture& in, const RecolorOutput& out, RecolorRows rows, float* line) {
  const float neutral = static_cast<float>(-p.source.light.neutral_chroma);
  for (const int plane : {1, 2})
    for (int y = rows.first; out.data[plane] && y < rows.end; y++) {
      samples_to_floats(in.plane[plane].as<From>().row(y), p.chroma_w, 16, neutral, line);
      code_row(
          p, p.chroma_w, p.to.chroma, p.to.chroma_offset,
          [&](int x) HWY_ATTR { return load(line + x) * Real(p.from.chroma); }, row_of<To>(out, plane, y));
    }
}

template <class From, class To>
void recolor_rows(const Recolorer& r, const Picture& in, const RecolorOutput& out, RecolorRows rows,
                  const RecolorLines& lines) {
  const Recolor& p = r.params();
  const RecolorRows wanted = chroma_rows(p, rows);
  if (p.has_chroma && p.keeps_planes) keep_chroma<From, To>(p, in, out, wanted, lines.number(1));
  const bool chroma = p.has_chroma && !p.keeps_planes && (out.data[1] || out.data[2]);
  const bool waits = chroma && p.down.halved;
  int next = wanted.first;
  const int first = waits ? std::max(rows.first - 1, 0) : rows.first;
  const int end = waits ? std::min(rows.end + 1, p.source.h) : rows.end;
  for (int y = first; y < end; y++) {
    number_row<From>(r, in, y, lines);
    if (out.data[0] && y >= rows.first && y < rows.end)
      code_row(
          p, p.source.w, p.to.luma, p.to.luma_offset, [&](int x) HWY_ATTR { return load(lines.number(0) + x); },
          row_of<To>(out, 0, y));
    if (!chroma) continue;
    if (p.across.halved)
      for (const int plane : {1, 2}) narrow_row(p, lines.number(plane), lines.narrow(plane - 1, y));
    for (; next < wanted.end && (!waits || std::min(2 * next + 2, p.source.h - 1) <= y); next++) {
      if (!waits && next > y) break;
      for (const int plane : {1, 2})
        if (out.data[plane]) chroma_code_row<To>(p, plane, next, lines, out);
    }
  }
}

void recolor(const Recolorer& r, const Picture& in, const RecolorOutput& out, RecolorRows rows, std::byte* scratch) {
  const Recolor& p = r.params();
  const RecolorLines lines(scratch, p.source.w);
  const bool wide = p.source.bpc > 8;
  if (p.bpc == 8) (wide ? recolor_rows<uint16_t, uint8_t> : recolor_rows<uint8_t, uint8_t>)(r, in, out, rows, lines);
  else (wide ? recolor_rows<uint16_t, uint16_t> : recolor_rows<uint8_t, uint16_t>)(r, in, out, rows, lines);
}

#endif

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(recolor);

void Recolorer::simd(const Picture& in, const RecolorOutput& out, RecolorRows rows, std::byte* scratch) const {
  HWY_DYNAMIC_DISPATCH(recolor)(*this, in, out, rows, scratch);
}

}  // namespace vmafx
#endif
