/* The kernels of float_moment: the lumas of a batch in one launch. Grid: tiles in x and y, frames times 2 (ref,
 * dist). */
#include "kernels/float_moment/float_moment_work.h"
#include "kernels/gpu/gpu.h"

namespace vmafx::moment {

/* Samples [x, x + 16 / sizeof(T)) of row y, those below w. The sums of a thread: 8 rows of 8 squares below 2^32. */
template <class T>
VMAFX_DEVICE void add_pack(const hip::DevicePlane& plane, int x, int y, int w, MomentSums& sums) {
  constexpr int n = 16 / sizeof(T);
  const T* row = row_of<T>(plane, y) + x;
  gpu::Pack<T, n> pack;
  if (x + n <= w) {
    pack = gpu::load_pack<n>(row);
  } else {
    VMAFX_UNROLL
    for (int k = 0; k < n; k++) pack.v[k] = x + k < w ? row[k] : T(0);
  }
  uint32_t sum = 0;
  VMAFX_UNROLL
  for (int k = 0; k < n; k++) {
    const uint32_t sample = pack.v[k];
    sum += sample;
    sums.second += uint64_t{sample} * sample;
  }
  sums.first += sum;
}

VMAFX_DEFINE_SAMPLE_KERNELS(moment, T, work) {
  const gpu::Dim3 block = gpu::block_id();
  const unsigned frame = block.z / 2, is_dist = block.z % 2;
  const hip::DevicePlane& plane =
      is_dist ? work.luma.dist[frame] : work.luma.ref[hip::ref_index(static_cast<int>(frame))];
  const int x = static_cast<int>((block.x * kMomentPacks + gpu::thread_id().x) * (16 / sizeof(T)));
  const int top = static_cast<int>(block.y * kMomentRows);
  MomentSums sums = {};
  if (x < work.w)
    for (int y = top; y < work.h && y < top + static_cast<int>(kMomentRows); y++)
      add_pack<T>(plane, x, y, work.w, sums);
  MomentPair& of_frame = work.sums[frame];
  gpu::add_block(is_dist ? of_frame.dist : of_frame.ref, sums);
}

}  // namespace vmafx::moment
