/* The definition of motion: both passes of the blur, sample by sample. */
#include "kernels/motion/motion.h"
#include "kernels/steps/mirror.h"

namespace vmafx {
namespace {

template <class T>
void blur_columns(const Plane<const T>& earlier, const Plane<const T>& current, int y, int bpc, int32_t* out) {
  for (int x = 0; x < current.w; x++) {
    int32_t diffs[kMotionTaps];
    for (int k = 0; k < kMotionTaps; k++) {
      const int row = mirror(y - kMotionRadius + k, current.h);
      diffs[k] = earlier.row(row)[x] - current.row(row)[x];
    }
    out[x] = motion_column(diffs, bpc);
  }
}

uint64_t row_sad(const int32_t* columns, int w) {
  uint64_t sad = 0;
  for (int x = 0; x < w; x++) {
    int32_t values[kMotionTaps];
    for (int k = 0; k < kMotionTaps; k++) values[k] = columns[mirror(x - kMotionRadius + k, w)];
    sad += motion_row(values);
  }
  return sad;
}

template <class T>
uint64_t frame_sad(const Plane<const T>& earlier, const Plane<const T>& current, int bpc, std::byte* scratch) {
  int32_t* columns = reinterpret_cast<int32_t*>(scratch);
  uint64_t sad = 0;
  for (int y = 0; y < current.h; y++) {
    blur_columns(earlier, current, y, bpc, columns);
    sad += row_sad(columns, current.w);
  }
  return sad;
}

}  // namespace

uint64_t motion_sad_plain(const SamplePlane& earlier, const SamplePlane& current, int bpc, std::byte* scratch) {
  return bpc == 8 ? frame_sad(earlier.as<uint8_t>(), current.as<uint8_t>(), bpc, scratch)
                  : frame_sad(earlier.as<uint16_t>(), current.as<uint16_t>(), bpc, scratch);
}

}  // namespace vmafx
