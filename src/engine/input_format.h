/* The format of an input: what the metrics see of it, and how its samples lie in memory, whichever memory that is. */
#ifndef VMAFX_ENGINE_INPUT_FORMAT_H
#define VMAFX_ENGINE_INPUT_FORMAT_H

#include <cstddef>
#include <string>
#include <vector>

#include "base/picture.h"
#include "base/status.h"
#include "vmafx/vmafx.h"

namespace vmafx {

/* Sample x of a row is number x * step + first of the row in memory, shifted left. */
struct PlaneLayout {
  int source = 0;  // which of VmafxPicture.data
  int w = 0, h = 0;
  int sample_bytes = 1;
  int step = 1, first = 0;  // 2 and 0 or 1 where two planes are interleaved
  int shift = 0;

  bool has_samples() const { return w > 0 && h > 0; }  // a row or column of luma has no chroma where that is halved
  bool is_plain() const { return step == 1 && shift == 0; }
  size_t row_bytes() const { return static_cast<size_t>(w) * step * sample_bytes; }
};

struct InputFormat {
  VmafxFormat given{};
  std::string role;  // "reference", for messages
  std::string name;  // the same, or what the application calls it: "main"
  VideoFormat scored;
  PlaneLayout plane[3];
  unsigned planes_read = 0;  // bit p: a metric reads plane p

  /* EINVAL when a field is out of range. */
  static StatusOr<InputFormat> make(const VmafxFormat& given, const char* role);

  bool is_read(int p) const { return planes_read >> p & 1; }
  bool in_gpu_memory() const { return given.memory == VMAFX_MEMORY_DEVICE || given.memory == VMAFX_MEMORY_DMABUF; }
};

/* "yuv420p", "gray10", as FFmpeg's format filter calls what has these samples. */
std::string sample_name(const VideoFormat& format);

/* Why two inputs cannot be scored against each other: a sentence for each thing that differs. Programs look for their first words. */
std::vector<std::string> differences(const InputFormat& ref, const InputFormat& dist);

}  // namespace vmafx

#endif
