/* The kernel of float_motion, which writes magnitudes; kernels/steps/row_sums.hip adds them up. Grid: tiles across,
 * tiles down, frames. */
#include "kernels/gpu/gpu.h"
#include "kernels/motion/float_motion_work.h"
#include "kernels/steps/mirror.h"
#include "kernels/steps/prescale_math.h"
#include "kernels/steps/rows-inl.h"

namespace vmafx::float_motion {

using namespace gpu;

inline constexpr int kW = kFloatMotionTileW, kH = kFloatMotionTileH, kMostReach = 2 * kFloatMotionMaxRadius;

/* Samples, later blurred ones; and samples blurred down. */
struct TileMemory {
  float values[kH + kMostReach][kW + kMostReach];
  float down[kH][kW + kMostReach];
};

/* Calls step(x, y) for all of w x h, spread over the threads. */
template <int w, int h, class Step>
VMAFX_DEVICE void for_each_sample(Step step) {
  for (int i = static_cast<int>(thread_id().x); i < w * h; i += kFloatMotionThreads) step(i % w, i / w);
}

/* Values of a tile of w x h, spread over the threads. */
template <int w, int h>
struct Share {
  static constexpr int kCount = w * h / kFloatMotionThreads;
  static_assert(w * h % kFloatMotionThreads == 0);

  /* Calls step(v[i], x, y) for all that this thread has. */
  template <class Step>
  VMAFX_DEVICE void each(Step step) {
    VMAFX_UNROLL
    for (int k = 0; k < kCount; k++) {
      const int i = static_cast<int>(thread_id().x) + k * kFloatMotionThreads;
      step(v[k], i % w, i / w);
    }
  }

  float v[kCount];
};

/* The first pass over the tile at x0, y0: rows of the tile, columns of it and of its margins. */
template <class Filter, class T>
VMAFX_DEVICE void blur_down(const FloatMotionWork& work, const hip::DevicePlane& in, int x0, int y0,
                            TileMemory& memory) {
  constexpr int kR = Filter::kRadius;
  for_each_sample<kW + 2 * kR, kH + 2 * kR>([&](int i, int j) {
    const int x = mirror_near(x0 - kR + i, work.w, kR), y = mirror_near(y0 - kR + j, work.h, kR);
    const T sample = row_of<T>(in, y)[x];
    memory.values[j][i] = static_cast<float>(sample) * work.sample_scale + kFloatMotionOffset;
  });
  block_sync();
  for_each_sample<kW + 2 * kR, kH>([&](int i, int j) {
    memory.down[j][i] = ordered_sum<Filter>([&](int k) { return memory.values[j + kR + k][i]; });
  });
  block_sync();
}

template <class Filter>
VMAFX_DEVICE float blurred(const TileMemory& memory, int x, int y) {
  return ordered_sum<Filter>([&](int k) { return memory.down[y][x + Filter::kRadius + k]; });
}

/* A tile of the blurred frame. */
struct FullSize {
  static constexpr int kTileW = kW, kTileH = kH;

  template <class Filter, class T>
  VMAFX_DEVICE static void put(const FloatMotionWork& work, const hip::DevicePlane& in, int left, int top,
                               TileMemory& memory, Share<kTileW, kTileH>& share) {
    blur_down<Filter, T>(work, in, left, top, memory);
    share.each([&](float& value, int x, int y) { value = blurred<Filter>(memory, x, y); });
  }
};

/* One of the blurred frame at half the size, scaled as in prescale.h. */
struct HalfSize {
  static constexpr int kTileW = kW / 2, kTileH = kH / 2;

  template <class Filter, class T>
  VMAFX_DEVICE static void put(const FloatMotionWork& work, const hip::DevicePlane& in, int left, int top,
                               TileMemory& memory, Share<kTileW, kTileH>& share) {
    const int half_w = work.magnitudes.n, half_h = work.magnitudes.h;
    const int x0 = prescale_position(left, work.w, half_w).first, y0 = prescale_position(top, work.h, half_h).first;
    blur_down<Filter, T>(work, in, x0, y0, memory);
    for_each_sample<kW, kH>([&](int x, int y) { memory.values[y][x] = blurred<Filter>(memory, x, y); });
    block_sync();
    share.each([&](float& value, int x, int y) {
      value = 0;
      if (left + x >= half_w || top + y >= half_h) return;
      const PrescalePosition column = prescale_position(left + x, work.w, half_w);
      const PrescalePosition row = prescale_position(top + y, work.h, half_h);
      const float dx = column.x - static_cast<float>(column.first), dy = row.x - static_cast<float>(row.first);
      const float *upper = &memory.values[row.first - y0][column.first - x0], *lower = upper + kW + kMostReach;
      value = upper[0] * ((1 - dx) * (1 - dy)) + upper[1] * (dx * (1 - dy)) + lower[0] * ((1 - dx) * dy) +
              lower[1] * (dx * dy);
    });
  }
};

/* Magnitudes of a tile; 0 where there is no earlier frame. */
template <class Size, class Filter, class T>
VMAFX_DEVICE void put_magnitudes(const FloatMotionWork& work, TileMemory& memory) {
  const int frame = static_cast<int>(block_id().z);
  const hip::DevicePlane &earlier = work.plane.ref[hip::ref_index(frame, 1)],
                         &current = work.plane.ref[hip::ref_index(frame)];
  const int left = static_cast<int>(block_id().x) * Size::kTileW, top = static_cast<int>(block_id().y) * Size::kTileH;
  Share<Size::kTileW, Size::kTileH> a = {}, b = {};
  if (earlier.data) {
    Size::template put<Filter, T>(work, earlier, left, top, memory, a);
    block_sync();
    Size::template put<Filter, T>(work, current, left, top, memory, b);
  }
  int k = 0;
  a.each([&](float value, int x, int y) {
    const float magnitude = absolute(value - b.v[k++]);
    if (left + x < work.magnitudes.pitch && top + y < work.magnitudes.h)
      work.magnitudes.first[work.magnitudes.row(frame, 0, top + y) + left + x] = magnitude;
  });
}

template <class Filter, class T>
VMAFX_DEVICE void put_magnitudes(const FloatMotionWork& work, TileMemory& memory) {
  if (work.half_size) put_magnitudes<HalfSize, Filter, T>(work, memory);
  else put_magnitudes<FullSize, Filter, T>(work, memory);
}

VMAFX_DEFINE_SAMPLE_KERNELS(float_motion, T, work) {
  VMAFX_SHARED(TileMemory, memory, [1]);
  if (work.taps == 1) put_magnitudes<FloatMotionNoBlur, T>(work, memory[0]);
  else if (work.taps == 3) put_magnitudes<FloatMotionBlur3, T>(work, memory[0]);
  else put_magnitudes<FloatMotionBlur5, T>(work, memory[0]);
}

}  // namespace vmafx::float_motion
