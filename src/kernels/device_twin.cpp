#include "kernels/device_twin.h"

#include <algorithm>
#include <utility>

namespace vmafx {
namespace {

constexpr size_t kSumsAlignment = 64;

void add_planes(unsigned planes, const VideoFormat& format, hip::PoolLayout::PlaneSize (&sizes)[3]) {
  for (int p = 0; p < format.planes(); p++)
    if (planes >> p & 1) sizes[p] = {format.row_bytes(p), static_cast<size_t>(format.plane_h(p))};
}

}  // namespace

Status KernelList::load(const hip::Module& module) {
  for (Kernel& kernel : kernels_) {
    VMAFX_ASSIGN(const hip::Kernel<> found, module.kernel<>(kernel.name));
    kernel.function = found.native();
  }
  return {};
}

void add_reads(const Reads& reads, const VideoFormat& format, hip::PoolLayout& layout) {
  add_planes(reads.ref, format, layout.ref);
  add_planes(reads.dist, format, layout.dist);
  layout.history = std::max(layout.history, reads.history);
}

size_t add_memory(Extractor& extractor, hip::PoolLayout& layout) {
  layout.scratch_bytes = std::max(layout.scratch_bytes, extractor.device_twin()->scratch_bytes(layout.batch));
  return std::exchange(layout.sums_bytes, layout.sums_bytes + round_up(extractor.sums_bytes(), kSumsAlignment));
}

DeviceBatch device_batch(const hip::Batch& batch, size_t sums) {
  DeviceBatch own = {batch};
  own.sums = batch.sums + static_cast<ptrdiff_t>(sums);
  return own;
}

}  // namespace vmafx
