/* Pictures of any format in memory, for tests of conversions between color spaces. */
#ifndef VMAFX_TESTS_KERNELS_RECOLOR_RECOLOR_PICTURE_H
#define VMAFX_TESTS_KERNELS_RECOLOR_RECOLOR_PICTURE_H

#include <cstring>
#include <vector>

#include "base/aligned.h"
#include "base/picture.h"
#include "kernels/recolor/recolor.h"

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

}  // namespace vmafx::test

#endif
