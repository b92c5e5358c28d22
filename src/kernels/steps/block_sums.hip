/* The kernel of block_sums_hip.h. */
#include "kernels/gpu/gpu.h"
#include "kernels/steps/block_sums_work.h"

namespace vmafx::block_sums {

VMAFX_DEVICE int larger(int a, int b) { return a > b ? a : b; }
VMAFX_DEVICE int smaller(int a, int b) { return a < b ? a : b; }

VMAFX_DEFINE_KERNEL(add_blocks, work) {
  const gpu::Dim3 group = gpu::block_id();
  const int n = static_cast<int>(group.x) * kBlockSumsThreads + static_cast<int>(gpu::thread_id().x);
  const BlocksOfValues& of = work.blocks;
  if (n >= of.across * of.down) return;
  const int word = static_cast<int>(group.y), x = n % of.across * of.side, y = n / of.across * of.side;
  const int begin = larger(x, of.x0) - of.first_x, end = smaller(x + of.side, of.x1) - of.first_x;
  const int last = smaller(y + of.side - of.first_y, work.values.h);
  double sum = 0;
  for (int row = larger(y - of.first_y, 0); row < last; row++) {
    const float* const values =
        work.values.first.get() + work.values.row(static_cast<int>(group.z), work.first_plane + word, row);
    for (int i = begin; i < end; i++) sum += static_cast<double>(values[i]);
  }
  (&work.sums[group.z])[n * work.words + word] = sum;
}

}  // namespace vmafx::block_sums
