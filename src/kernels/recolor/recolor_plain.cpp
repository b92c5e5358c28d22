/* The definition of recolor.h. */
#include <cstdint>

#include "kernels/recolor/recolor.h"
#include "kernels/recolor/recolor_math-inl.h"
#include "kernels/recolor/recolor_rows.h"
#include "kernels/steps/picture_light-inl.h"

namespace vmafx {
namespace {

/* The numbers of the target at a luma sample. */
template <class From>
ColorTriple color_at(const Recolor& p, const Picture& in, int x, int y) {
  const PictureLight& source = p.source;
  ColorTriple from = {static_cast<float>(in.plane[0].as<From>().row(y)[x]) * p.from.luma + p.from.luma_offset, 0, 0};
  if (source.has_chroma) {
    const ChromaTaps across = source.across.taps(x, source.chroma_w), down = source.down.taps(y, source.chroma_h);
    const auto chroma = [&](int plane) {
      return real(chroma_at(source, across, down, [&](int at) { return in.plane[plane].as<From>().row(at); })) *
             p.from.chroma;
    };
    from.b = chroma(1);
    from.c = chroma(2);
  }
  return recolored(p, from);
}

/* The numbers of chroma sample x of luma row y: a mean across. */
template <class From>
ColorTriple chroma_across_row(const Recolor& p, const Picture& in, int x, int y) {
  if (!p.across.halved) return color_at<From>(p, in, x, y);
  const auto at = [&](int tap) { return color_at<From>(p, in, inside_picture(2 * x - 1 + tap, p.source.w), y); };
  const ColorTriple a = at(0), b = at(1), c = at(2), d = at(3);
  return {0, chroma_mean(p.across, a.b, b.b, c.b, d.b), chroma_mean(p.across, a.c, b.c, c.c, d.c)};
}

template <class From>
ColorTriple chroma_of(const Recolor& p, const Picture& in, int x, int y) {
  if (!p.down.halved) return chroma_across_row<From>(p, in, x, y);
  const auto at = [&](int tap) {
    return chroma_across_row<From>(p, in, x, inside_picture(2 * y - 1 + tap, p.source.h));
  };
  const ColorTriple a = at(0), b = at(1), c = at(2), d = at(3);
  return {0, chroma_mean(p.down, a.b, b.b, c.b, d.b), chroma_mean(p.down, a.c, b.c, c.c, d.c)};
}

/* Chroma that each plane keeps for itself: the number of a sample. */
template <class From>
ColorTriple kept_chroma(const Recolor& p, const Picture& in, int x, int y) {
  const auto number = [&](int plane) {
    const int code = in.plane[plane].as<From>().row(y)[x];
    return static_cast<float>(16 * code - p.source.light.neutral_chroma) * p.from.chroma;
  };
  return {0, number(1), number(2)};
}

template <class To>
To* row_of(const RecolorOutput& out, int plane, int y) {
  return reinterpret_cast<To*>(static_cast<std::byte*>(out.data[plane]) + y * out.stride[plane]);
}

template <class From, class To>
void recolor(const Recolor& p, const Picture& in, const RecolorOutput& out, RecolorRows rows) {
  if (out.data[0])
    for (int y = rows.first; y < rows.end; y++)
      for (int x = 0; x < p.source.w; x++)
        row_of<To>(out, 0, y)[x] = static_cast<To>(luma_code(p, color_at<From>(p, in, x, y).a));
  if (!p.has_chroma || !(out.data[1] || out.data[2])) return;
  const RecolorRows chroma = chroma_rows(p, rows);
  for (int y = chroma.first; y < chroma.end; y++)
    for (int x = 0; x < p.chroma_w; x++) {
      const ColorTriple color = p.keeps_planes ? kept_chroma<From>(p, in, x, y) : chroma_of<From>(p, in, x, y);
      if (out.data[1]) row_of<To>(out, 1, y)[x] = static_cast<To>(chroma_code(p, color.b));
      if (out.data[2]) row_of<To>(out, 2, y)[x] = static_cast<To>(chroma_code(p, color.c));
    }
}

}  // namespace

void Recolorer::plain(const Picture& in, const RecolorOutput& out, RecolorRows rows, std::byte*) const {
  const bool wide = params_.source.bpc > 8;
  if (params_.bpc == 8) (wide ? recolor<uint16_t, uint8_t> : recolor<uint8_t, uint8_t>)(params_, in, out, rows);
  else (wide ? recolor<uint16_t, uint16_t> : recolor<uint8_t, uint16_t>)(params_, in, out, rows);
}

}  // namespace vmafx
