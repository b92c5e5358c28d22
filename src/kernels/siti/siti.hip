/* The kernels of siti: the lumas of a batch in one launch. Grid: tiles in x and y, frames times 2 (ref, dist). */
#include "kernels/gpu/gpu.h"
#include "kernels/siti/siti_work.h"

namespace vmafx::siti {

/* The column of a tile: rows top to end-1 of the picture. */
struct Column {
  int x, top, end;
};

template <class T>
VMAFX_DEVICE void add_gradients(const hip::DevicePlane& plane, const Column& column, const SitiWork& work, int bpc,
                                SitiSums& sums) {
  if (column.x < 1 || column.x >= work.w - 1) return;
  for (int y = column.top; y < column.end; y++) {
    if (y < 1 || y >= work.h - 1) continue;
    const SitiGradient gradient = siti_gradient(row_of<T>(plane, y - 1) + column.x, row_of<T>(plane, y) + column.x,
                                                row_of<T>(plane, y + 1) + column.x);
    sums.gradients += siti_magnitude(gradient, bpc);
    sums.gradient_squares += siti_square(gradient);
  }
}

template <class T>
VMAFX_DEVICE void add_changes(const hip::DevicePlane& now, const hip::DevicePlane& before, const Column& column,
                              SitiSums& sums) {
  for (int y = column.top; y < column.end; y++) {
    const int32_t change = static_cast<int32_t>(row_of<T>(now, y)[column.x]) - row_of<T>(before, y)[column.x];
    sums.changes += change;
    sums.change_squares += static_cast<uint64_t>(static_cast<int64_t>(change) * change);
  }
}

VMAFX_DEFINE_SAMPLE_KERNELS(siti, T, work) {
  const gpu::Dim3 block = gpu::block_id();
  const int frame = static_cast<int>(block.z / 2);
  const bool is_dist = block.z % 2;
  const hip::DevicePlane& now = is_dist ? work.luma.dist[frame] : work.luma.ref[hip::ref_index(frame)];
  const hip::DevicePlane& before =
      is_dist ? hip::dist_plane(work.luma, frame, 1) : work.luma.ref[hip::ref_index(frame, 1)];
  const int bpc = sizeof(T) == 1 ? 8 : work.bpc;
  const int top = static_cast<int>(block.y * kSitiRows), bottom = top + static_cast<int>(kSitiRows);
  const Column column = {static_cast<int>(block.x * kSitiColumns + gpu::thread_id().x), top,
                         bottom < work.h ? bottom : work.h};
  SitiSums sums = {};
  if (column.x < work.w) {
    add_gradients<T>(now, column, work, bpc, sums);
    if (before.data.get()) add_changes<T>(now, before, column, sums);
  }
  SitiPair& of_frame = work.sums[static_cast<unsigned>(frame)];
  gpu::add_block(is_dist ? of_frame.dist : of_frame.ref, sums);
}

}  // namespace vmafx::siti
