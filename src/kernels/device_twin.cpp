#include "kernels/device_twin.h"

#include <algorithm>

namespace vmafx {
namespace {

void add_planes(unsigned planes, const VideoFormat& format, hip::PoolLayout::PlaneSize (&sizes)[3]) {
  for (int p = 0; p < format.planes(); p++)
    if (planes >> p & 1)
      sizes[p] = {static_cast<size_t>(format.plane_w(p)) * (format.bpc > 8 ? 2 : 1),
                  static_cast<size_t>(format.plane_h(p))};
}

}  // namespace

void add_reads(const Reads& reads, const VideoFormat& format, hip::PoolLayout& layout) {
  add_planes(reads.ref, format, layout.ref);
  add_planes(reads.dist, format, layout.dist);
  layout.history = std::max(layout.history, reads.history);
}

}  // namespace vmafx
