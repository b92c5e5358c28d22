/* The kernels of prescale_hip.h. */
#include "kernels/gpu/gpu.h"
#include "kernels/steps/prescale_work.h"

namespace vmafx::prescale {

/* Sample (x, y) of the scaled plane, of value(column, row). */
template <class Value>
VMAFX_DEVICE float scaled_value(const PrescaleWork& work, int x, int y, Value value) {
  const int count = prescale_taps(work.method);
  const PrescaleTap *columns = work.taps.get() + static_cast<int64_t>(x) * count,
                    *rows = work.taps.get() + (static_cast<int64_t>(work.to_w) + y) * count;
  float sum = 0, weights = 0;
  for (int j = 0; j < count; j++) {
    const PrescaleTap row = rows[j];
    for (int i = 0; i < count; i++) {
      const PrescaleTap column = columns[i];
      const float weight = column.weight * row.weight;
      sum += value(column.index, row.index) * weight;
      weights += weight;
    }
  }
  return work.method == PrescaleMethod::kLanczos4 ? sum / weights : sum;
}

VMAFX_DEFINE_KERNEL(prescale_taps, work) {
  const int i = static_cast<int>(gpu::block_id().x * kPrescaleThreads + gpu::thread_id().x);
  if (i >= work.to_w + work.to_h) return;
  PrescaleTap* taps = work.taps.get() + static_cast<int64_t>(i) * prescale_taps(work.method);
  if (i < work.to_w) prescale_taps_at(work.method, i, work.from_w, work.to_w, taps);
  else prescale_taps_at(work.method, i - work.to_w, work.from_h, work.to_h, taps);
}

/* Block (x, y, 2 * frame + side). */
VMAFX_DEFINE_SAMPLE_KERNELS(prescale, T, work) {
  const gpu::Dim3 block = gpu::block_id();
  const int x = static_cast<int>(block.x * kPrescaleThreads + gpu::thread_id().x), y = static_cast<int>(block.y);
  if (x >= work.to_w) return;
  const hip::DevicePlane& in = work.planes[block.z];
  work.out[(static_cast<int64_t>(block.z) * work.to_h + y) * work.to_w + x] = scaled_value(
      work, x, y,
      [&](int column, int row) { return static_cast<float>(row_of<T>(in, row)[column]) * work.scale + work.offset; });
}

}  // namespace vmafx::prescale
