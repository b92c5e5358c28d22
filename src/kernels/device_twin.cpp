#include "kernels/device_twin.h"

#include <algorithm>

#include "kernels/device_conversions.h"

namespace vmafx {
namespace {

constexpr size_t kSumsAlignment = 64;

void add_planes(unsigned planes, const VideoFormat& format, hip::PoolLayout::PlaneSize (&sizes)[hip::kPoolPlanes]) {
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

PoolMemory add_memory(const Extractor& extractor, hip::PoolLayout& layout) {
  const DeviceTwin& twin = *extractor.device_twin();
  layout.scratch_bytes = std::max(layout.scratch_bytes, twin.scratch_bytes(layout.batch));
  const PoolMemory memory = {layout.sums_bytes, layout.kept_bytes};
  layout.sums_bytes += round_up(extractor.sums_bytes(), kSumsAlignment);
  if (const int earlier = extractor.reads().converted)
    layout.kept_bytes += twin.converted_bytes() * DeviceConversions::places(earlier, layout.batch, layout.encodes);
  return memory;
}

FrameGroups DeviceBatch::groups(unsigned blocks) const {
  const int most = static_cast<int>(std::max(1u, static_cast<unsigned>(count) * blocks / enough_blocks));
  FrameGroups groups;
  for (int first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && same_reference(first, end);) end++;
    const int frames = end - first, parts = (frames + most - 1) / most;
    for (int part = 0; part < parts; part++)
      groups.first[groups.count++] = static_cast<uint8_t>(first + part * frames / parts);
    std::fill(groups.picture + first, groups.picture + end, static_cast<uint8_t>(first));
  }
  groups.first[groups.count] = static_cast<uint8_t>(count);
  return groups;
}

/* One address in one batch is one picture. */
bool DeviceBatch::same_reference(int frame, int other) const {
  return std::ranges::all_of(planes, [&](const hip::BatchPlanes& plane) {
    return plane.ref[hip::ref_index(frame)].data.address() == plane.ref[hip::ref_index(other)].data.address();
  });
}

DeviceBatch device_batch(const hip::Batch& batch, const PoolMemory& memory) {
  DeviceBatch own = {batch};
  own.sums = batch.sums + static_cast<ptrdiff_t>(memory.sums);
  own.converted = batch.kept + static_cast<ptrdiff_t>(memory.converted);
  return own;
}

}  // namespace vmafx
