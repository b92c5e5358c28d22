/* Kernels for the tests of the emulator: some that are right in every way the language allows, and one for each way to
 * be wrong. */
#include "kernels/gpu/gpu.h"

namespace vmafx {
namespace {

using namespace gpu;

VMAFX_CONSTANT int32_t kTaps[5] = {1, 4, 6, 4, 1};

struct Picture {
  const uint8_t* data;
  int stride, w, h;
};

struct BlurSums {
  int64_t sum, squares;
};

VMAFX_DEVICE int clamp(int i, int size) { return i < 0 ? 0 : i < size ? i : size - 1; }

}  // namespace

/* A separable filter through shared memory, written out, its sum and sum of squares added up: blocks of 32 x 8. */
VMAFX_KERNEL(test_blur, 256, (Picture in, uint16_t* out, BlurSums* sums)) {
  constexpr int kW = 32, kH = 8, kRadius = 2;
  VMAFX_SHARED(uint8_t, tile, [kH + 2 * kRadius][kW + 2 * kRadius]);
  VMAFX_SHARED(uint16_t, columns, [kH][kW + 2 * kRadius]);
  const int tx = thread_id().x, ty = thread_id().y, left = block_id().x * kW, top = block_id().y * kH;
  for (int y = ty; y < kH + 2 * kRadius; y += kH)
    for (int x = tx; x < kW + 2 * kRadius; x += kW)
      tile[y][x] = in.data[clamp(top + y - kRadius, in.h) * in.stride + clamp(left + x - kRadius, in.w)];
  block_sync();
  for (int x = tx; x < kW + 2 * kRadius; x += kW) {
    int sum = 0;
    VMAFX_UNROLL
    for (int k = 0; k < 5; k++) sum += kTaps[k] * tile[ty + k][x];
    columns[ty][x] = static_cast<uint16_t>(sum);
  }
  block_sync();
  BlurSums values = {};
  if (left + tx < in.w && top + ty < in.h) {
    int sum = 0;
    VMAFX_UNROLL
    for (int k = 0; k < 5; k++) sum += kTaps[k] * columns[ty][tx + k];
    out[(top + ty) * in.w + left + tx] = static_cast<uint16_t>(sum);
    values.sum = sum;
    values.squares = int64_t{sum} * sum;
  }
  add_block(*sums, values);
}

/* No barrier, no shared memory: four samples at once. */
VMAFX_KERNEL(test_add, 256, (const uint16_t* a, const uint16_t* b, uint16_t* out, int n)) {
  const int i = (block_id().x * block_size().x + thread_id().x) * 4;
  if (i >= n) return;
  const auto x = load_pack<4>(a + i), y = load_pack<4>(b + i);
  Pack<uint16_t, 4> sum;
  VMAFX_UNROLL
  for (int k = 0; k < 4; k++) sum.v[k] = static_cast<uint16_t>(x.v[k] + y.v[k]);
  store_pack(out + i, sum);
}

struct Args {
  const int32_t* in;
  int32_t* out;
  int offset;
};

VMAFX_KERNEL(test_copy, 64, (Args a)) { a.out[thread_id().x] = a.in[static_cast<int>(thread_id().x) + a.offset]; }

VMAFX_KERNEL(test_copy_pointers, 64, (const int32_t* in, int32_t* out)) { out[thread_id().x] = in[thread_id().x]; }

VMAFX_KERNEL(test_table, 64, (int32_t* out, int taps)) {
  int sum = 0;
  for (int k = 0; k < taps; k++) sum += kTaps[k];
  out[thread_id().x] = sum;
}

VMAFX_KERNEL(test_misaligned, 64, (const uint8_t* in, uint8_t* out)) {
  store_pack(out + thread_id().x * 8, load_pack<8>(in + 1 + thread_id().x * 8));
}

/* Each thread takes its neighbor's value. */
VMAFX_KERNEL(test_missing_barrier, 64, (int32_t* out)) {
  VMAFX_SHARED(int32_t, row, [64]);
  const int i = thread_id().x;
  row[i] = i;
  out[i] = row[i ^ 1];
}

VMAFX_KERNEL(test_overwritten_too_early, 64, (int32_t* out)) {
  VMAFX_SHARED(int32_t, row, [64]);
  const int i = thread_id().x;
  row[i] = i;
  block_sync();
  const int next = row[(i + 1) & 63];
  row[i] = 0;
  block_sync();
  out[i] = next + row[i ^ 1];  // or the compiler would leave the store out
}

VMAFX_KERNEL(test_barrier_in_branch, 64, (int32_t* out)) {
  if (thread_id().x < 40) block_sync();
  out[thread_id().x] = 0;
}

VMAFX_KERNEL(test_shuffle_in_branch, 64, (uint32_t* out)) {
  if (thread_id().x & 1) out[thread_id().x] = shuffle_xor(thread_id().x, 2);
}

VMAFX_KERNEL(test_unwritten_shared, 64, (int32_t* out)) {
  VMAFX_SHARED(int32_t, row, [64]);
  if (thread_id().x < 60) row[thread_id().x] = 1;
  block_sync();
  out[thread_id().x] = row[thread_id().x];
}

VMAFX_KERNEL(test_past_shared, 64, (int32_t* out)) {
  VMAFX_SHARED(int32_t, row, [64]);
  row[thread_id().x + 1] = 1;
  block_sync();
  out[thread_id().x] = row[thread_id().x + 1];
}

VMAFX_KERNEL(test_too_much_shared, 64, (int32_t* out)) {
  VMAFX_SHARED(int32_t, rows, [13][1024]);
  rows[0][thread_id().x] = 1;
  out[thread_id().x] = rows[0][thread_id().x];
}

/* The sum over a block, as if a wave had 32 lanes. */
VMAFX_KERNEL(test_32_lanes, 256, (const int32_t* in, uint64_t* sum)) {
  VMAFX_SHARED(int64_t, parts, [8]);
  const unsigned i = thread_id().x;
  if (i < 8) parts[i] = 0;
  block_sync();
  uint64_t value = in[i];
  for (unsigned mask = 16; mask > 0; mask /= 2) value += shuffle_xor(value, mask);
  if (lane_id() == 0) parts[i / 32] = value;
  block_sync();
  if (i > 0) return;
  for (unsigned w = 0; w < 8; w++) atomic_add(sum, parts[w]);
}

VMAFX_KERNEL(test_sum, 256, (const int32_t* in, uint64_t* sum)) {
  add_block(*sum, static_cast<uint64_t>(in[thread_id().x]));
}

/* Waves of a block exchange numbers through device memory. */
VMAFX_KERNEL(test_exchange, 256, (int32_t* out)) {
  const int i = thread_id().x;
  out[i] = i;
  block_sync();
  const int other = out[i ^ 128];
  block_sync();
  out[i] = other;
}

/* Each block takes what the one before it left. */
VMAFX_KERNEL(test_blocks_in_order, 64, (int32_t* out)) {
  const int block = block_id().x;
  if (thread_id().x == 0) out[block] = block == 0 ? 1 : out[block - 1] + 1;
}

VMAFX_KERNEL(test_sum_without_atomic, 64, (uint64_t* sum)) {
  if (thread_id().x == 0) *sum = block_id().x;
}

}  // namespace vmafx
