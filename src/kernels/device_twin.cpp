#include "kernels/device_twin.h"

#include <algorithm>

namespace vmafx {
namespace {

constexpr size_t kSumsAlignment = 64;

void add_planes(unsigned planes, const VideoFormat& format, hip::PoolLayout::PlaneSize (&sizes)[3]) {
  for (int p = 0; p < format.planes(); p++)
    if (planes >> p & 1)
      sizes[p] = {static_cast<size_t>(format.plane_w(p)) * (format.bpc > 8 ? 2 : 1),
                  static_cast<size_t>(format.plane_h(p))};
}

}  // namespace

DeviceBatch device_batch(const hip::Batch& batch) {
  DeviceBatch work;
  work.count = batch.count;
  std::ranges::copy(batch.planes, work.planes);
  work.stream = batch.stream;
  work.sums = batch.sums;
  work.sums_stride = batch.sums_stride;
  work.scratch = batch.scratch;
  return work;
}

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

DevicePart add_memory(Extractor& extractor, hip::PoolLayout& layout) {
  const DevicePart part = {layout.sums_bytes};
  layout.sums_bytes += round_up(extractor.sums_bytes(), kSumsAlignment);
  layout.scratch_bytes = std::max(layout.scratch_bytes, extractor.device_twin()->scratch_bytes(layout.batch));
  return part;
}

DeviceBatch DevicePart::of(const DeviceBatch& batch) const {
  DeviceBatch own = batch;
  own.sums = batch.sums + static_cast<ptrdiff_t>(sums);
  return own;
}

}  // namespace vmafx
