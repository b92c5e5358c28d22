/* The kernels of xpsnr: a block of threads for each block of the frame, all planes. Grid: columns, rows, frames. */
#include "kernels/gpu/gpu.h"
#include "kernels/xpsnr/xpsnr_work.h"

namespace vmafx::xpsnr {

/* The thread's samples of an area: every kXpsnrThreadsX-th column of every kXpsnrThreadsY-th row, in steps of `step`
 * both ways. */
template <int step, class Visit>
VMAFX_DEVICE void for_each_sample(const XpsnrArea& area, const Visit& visit) {
  const int x0 = area.x0 + step * static_cast<int>(gpu::thread_id().x);
  const int y0 = area.y0 + step * static_cast<int>(gpu::thread_id().y);
  for (int y = y0; y < area.y1; y += step * static_cast<int>(kXpsnrThreadsY))
    for (int x = x0; x < area.x1; x += step * static_cast<int>(kXpsnrThreadsX)) visit(x, y);
}

template <class T>
VMAFX_DEVICE uint64_t high_pass(const hip::DevicePlane& luma, const XpsnrArea& inner) {
  uint64_t sum = 0;
  for_each_sample<1>(inner, [&](int x, int y) {
    sum += xpsnr_high_pass(row_of<T>(luma, y - 1), row_of<T>(luma, y), row_of<T>(luma, y + 1), x);
  });
  return sum;
}

template <class T>
VMAFX_DEVICE uint64_t coarse_high_pass(const hip::DevicePlane& luma, const XpsnrArea& inner,
                                       const XpsnrGrid::Plane& size) {
  uint64_t sum = 0;
  for_each_sample<2>(inner, [&](int x, int y) {
    const T* rows[6];
    VMAFX_UNROLL
    for (int i = 0; i < 6; i++) rows[i] = row_of<T>(luma, y - 2 + i < size.h ? y - 2 + i : size.h - 1);
    sum += xpsnr_coarse_high_pass(rows, x, size.w - 1);
  });
  return sum;
}

/* The change in time of sums of `step` x `step` samples; beyond the picture the last sample repeats. */
template <class T, int step>
VMAFX_DEVICE uint64_t change(const hip::DevicePlane (&planes)[3], XpsnrTimeWeights weights, const XpsnrArea& block,
                             const XpsnrGrid::Plane& size) {
  uint64_t sum = 0;
  for_each_sample<step>(block, [&](int x, int y) {
    int32_t total = 0;
    VMAFX_UNROLL
    for (int i = 0; i < step * step; i++) {
      const int column = x + i % step < size.w ? x + i % step : size.w - 1;
      const int row = y + i / step < size.h ? y + i / step : size.h - 1;
      total += xpsnr_change(row_of<T>(planes[0], row)[column], row_of<T>(planes[1], row)[column],
                            row_of<T>(planes[2], row)[column], weights);
    }
    sum += xpsnr_magnitude(total);
  });
  return sum;
}

template <class T>
VMAFX_DEVICE void add_activity(const XpsnrWork& work, int frame, const XpsnrArea& block, XpsnrBlock& sums) {
  const hip::DevicePlane* ref = work.planes[0].ref;
  const hip::DevicePlane now = ref[hip::ref_index(frame)], before = ref[hip::ref_index(frame, 1)],
                         earlier = ref[hip::ref_index(frame, 2)];
  const XpsnrTimeWeights weights =
      xpsnr_time_weights(work.second_order, before.data.get() != nullptr, earlier.data.get() != nullptr);
  const hip::DevicePlane planes[3] = {now, weights.before ? before : now, weights.earlier ? earlier : now};
  const XpsnrGrid::Plane& size = work.grid.planes[0];
  if (work.grid.coarse) {
    sums.temporal = change<T, 2>(planes, weights, block, size);
    if (xpsnr_has_high_pass(work.grid, block)) sums.spatial = coarse_high_pass<T>(now, work.grid.inner(block), size);
  } else {
    sums.temporal = change<T, 1>(planes, weights, block, size);
    sums.spatial = high_pass<T>(now, work.grid.inner(block));
  }
}

template <class T>
VMAFX_DEVICE uint64_t sse(const hip::DevicePlane& ref, const hip::DevicePlane& dist, const XpsnrArea& block) {
  uint64_t sum = 0;
  for_each_sample<1>(block, [&](int x, int y) { sum += squared_error(row_of<T>(ref, y)[x], row_of<T>(dist, y)[x]); });
  return sum;
}

VMAFX_DEFINE_SAMPLE_KERNELS(xpsnr, T, work) {
  const gpu::Dim3 at = gpu::block_id();
  const int column = static_cast<int>(at.x), row = static_cast<int>(at.y), frame = static_cast<int>(at.z);
  XpsnrBlock sums = {};
  const XpsnrArea luma = work.grid.block(0, column, row);
  if (xpsnr_has_activity(work.grid, luma)) add_activity<T>(work, frame, luma, sums);
  VMAFX_UNROLL
  for (int p = 0; p < 3; p++)
    sums.sse[p] =
        sse<T>(work.planes[p].ref[hip::ref_index(frame)], work.planes[p].dist[frame], work.grid.block(p, column, row));
  gpu::add_block((&work.sums[at.z])[row * work.grid.columns + column], sums);
}

}  // namespace vmafx::xpsnr
