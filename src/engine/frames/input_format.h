/* The format of an input: the video that the metrics see, and the layout of its samples in memory of any kind. */
#ifndef VMAFX_ENGINE_FRAMES_INPUT_FORMAT_H
#define VMAFX_ENGINE_FRAMES_INPUT_FORMAT_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/picture.h"
#include "base/status.h"
#include "vmafx/vmafx.h"

namespace vmafx {

/* Sample x of a row is sample x * step + first of the row in memory, shifted left. */
struct PlaneLayout {
  int source = 0;  // index into VmafxPicture.data
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
  std::string name;  // the application's name for it, "main", else its role
  VideoFormat scored;
  PlaneLayout plane[3];
  unsigned planes_read = 0;                              // bit p: a metric reads plane p
  std::string pci_address;                               // of the device that opaque memory is of; "" if unknown
  std::optional<std::array<uint8_t, 16>> device_uuid{};  // its, too; nullopt if unknown

  /* EINVAL when a field is out of range. */
  static StatusOr<InputFormat> make(const VmafxFormat& given, const char* role);

  bool is_read(int p) const { return planes_read >> p & 1; }
  bool in_gpu_memory() const { return given.memory >= VMAFX_MEMORY_DEVICE; }
};

/* The color that an input describes. */
Color described_color(const VmafxColor& color);

/* FFmpeg's name for a format with these samples: "yuv420p", "gray10". */
std::string sample_name(const VideoFormat& format);

/* Why two inputs cannot be scored against each other: a sentence for each difference. Programs look for their first
 * words. */
std::vector<std::string> differences(const InputFormat& ref, const InputFormat& dist);

}  // namespace vmafx

#endif
