/* The kernels of float_motion. Grid: tiles across, tiles down, frames. */
#include "kernels/common/fixed.h"
#include "kernels/common/gpu.h"
#include "kernels/common/mirror.h"
#include "kernels/common/prescale_math.h"
#include "kernels/common/rows-inl.h"
#include "kernels/float_motion/float_motion_work.h"

namespace vmafx::float_motion {

using namespace gpu;

inline constexpr int kW = kFloatMotionTileW, kH = kFloatMotionTileH, kMostReach = 2 * kFloatMotionMaxRadius;

/* Differences, later blurred ones; and differences blurred down. */
struct TileMemory {
  float values[kH + kMostReach][kW + kMostReach];
  float down[kH][kW + kMostReach];
};

VMAFX_DEVICE int reflected(int i, int size, int radius) {
  return i < -radius ? 0 : i < size + radius ? mirror(i, size) : size - 1;
}

/* Calls step(x, y) for all of w x h, spread over the threads. */
template <int w, int h, class Step>
VMAFX_DEVICE void for_each_sample(Step step) {
  for (int i = static_cast<int>(thread_id().x); i < w * h; i += kFloatMotionThreads) step(i % w, i / w);
}

/* The first pass over the tile at x0, y0: rows of the tile, columns of it and of its margins. */
template <class Filter, class T>
VMAFX_DEVICE void blur_down(const FloatMotionWork& work, int x0, int y0, TileMemory& memory) {
  constexpr int kR = Filter::kRadius;
  const int frame = static_cast<int>(block_id().z);
  const hip::DevicePlane &earlier = work.plane.ref[hip::ref_index(frame, 1)],
                         &current = work.plane.ref[hip::ref_index(frame)];
  for_each_sample<kW + 2 * kR, kH + 2 * kR>([&](int i, int j) {
    const int x = reflected(x0 - kR + i, work.w, kR), y = reflected(y0 - kR + j, work.h, kR);
    const T a = reinterpret_cast<const T*>(earlier.data.get() + y * earlier.stride)[x];
    const T b = reinterpret_cast<const T*>(current.data.get() + y * current.stride)[x];
    memory.values[j][i] = (static_cast<float>(a) - static_cast<float>(b)) * work.sample_scale;
  });
  block_sync();
  for_each_sample<kW + 2 * kR, kH>([&](int i, int j) {
    memory.down[j][i] = symmetric_sum<Filter>([&](int k) { return memory.values[j + kR + k][i]; });
  });
  block_sync();
}

template <class Filter>
VMAFX_DEVICE float blurred(const TileMemory& memory, int x, int y) {
  return symmetric_sum<Filter>([&](int k) { return memory.down[y][x + Filter::kRadius + k]; });
}

template <class Filter, class T>
VMAFX_DEVICE int64_t tile_sad(const FloatMotionWork& work, TileMemory& memory) {
  const int x0 = static_cast<int>(block_id().x) * kW, y0 = static_cast<int>(block_id().y) * kH;
  blur_down<Filter, T>(work, x0, y0, memory);
  int64_t sad = 0;
  for_each_sample<kW, kH>([&](int x, int y) {
    const float magnitude = absolute(blurred<Filter>(memory, x, y));
    sad += x0 + x < work.w && y0 + y < work.h ? to_fixed<kFloatMotionBits>(magnitude) : 0;
  });
  return sad;
}

template <class Filter, class T>
VMAFX_DEVICE int64_t half_size_tile_sad(const FloatMotionWork& work, TileMemory& memory) {
  const int half_w = float_motion_half(work.w), half_h = float_motion_half(work.h);
  const int left = static_cast<int>(block_id().x) * (kW / 2), top = static_cast<int>(block_id().y) * (kH / 2);
  const int x0 = prescale_position(left, work.w, half_w).first, y0 = prescale_position(top, work.h, half_h).first;
  blur_down<Filter, T>(work, x0, y0, memory);
  for_each_sample<kW, kH>([&](int x, int y) { memory.values[y][x] = blurred<Filter>(memory, x, y); });
  block_sync();
  int64_t sad = 0;
  for_each_sample<kW / 2, kH / 2>([&](int x, int y) {
    if (left + x >= half_w || top + y >= half_h) return;
    const PrescalePosition column = prescale_position(left + x, work.w, half_w);
    const PrescalePosition row = prescale_position(top + y, work.h, half_h);
    const float dx = column.x - static_cast<float>(column.first), dy = row.x - static_cast<float>(row.first);
    const int i = column.first - x0, j = row.first - y0;
    const auto down = [&](int k) { return (1 - dy) * memory.values[j][k] + dy * memory.values[j + 1][k]; };
    sad += to_fixed<kFloatMotionBits>(absolute((1 - dx) * down(i) + dx * down(i + 1)));
  });
  return sad;
}

template <class Filter, class T>
VMAFX_DEVICE int64_t sad_of(const FloatMotionWork& work, TileMemory& memory) {
  return work.half_size ? half_size_tile_sad<Filter, T>(work, memory) : tile_sad<Filter, T>(work, memory);
}

template <class T>
VMAFX_DEVICE void run(const FloatMotionWork& work) {
  VMAFX_SHARED(TileMemory, memory, [1]);
  const int frame = static_cast<int>(block_id().z);
  if (!work.plane.ref[hip::ref_index(frame, 1)].data) return;
  const int64_t sad = work.taps == 1   ? sad_of<FloatMotionNoBlur, T>(work, memory[0])
                      : work.taps == 3 ? sad_of<FloatMotionBlur3, T>(work, memory[0])
                                       : sad_of<FloatMotionBlur5, T>(work, memory[0]);
  add_block(work.sum.get() + frame * work.sums_stride, sad);
}

}  // namespace vmafx::float_motion

VMAFX_KERNEL(vmafx_float_motion_8, vmafx::kFloatMotionThreads, (vmafx::FloatMotionWork work)) {
  vmafx::float_motion::run<uint8_t>(work);
}
VMAFX_KERNEL(vmafx_float_motion_16, vmafx::kFloatMotionThreads, (vmafx::FloatMotionWork work)) {
  vmafx::float_motion::run<uint16_t>(work);
}
