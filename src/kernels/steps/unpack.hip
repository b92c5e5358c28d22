/* See unpack.h. Block z works on plane z. */
#include "kernels/gpu/gpu.h"
#include "kernels/steps/unpack_work.h"

namespace vmafx::unpack {

template <class T>
VMAFX_DEVICE void run(const UnpackPlane& plane, int x, int y) {
  using gpu::Pack;
  const T* from = reinterpret_cast<const T*>(plane.from.get() + y * plane.from_stride) + plane.first;
  T* to = reinterpret_cast<T*>(plane.to.get() + y * plane.to_stride);
  const int left = plane.w - x, count = left < static_cast<int>(kUnpackRun) ? left : static_cast<int>(kUnpackRun);
  Pack<T, kUnpackRun> samples{};
  VMAFX_UNROLL
  for (int i = 0; i < static_cast<int>(kUnpackRun); i++)
    if (i < count) samples.v[i] = static_cast<T>(from[(x + i) * plane.step] >> plane.shift);
  if (count == static_cast<int>(kUnpackRun)) return gpu::store_pack(to + x, samples);
  VMAFX_UNROLL
  for (int i = 0; i < static_cast<int>(kUnpackRun); i++)
    if (i < count) to[x + i] = samples.v[i];
}

VMAFX_DEFINE_KERNEL(unpack, planes) {
  const gpu::Dim3 thread = gpu::thread_id(), block = gpu::block_id();
  const UnpackPlane& plane = planes.plane[block.z];
  const int x = static_cast<int>((block.x * kUnpackColumns + thread.x) * kUnpackRun);
  const int y = static_cast<int>(block.y * kUnpackRows + thread.y);
  if (x >= plane.w || y >= plane.h) return;
  if (plane.sample_bytes == 1) run<uint8_t>(plane, x, y);
  else run<uint16_t>(plane, x, y);
}

}  // namespace vmafx::unpack
