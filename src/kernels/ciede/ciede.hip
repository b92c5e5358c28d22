/* The kernels of ciede: all pixels of a batch in one launch. Grid: tiles across, tiles down, frames. */
#include "kernels/arithmetic/fixed.h"
#include "kernels/ciede/ciede_math-inl.h"
#include "kernels/ciede/ciede_work.h"
#include "kernels/gpu/gpu.h"

namespace vmafx::ciede {

template <class T>
VMAFX_DEVICE float chroma(const CiedeWork& work, const hip::DevicePlane& plane, CiedeSite site) {
  return static_cast<float>(row_of<T>(plane, site.y)[site.x]) - work.params.chroma_zero;
}

template <class T>
VMAFX_DEVICE CiedeLab lab_at(const CiedeWork& work, const hip::DevicePlane& luma, const hip::DevicePlane& cb,
                             const hip::DevicePlane& cr, int x, int y, CiedeSite site) {
  return ciede_lab(work.params, row_of<T>(luma, y)[x] - work.params.luma_zero,
                   ciede_offsets(work.params, chroma<T>(work, cb, site), chroma<T>(work, cr, site)));
}

/* Of this thread's pixel. (No thread has several: in a loop over them, so many constants stay in registers that AMD's
 * compiler spills.) */
template <class T>
VMAFX_DEVICE int64_t difference_of_thread(const CiedeWork& work) {
  const gpu::Dim3 block = gpu::block_id(), thread = gpu::thread_id();
  const int x = static_cast<int>(block.x * kCiedeTileColumns + thread.x);
  const int y = static_cast<int>(block.y * kCiedeTileRows + thread.y);
  const int frame = static_cast<int>(block.z), r = hip::ref_index(frame);
  const hip::BatchPlanes* const planes = work.planes;
  if (x >= work.params.w || y >= work.params.h) return 0;
  const CiedeSite site = ciede_chroma_site(work.params, x, y);
  const CiedeLab ref = lab_at<T>(work, planes[0].ref[r], planes[1].ref[r], planes[2].ref[r], x, y, site);
  const CiedeLab dist =
      lab_at<T>(work, planes[0].dist[frame], planes[1].dist[frame], planes[2].dist[frame], x, y, site);
  return to_fixed<kCiedeSumBits>(ciede_difference(ref, dist));
}

VMAFX_DEFINE_SAMPLE_KERNELS(ciede, T, work) {
  gpu::add_block(work.sums[gpu::block_id().z].difference, difference_of_thread<T>(work));
}

/* A tile's columns left and right of its middle are in a block each. */
VMAFX_DEFINE_SAMPLE_KERNELS(ciede_maps, T, work) {
  const gpu::Dim3 block = gpu::block_id();
  const int64_t difference = difference_of_thread<T>(work);
  const bool is_left = gpu::thread_id().x < kCiedeBlockSide;
  const int64_t left = gpu::block_add(is_left ? difference : 0), right = gpu::block_add(is_left ? 0 : difference);
  if (gpu::thread_rank()) return;
  gpu::atomic_add(reinterpret_cast<uint64_t*>(&work.sums[block.z].difference), static_cast<uint64_t>(left + right));
  const int column = static_cast<int>(2 * block.x), row = static_cast<int>(block.y * kCiedeTileRows / kCiedeBlockSide);
  auto* const words = reinterpret_cast<uint64_t*>(&work.blocks[block.z]) + row * work.across + column;
  gpu::atomic_add(words, static_cast<uint64_t>(left));
  if (column + 1 < work.across) gpu::atomic_add(words + 1, static_cast<uint64_t>(right));
}

}  // namespace vmafx::ciede
