/* The clip that is scored: planar 4:2:0 in memory, made here, with integer arithmetic only, so that it is the same
 * everywhere, or from a file. */
#ifndef VMAFX_BENCH_CLIP_H
#define VMAFX_BENCH_CLIP_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vmafx/vmafx.h"

namespace bench {

struct ClipFormat {
  int w, h, bits, frames;
  int distinct = 0;  // as many of them differ, and come again and again; 0: all
};

class Clip {
 public:
  static Clip reference(const ClipFormat& format);  // texture of three scales that moves, and grain
  static Clip distorted(const ClipFormat& format);  // the reference, blurred and quantized

  /* Reads the first frames of raw video, as write() writes it. Dies if the file has less. */
  static Clip read(const ClipFormat& format, const std::string& path);

  VmafxPicture picture(int frame) const;

  /* A copy of a picture in `memory`, which grows to the size that it takes. */
  VmafxPicture copy(int frame, std::vector<uint8_t>& memory) const;

  /* As raw video; samples of more than 8 bits are little-endian words. False when it cannot. */
  bool write(const std::string& path) const;

 private:
  using Sample = int (*)(int plane, int x, int y, int frame);  // 16 bits

  Clip(const ClipFormat& format, Sample sample);
  explicit Clip(const ClipFormat& format);
  std::vector<uint8_t>& new_plane(int p);
  void add_plane(int p, int frame, Sample sample);
  std::span<const std::vector<uint8_t>, 3> planes(int frame) const;
  int plane_w(int p) const { return p ? (format_.w + 1) / 2 : format_.w; }
  int plane_h(int p) const { return p ? (format_.h + 1) / 2 : format_.h; }
  int sample_bytes() const { return format_.bits > 8 ? 2 : 1; }

  ClipFormat format_;
  std::vector<std::vector<uint8_t>> planes_;  // three per distinct frame
};

}  // namespace bench

#endif
