/* The kernels of psnr_hvs: first the exact sums of all rows of blocks, then, knowing the rows above, what counts. Each
 * works on all planes of a batch in one launch. Grid: rows, 1, frames. */
#include "kernels/arithmetic/fixed.h"
#include "kernels/gpu/gpu.h"
#include "kernels/psnr_hvs/psnr_hvs_math-inl.h"
#include "kernels/psnr_hvs/psnr_hvs_work.h"

namespace vmafx::psnr_hvs {

/* Eight neighboring lanes have a row each of an 8x8 matrix, and then a column. */
VMAFX_DEVICE void transpose(int32_t (&v)[8]) {
  const unsigned lane = gpu::lane_id();
  VMAFX_UNROLL
  for (unsigned mask = 1; mask < 8; mask *= 2) {
    const bool upper = lane & mask;
    VMAFX_UNROLL
    for (unsigned k = 0; k < 8; k++) {
      if (k & mask) continue; /* the upper right quarter changes places with the lower left one */
      const uint32_t given = static_cast<uint32_t>(upper ? v[k] : v[k | mask]);
      const int32_t taken = static_cast<int32_t>(gpu::shuffle_xor(given, mask));
      v[k] = upper ? taken : v[k];
      v[k | mask] = upper ? v[k | mask] : taken;
    }
  }
}

VMAFX_DEVICE int32_t other(int32_t v, unsigned mask) {
  return static_cast<int32_t>(gpu::shuffle_xor(static_cast<uint32_t>(v), mask));
}

/* psnr_hvs_sum() of the values of eight lanes, in each of them. */
VMAFX_DEVICE float sum_of_lanes(float v) {
  VMAFX_UNROLL
  for (unsigned mask = 1; mask < 8; mask *= 2) v += from_bits(other(bits(v), mask));
  return v;
}

/* The moments of the quarters of a block, from those of the halves of columns. */
VMAFX_DEVICE float texture(const PsnrHvsMoments (&halves)[2]) {
  const bool right = gpu::lane_id() & 4;
  PsnrHvsMoments quarters[4];
  VMAFX_UNROLL
  for (int i = 0; i < 2; i++) {
    PsnrHvsMoments mine = halves[i];
    VMAFX_UNROLL
    for (unsigned mask = 1; mask < 4; mask *= 2) {
      mine.sum += other(mine.sum, mask);
      mine.squares += other(mine.squares, mask);
    }
    const PsnrHvsMoments theirs = {other(mine.sum, 4), other(mine.squares, 4)};
    quarters[2 * i] = right ? theirs : mine;
    quarters[2 * i + 1] = right ? mine : theirs;
  }
  return psnr_hvs_texture(quarters);
}

struct Row {
  int32_t coefficients[8];
  float energy, texture;  // of the whole block
};

/* The coefficients of the thread's vertical frequency, from the column of samples at `from`. */
template <class T>
VMAFX_DEVICE Row transformed(const uint8_t* from, int64_t stride, int32_t middle, const PsnrHvsWeights& weights) {
  Row row;
  PsnrHvsMoments halves[2] = {};
  VMAFX_UNROLL
  for (int i = 0; i < 8; i++) {
    const int32_t sample = *reinterpret_cast<const T*>(from + i * stride), off = sample - middle;
    halves[i / 4].sum += off;
    halves[i / 4].squares += off * off;
    row.coefficients[i] = sample;
  }
  psnr_hvs_dct(row.coefficients);
  transpose(row.coefficients);
  psnr_hvs_dct(row.coefficients);
  row.energy = sum_of_lanes(psnr_hvs_energy(row.coefficients, weights));
  row.texture = texture(halves);
  return row;
}

/* The errors of the block at (x, y) by the thread's column, in all of its threads. */
template <class T>
VMAFX_DEVICE PsnrHvsErrors block_errors(const hip::DevicePlane& ref, const hip::DevicePlane& dist, int x, int y,
                                        int32_t middle, const PsnrHvsWeights& weights, float above) {
  const int64_t at = static_cast<int64_t>(x * sizeof(T));
  const Row r = transformed<T>(ref.data + y * ref.stride + at, ref.stride, middle, weights);
  const Row d = transformed<T>(dist.data + y * dist.stride + at, dist.stride, middle, weights);
  const float mask = psnr_hvs_mask(r.energy, r.texture, d.energy, d.texture);
  const PsnrHvsErrors errors = psnr_hvs_errors(r.coefficients, d.coefficients, weights, mask, above);
  return {sum_of_lanes(errors.exact), sum_of_lanes(errors.counted)};
}

/* The row that this block of threads has, and its part of the sums. */
struct Place {
  unsigned plane, row;  // row of the plane
  PsnrHvsSum* exact;    // the exact sums of the plane's rows
};

VMAFX_DEVICE Place place_of(const PsnrHvsWork& work) {
  const unsigned number = gpu::block_id().x, frame = gpu::block_id().z;
  const unsigned plane = (number >= work.rows[1].first) + (number >= work.rows[2].first);
  const unsigned first = work.rows[plane].first;
  return {plane, number - first, work.exact + static_cast<uint64_t>(frame) * gpu::grid_size().x + first};
}

/* The sum over the row, in parts: the threads that begin a block of samples have it. */
template <class T, bool exact>
VMAFX_DEVICE PsnrHvsSum row_part(const PsnrHvsWork& work, const Place& place, float above) {
  const int frame = static_cast<int>(gpu::block_id().z);
  const int k = static_cast<int>(gpu::thread_rank() % 8), blocks = work.rows[place.plane].blocks_x;
  const hip::DevicePlane& ref = work.planes[place.plane].ref[hip::ref_index(frame)];
  const hip::DevicePlane& dist = work.planes[place.plane].dist[frame];
  const PsnrHvsWeights weights = psnr_hvs_weights(static_cast<int>(place.plane), k);
  const int y = static_cast<int>(place.row) * kPsnrHvsStep;
  PsnrHvsSum sum;
  VMAFX_ROLLED
  for (int first = 0; first < blocks; first += static_cast<int>(kPsnrHvsAtATime)) {
    const int block = first + static_cast<int>(gpu::thread_rank() / 8);
    const int x = (block < blocks ? block : blocks - 1) * kPsnrHvsStep + k; /* who has none does the last one again */
    const PsnrHvsErrors errors = block_errors<T>(ref, dist, x, y, work.middle, weights, above);
    const float error = exact ? errors.exact : errors.counted;
    sum += k == 0 && block < blocks ? error : 0.f;
  }
  return sum;
}

/* The sum over the block, in every thread. */
VMAFX_DEVICE PsnrHvsSum block_sum(const PsnrHvsSum& part) {
  const int64_t coarse = gpu::block_add(part.coarse);
  return {coarse, gpu::block_add(part.fine)};
}

VMAFX_DEFINE_SAMPLE_KERNELS(psnr_hvs_rows, T, work) {
  const Place place = place_of(work);
  const PsnrHvsSum exact = block_sum(row_part<T, true>(work, place, 0));
  if (gpu::thread_rank() == 0) place.exact[place.row] = exact;
}

VMAFX_DEFINE_SAMPLE_KERNELS(psnr_hvs_sums, T, work) {
  const Place place = place_of(work);
  PsnrHvsSum above;
  for (unsigned row = gpu::thread_rank(); row < place.row; row += kPsnrHvsThreads) above += place.exact[row];
  above = block_sum(above);
  const PsnrHvsSum part = row_part<T, false>(work, place, static_cast<float>(above.value()));
  gpu::add_block(work.sums[gpu::block_id().z].error[place.plane], part);
}

}  // namespace vmafx::psnr_hvs
