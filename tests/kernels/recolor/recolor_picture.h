/* Pictures of any format in memory, for tests of conversions between color spaces. */
#ifndef VMAFX_TESTS_KERNELS_RECOLOR_RECOLOR_PICTURE_H
#define VMAFX_TESTS_KERNELS_RECOLOR_RECOLOR_PICTURE_H

#include <cstring>
#include <random>

#include "base/aligned.h"
#include "base/picture.h"
#include "kernels/recolor/recolor.h"
#include "tests/support/check_main.h"

namespace vmafx::test {

/* Rows on 64 bytes, as zimg asks for. */
class ColorPicture {
 public:
  explicit ColorPicture(const VideoFormat& format) : format_(format) {
    for (int p = 0; p < format.planes(); p++) {
      stride_[p] = (format.row_bytes(p) + 63) / 64 * 64;
      memory_[p] = allocate_aligned(stride_[p] * static_cast<size_t>(format.plane_h(p)) + 64);
      std::memset(memory_[p].get(), 0xA5, stride_[p] * static_cast<size_t>(format.plane_h(p)) + 64);
    }
  }

  const VideoFormat& format() const { return format_; }
  void* data(int p) const { return memory_[p].get(); }
  ptrdiff_t stride(int p) const { return static_cast<ptrdiff_t>(stride_[p]); }

  int at(int p, int x, int y) const {
    const std::byte* row = memory_[p].get() + stride_[p] * static_cast<size_t>(y);
    return format_.bpc > 8 ? reinterpret_cast<const uint16_t*>(row)[x] : reinterpret_cast<const uint8_t*>(row)[x];
  }
  void set(int p, int x, int y, int code) {
    std::byte* row = memory_[p].get() + stride_[p] * static_cast<size_t>(y);
    if (format_.bpc > 8) reinterpret_cast<uint16_t*>(row)[x] = static_cast<uint16_t>(code);
    else reinterpret_cast<uint8_t*>(row)[x] = static_cast<uint8_t>(code);
  }

  Picture picture() const {
    Picture picture{.bpc = format_.bpc};
    for (int p = 0; p < format_.planes(); p++)
      picture.plane[p] = {data(p), stride(p), format_.plane_w(p), format_.plane_h(p)};
    return picture;
  }
  RecolorOutput output() const {
    RecolorOutput out{};
    for (int p = 0; p < format_.planes(); p++) out.data[p] = data(p), out.stride[p] = stride(p);
    return out;
  }

  /* All bytes, with what lies between rows. */
  bool operator==(const ColorPicture& other) const {
    for (int p = 0; p < format_.planes(); p++)
      if (std::memcmp(data(p), other.data(p), stride_[p] * static_cast<size_t>(format_.plane_h(p)) + 64)) return false;
    return true;
  }

 private:
  VideoFormat format_;
  size_t stride_[3] = {};
  AlignedBytes memory_[3];
};

/* A code for each number from 0 to 1 (chroma: -0.5 to 0.5) of plane p. */
inline int code_of_number(const VideoFormat& format, int p, double number) {
  const double step = 1 << (format.bpc - 8), most = (1 << format.bpc) - 1;
  const bool full = format.color.range == Color::Range::kFull;
  const double code = p      ? number * (full ? most : 224 * step) + 128 * step
                      : full ? number * most
                             : (16 + 219 * number) * step;
  return static_cast<int>(code < 0 ? 0 : code > most ? most : code + 0.5);
}

/* -- Formats ------------------------------------------------------------------------------------------------------- */

inline constexpr Color kBt709 = {.matrix = 1, .transfer = 1, .primaries = 1, .range = Color::Range::kLimited};
inline constexpr Color kBt709Full = {.matrix = 1, .transfer = 1, .primaries = 1, .range = Color::Range::kFull};
inline constexpr Color kPq = {.matrix = 9, .transfer = 16, .primaries = 9, .range = Color::Range::kLimited};
inline constexpr Color kHlg = {.matrix = 9, .transfer = 18, .primaries = 9, .range = Color::Range::kLimited};
inline constexpr Color kIctcpOfPq = {.matrix = 14, .transfer = 16, .primaries = 9, .range = Color::Range::kLimited};
inline constexpr Color kIctcpOfHlg = {.matrix = 14, .transfer = 18, .primaries = 9, .range = Color::Range::kLimited};

inline VideoFormat format_of(const Color& color, int w, int h, int bpc, Chroma chroma, bool whole = true) {
  return {.w = w, .h = h, .bpc = bpc, .chroma = chroma, .color = color, .whole_chroma = whole};
}

/* -- Samples ------------------------------------------------------------------------------------------------------- */

inline ColorPicture random_picture(const VideoFormat& format, uint32_t seed) {
  std::mt19937 random(seed);
  ColorPicture picture(format);
  for (int p = 0; p < format.planes(); p++)
    for (int y = 0; y < format.plane_h(p); y++)
      for (int x = 0; x < format.plane_w(p); x++) picture.set(p, x, y, static_cast<int>(random() % (1u << format.bpc)));
  return picture;
}

/* Calls body(from, to) with pairs of formats that twins must agree on: all colors, depths, chroma and its places, odd
 * sizes. */
template <class Body>
void for_each_conversion(Body body) {
  const Color colors[] = {kBt709, kBt709Full, kPq, kHlg, kIctcpOfPq};
  const Chroma chromas[] = {Chroma::k400, Chroma::k420, Chroma::k422, Chroma::k444};
  for (int w = 1; w <= 134; w += w < 20 ? 1 : every_if_not_all(19)) {
    const size_t i = static_cast<size_t>(w);
    const int h = 1 + w % 7;
    body(format_of(colors[i % 5], w, h, i % 3 ? 10 : 8, chromas[i % 4], i % 2),
         format_of(colors[(i + 1 + i / 5) % 5], w, h, i % 4 < 2 ? 8 : 16, chromas[(i + i / 4) % 4], i % 2));
  }
  for (const Color& from : colors)
    for (const Color& to : colors)
      body(format_of(from, 35, 7, 10, Chroma::k420), format_of(to, 35, 7, 12, Chroma::k420));
  for (const Chroma chroma : chromas)
    body(format_of(kBt709, 35, 7, 8, chroma), format_of(kBt709Full, 35, 7, 10, chroma));
  using enum Color::ChromaLocation;
  for (const auto at : {kLeft, kCenter, kTopLeft, kTop, kBottomLeft, kBottom}) {
    VideoFormat from = format_of(kPq, 38, 10, 10, Chroma::k420), to = format_of(kBt709, 38, 10, 8, Chroma::k420);
    from.color.chroma_location = at;
    to.color.chroma_location = at == kTop ? kLeft : at;
    body(from, to);
  }
}

}  // namespace vmafx::test

#endif
