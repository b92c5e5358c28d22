/* Views of samples in host memory. A view never owns; whoever made it says how long it lives. */
#ifndef VMAFX_BASE_PICTURE_H
#define VMAFX_BASE_PICTURE_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace vmafx {

/* w x h samples of type T; rows lie `stride` bytes apart, which may be negative and need not be a multiple of
 * sizeof(T)'s alignment beyond T itself. */
template <class T>
struct Plane {
  T* data = nullptr;
  ptrdiff_t stride = 0;  // bytes
  int w = 0;
  int h = 0;

  T* row(int y) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(data) + y * stride);
  }
  Plane<const T> to_read() const { return {data, stride, w, h}; }
};

/* A plane whose sample type is known at run time only: uint8_t at 8 bit, uint16_t above (see Picture::bpc). */
struct SamplePlane {
  const void* data = nullptr;
  ptrdiff_t stride = 0;  // bytes, may be negative
  int w = 0;
  int h = 0;

  template <class T>
  Plane<const T> as() const {
    return {static_cast<const T*>(data), stride, w, h};
  }
};

enum class Chroma { k400, k420, k422, k444 };

/* The meaning of samples as colors: code points of ITU-T H.273, which FFmpeg's AVCOL_* are. 2: the video does not
 * say. */
struct Color {
  static constexpr int kUnspecified = 2;
  enum class Range { kUnspecified, kLimited, kFull };
  /* The place of chroma samples in a square of four luma samples; FFmpeg's AVCHROMA_LOC_*. */
  enum class ChromaLocation { kUnspecified, kLeft, kCenter, kTopLeft, kTop, kBottomLeft, kBottom };

  int matrix = kUnspecified;
  int transfer = kUnspecified;
  int primaries = kUnspecified;
  Range range = Range::kUnspecified;
  ChromaLocation chroma_location = ChromaLocation::kUnspecified;

  bool operator==(const Color&) const = default;
};

/* A video's format as metrics see it: planar, samples in the low bits of their word. */
struct VideoFormat {
  int w = 0;
  int h = 0;
  int bpc = 8;  // bits per component, 8..16
  Chroma chroma = Chroma::k420;
  Color color;     // in a session matrix and range are never left open: see engine/color.h
  double fps = 0;  // pictures per second; 0: not known

  /* Sizes of subsampled chroma round up, as FFmpeg stores it. Else they round down, as libvmaf has them, and a last odd
   * column or row of luma has no chroma of its own. */
  bool whole_chroma = false;

  int planes() const { return chroma == Chroma::k400 ? 1 : 3; }
  int plane_w(int p) const { return p && chroma != Chroma::k444 ? (w + whole_chroma) / 2 : w; }
  int plane_h(int p) const { return p && chroma == Chroma::k420 ? (h + whole_chroma) / 2 : h; }
  size_t row_bytes(int p) const { return static_cast<size_t>(plane_w(p)) * (bpc > 8 ? 2 : 1); }

  bool operator==(const VideoFormat&) const = default;
};

/* One picture. Planes that nobody asked for (see Extractor::reads) have data == nullptr. */
struct Picture {
  int bpc = 8;
  SamplePlane plane[3];
};

/* How many encodes of one reference a session scores at most. */
inline constexpr int kMostEncodes = 16;

}  // namespace vmafx

#endif
