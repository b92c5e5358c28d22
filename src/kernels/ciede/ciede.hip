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

/* (No thread has several pixels: in a loop over them, so many constants stay in registers that AMD's compiler
 * spills.) */
VMAFX_DEFINE_SAMPLE_KERNELS(ciede, T, work) {
  const gpu::Dim3 block = gpu::block_id(), thread = gpu::thread_id();
  const int x = static_cast<int>(block.x * kCiedeTileColumns + thread.x);
  const int y = static_cast<int>(block.y * kCiedeTileRows + thread.y);
  const int frame = static_cast<int>(block.z), r = hip::ref_index(frame);
  const hip::BatchPlanes* const planes = work.planes;
  int64_t difference = 0;
  if (x < work.params.w && y < work.params.h) {
    const CiedeSite site = ciede_chroma_site(work.params, x, y);
    const CiedeLab ref = lab_at<T>(work, planes[0].ref[r], planes[1].ref[r], planes[2].ref[r], x, y, site);
    const CiedeLab dist =
        lab_at<T>(work, planes[0].dist[frame], planes[1].dist[frame], planes[2].dist[frame], x, y, site);
    difference = to_fixed<kCiedeSumBits>(ciede_difference(ref, dist));
  }
  gpu::add_block(work.sums[frame].difference, difference);
}

}  // namespace vmafx::ciede
