/* The definition of xpsnr's sums. */
#include <algorithm>

#include "kernels/xpsnr/xpsnr.h"

namespace vmafx {
namespace {

template <class T>
uint64_t high_pass(const Plane<const T>& luma, const XpsnrArea& inner) {
  uint64_t sum = 0;
  for (int y = inner.y0; y < inner.y1; y++)
    for (int x = inner.x0; x < inner.x1; x++) sum += xpsnr_high_pass(luma.row(y - 1), luma.row(y), luma.row(y + 1), x);
  return sum;
}

template <class T>
uint64_t coarse_high_pass(const Plane<const T>& luma, const XpsnrArea& inner) {
  uint64_t sum = 0;
  for (int y = inner.y0; y < inner.y1; y += 2) {
    const T* rows[6];
    for (int i = 0; i < 6; i++) rows[i] = luma.row(std::min(y - 2 + i, luma.h - 1));
    for (int x = inner.x0; x < inner.x1; x += 2) sum += xpsnr_coarse_high_pass(rows, x, luma.w - 1);
  }
  return sum;
}

/* The change in time of sums of `step` x `step` samples; beyond the picture the last sample repeats. */
template <class T>
uint64_t change(const XpsnrReference& ref, const XpsnrArea& block, int step) {
  const Plane<const T> now = ref.now.as<T>(), before = ref.before.as<T>(), earlier = ref.earlier.as<T>();
  uint64_t sum = 0;
  for (int y = block.y0; y < block.y1; y += step)
    for (int x = block.x0; x < block.x1; x += step) {
      int32_t change = 0;
      for (int i = 0; i < step * step; i++) {
        const int column = std::min(x + i % step, now.w - 1), row = std::min(y + i / step, now.h - 1);
        change += xpsnr_change(now.row(row)[column], before.row(row)[column], earlier.row(row)[column], ref.weights);
      }
      sum += xpsnr_magnitude(change);
    }
  return sum;
}

template <class T>
XpsnrActivity activity(const XpsnrGrid& grid, const XpsnrReference& ref, const XpsnrArea& block) {
  XpsnrActivity activity = {0, change<T>(ref, block, grid.coarse ? 2 : 1)};
  const XpsnrArea inner = grid.inner(block);
  if (xpsnr_has_high_pass(grid, block))
    activity.spatial = grid.coarse ? coarse_high_pass(ref.now.as<T>(), inner) : high_pass(ref.now.as<T>(), inner);
  return activity;
}

template <class T>
uint64_t sse(const Plane<const T>& ref, const Plane<const T>& dist, const XpsnrArea& block) {
  uint64_t sum = 0;
  for (int y = block.y0; y < block.y1; y++)
    for (int x = block.x0; x < block.x1; x++) sum += squared_error(ref.row(y)[x], dist.row(y)[x]);
  return sum;
}

}  // namespace

XpsnrActivity xpsnr_activity_plain(const XpsnrParams& params, const XpsnrReference& ref, const XpsnrArea& block) {
  return params.format.bpc == 8 ? activity<uint8_t>(params.grid, ref, block)
                                : activity<uint16_t>(params.grid, ref, block);
}

uint64_t xpsnr_sse_plain(const SamplePlane& ref, const SamplePlane& dist, const XpsnrArea& block, int bpc) {
  return bpc == 8 ? sse(ref.as<uint8_t>(), dist.as<uint8_t>(), block)
                  : sse(ref.as<uint16_t>(), dist.as<uint16_t>(), block);
}

}  // namespace vmafx
