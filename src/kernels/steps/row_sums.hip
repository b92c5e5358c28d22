/* The kernels of row_sums_hip.h. */
#include "kernels/gpu/gpu.h"
#include "kernels/steps/row_sums.h"
#include "kernels/steps/row_sums_work.h"

namespace vmafx::row_sums {

using namespace gpu;

/* Columns that a block has in shared memory at a time: while it adds them up, the next ones are on their way. */
inline constexpr int kColumns = 256, kPackSize = 4, kPacks = kColumns / kPackSize;
inline constexpr int kLoads = kRowsPerBlock * kPacks / kRowSumsThreads;  // loads per thread
using Pack4 = Pack<float, kPackSize>;

/* One pack more than the columns: the lanes of a wave, a row each, read from different banks. */
using Tile = Pack4[kRowsPerBlock][kPacks + 1];

VMAFX_DEVICE void load_tile(const AddRowsWork& work, int first_row, int x, Pack4 (&to)[kLoads]) {
  const int thread = static_cast<int>(thread_id().x), column = x + thread % kPacks * kPackSize;
  VMAFX_UNROLL
  for (int i = 0; i < kLoads; i++) {
    const int row = first_row + thread / kPacks + i * (kRowSumsThreads / kPacks);
    if (row < work.rows && column < work.values.n)
      to[i] = load_pack<kPackSize>(work.values.first.get() + static_cast<int64_t>(row) * work.values.pitch + column);
  }
}

VMAFX_DEVICE void store_tile(const Pack4 (&from)[kLoads], Tile& tile) {
  const int thread = static_cast<int>(thread_id().x);
  VMAFX_UNROLL
  for (int i = 0; i < kLoads; i++) tile[thread / kPacks + i * (kRowSumsThreads / kPacks)][thread % kPacks] = from[i];
}

/* The loads need not wait for the additions: kSome packs at a time are in registers. */
VMAFX_DEVICE float add_up(const Pack4* packs, int n, float sum) {
  constexpr int kSome = 16;
  for (; n >= kSome * kPackSize; n -= kSome * kPackSize, packs += kSome) {
    Pack4 some[kSome];
    VMAFX_UNROLL
    for (int i = 0; i < kSome; i++) some[i] = packs[i];
    VMAFX_UNROLL
    for (int i = 0; i < kSome * kPackSize; i++) sum += some[i / kPackSize].v[i % kPackSize];
  }
  for (int i = 0; i < n; i++) sum += packs[i / kPackSize].v[i % kPackSize];
  return sum;
}

VMAFX_DEFINE_KERNEL(add_rows, work) {
  VMAFX_SHARED(Tile, tiles, [1]);
  const int thread = static_cast<int>(thread_id().x), first_row = static_cast<int>(block_id().x) * kRowsPerBlock;
  Pack4 packs[kLoads] = {};
  float sum = 0;
  load_tile(work, first_row, 0, packs);
  for (int x = 0; x < work.values.n; x += kColumns) {
    store_tile(packs, tiles[0]);
    block_sync();
    load_tile(work, first_row, x + kColumns, packs);
    const int left = work.values.n - x;
    if (thread < kRowsPerBlock) sum = add_up(tiles[0][thread], left < kColumns ? left : kColumns, sum);
    block_sync();
  }
  if (thread < kRowsPerBlock && first_row + thread < work.rows) work.sums[first_row + thread] = sum;
}

/* The sums of a plane's rows, by one thread. */
VMAFX_DEVICE void add_plane(const float* rows, int h, uint64_t* word) {
  VMAFX_SHARED(Pack4, packs, [kRowSumsThreads / kPackSize]);
  const int thread = static_cast<int>(thread_id().x);
  float sum = 0, next = thread < h ? rows[thread] : 0;
  for (int y = 0; y < h; y += kRowSumsThreads) {
    packs[thread / kPackSize].v[thread % kPackSize] = next;
    block_sync();
    const int left = h - y, ahead = y + kRowSumsThreads + thread;
    if (ahead < h) next = rows[ahead];
    if (thread == 0) sum = add_up(packs, left < kRowSumsThreads ? left : kRowSumsThreads, sum);
    block_sync();
  }
  if (thread == 0) *word = word_of_sum(sum);
}

VMAFX_DEFINE_KERNEL(add_row_sums, work) {
  const int frame = static_cast<int>(block_id().y);
  int plane = static_cast<int>(block_id().x), part = 0;
  while (plane >= work.part[part].planes) plane -= work.part[part++].planes;
  const RowSumsPart& of = work.part[part];
  const float* rows = of.rows.get() + (static_cast<int64_t>(frame) * of.planes + plane) * of.h;
  add_plane(rows, of.h, reinterpret_cast<uint64_t*>(&work.sums[block_id().y] + of.offset) + plane);
}

}  // namespace vmafx::row_sums
