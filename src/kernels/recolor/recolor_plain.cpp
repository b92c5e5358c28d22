/* The definition of recolor.h. */
#include <cstdint>

#include "kernels/recolor/recolor.h"
#include "kernels/recolor/recolor_math-inl.h"

namespace vmafx {
namespace {

/* A picture that is converted. */
template <class From>
struct Source {
  const Recolor& p;
  const float* tables;
  const Picture& in;

  ColorTriple at(int x, int y) const {
    return color_at(p, tables, x, y, [&](int plane, int row) { return in.plane[plane].as<From>().row(row); });
  }

  /* The numbers of chroma sample x of luma row y: a mean across. */
  ColorTriple chroma_across(int x, int y) const {
    if (!p.across.halved) return at(x, y);
    const auto tap = [&](int i) { return at(inside_picture(2 * x - 1 + i, p.source.w), y); };
    const ColorTriple a = tap(0), b = tap(1), c = tap(2), d = tap(3);
    return {0, chroma_mean(p.across, a.b, b.b, c.b, d.b), chroma_mean(p.across, a.c, b.c, c.c, d.c)};
  }

  ColorTriple chroma(int x, int y) const {
    if (p.keeps_planes) return {0, kept(1, x, y), kept(2, x, y)};
    if (!p.down.halved) return chroma_across(x, y);
    const auto tap = [&](int i) { return chroma_across(x, inside_picture(2 * y - 1 + i, p.source.h)); };
    const ColorTriple a = tap(0), b = tap(1), c = tap(2), d = tap(3);
    return {0, chroma_mean(p.down, a.b, b.b, c.b, d.b), chroma_mean(p.down, a.c, b.c, c.c, d.c)};
  }

 private:
  float kept(int plane, int x, int y) const { return kept_chroma(p, in.plane[plane].as<From>().row(y)[x]); }
};

template <class To>
To* row_of(const RecolorOutput& out, int plane, int y) {
  return reinterpret_cast<To*>(static_cast<std::byte*>(out.data[plane]) + y * out.stride[plane]);
}

template <class From, class To>
void recolor(const Recolorer& r, const Picture& in, const RecolorOutput& out, RecolorRows rows) {
  const Recolor& p = r.params();
  const Source<From> source = {p, r.tables().data(), in};
  if (out.data[0])
    for (int y = rows.first; y < rows.end; y++)
      for (int x = 0; x < p.source.w; x++) row_of<To>(out, 0, y)[x] = static_cast<To>(luma_code(p, source.at(x, y).a));
  if (!p.has_chroma || !(out.data[1] || out.data[2])) return;
  const RecolorRows chroma = chroma_rows(p, rows);
  for (int y = chroma.first; y < chroma.end; y++)
    for (int x = 0; x < p.chroma_w; x++) {
      const ColorTriple color = source.chroma(x, y);
      if (out.data[1]) row_of<To>(out, 1, y)[x] = static_cast<To>(chroma_code(p, color.b));
      if (out.data[2]) row_of<To>(out, 2, y)[x] = static_cast<To>(chroma_code(p, color.c));
    }
}

}  // namespace

void Recolorer::plain(const Picture& in, const RecolorOutput& out, RecolorRows rows, std::byte*) const {
  const bool wide = params_.source.bpc > 8;
  if (params_.bpc == 8) (wide ? recolor<uint16_t, uint8_t> : recolor<uint8_t, uint8_t>)(*this, in, out, rows);
  else (wide ? recolor<uint16_t, uint16_t> : recolor<uint8_t, uint16_t>)(*this, in, out, rows);
}

}  // namespace vmafx
