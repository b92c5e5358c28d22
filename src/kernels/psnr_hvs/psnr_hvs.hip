/* The kernels of psnr_hvs: first the squared errors and their exact sums of all rows of blocks, then, knowing the rows
 * above, what of the squares counts. Each works on all planes of a batch in one launch. Grid: rows, 1, frames. */
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

/* The squared errors of a row of coefficients. */
struct Squares {
  gpu::Pack<float, 4> half[2];

  VMAFX_DEVICE float& at(int j) { return half[j / 4].v[j % 4]; }
  VMAFX_DEVICE void load(const float* from) {
    half[0] = gpu::load_pack<4>(from);
    half[1] = gpu::load_pack<4>(from + 4);
  }
  VMAFX_DEVICE void store(float* to) const {
    gpu::store_pack(to, half[0]);
    gpu::store_pack(to + 4, half[1]);
  }
};

struct Row {
  int32_t coefficients[8];
  float energy, texture;  // the whole block's
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

/* The squared errors of the thread's row of coefficients, in the block at (x, y) by the thread's column. */
template <class T>
VMAFX_DEVICE Squares squares_of(const hip::DevicePlane& ref, const hip::DevicePlane& dist, int x, int y, int32_t middle,
                                const PsnrHvsWeights& weights) {
  const int64_t at = static_cast<int64_t>(x * sizeof(T));
  const Row r = transformed<T>(ref.data + y * ref.stride + at, ref.stride, middle, weights);
  const Row d = transformed<T>(dist.data + y * dist.stride + at, dist.stride, middle, weights);
  const float mask = psnr_hvs_mask(r.energy, r.texture, d.energy, d.texture);
  Squares squares;
  VMAFX_UNROLL
  for (int j = 0; j < 8; j++) squares.at(j) = psnr_hvs_square(r.coefficients[j], d.coefficients[j], weights, j, mask);
  return squares;
}

/* The row that this block of threads has. */
struct Place {
  unsigned plane, row;  // row of the plane
  int blocks;           // blocks of samples in the row
  PsnrHvsSum* exact;    // the exact sums of the plane's rows
  float* squares;       // the row's squares, from this thread's in its first block of samples on

  VMAFX_DEVICE float* squares_of(int block) const { return squares + block * kPsnrHvsSquares; }
};

VMAFX_DEVICE Place place_of(const PsnrHvsWork& work) {
  const unsigned number = gpu::block_id().x;
  const uint64_t frame = gpu::block_id().z;
  const unsigned plane = (number >= work.rows[1].first) + (number >= work.rows[2].first);
  const PsnrHvsRowsOfPlane& rows = work.rows[plane];
  const unsigned row = number - rows.first;
  const uint64_t block = frame * work.blocks + rows.first_block + uint64_t{row} * static_cast<unsigned>(rows.blocks_x);
  return {plane, row, rows.blocks_x, work.exact + frame * gpu::grid_size().x + rows.first,
          work.squares + block * kPsnrHvsSquares + gpu::thread_rank() % 8 * kPsnrHvsBlock};
}

/* The sum over the row, in parts, of what error_of(block, is_there) gives in each thread of a block of samples; who has
 * none does the last one again. The threads that begin a block have its part, and give it to `take`, too. */
template <class Errors, class Take>
VMAFX_DEVICE PsnrHvsSum row_part(const Place& place, Errors error_of, Take take) {
  const bool begins = gpu::thread_rank() % 8 == 0;
  PsnrHvsSum sum;
  VMAFX_ROLLED
  for (int first = 0; first < place.blocks; first += static_cast<int>(kPsnrHvsAtATime)) {
    const int block = first + static_cast<int>(gpu::thread_rank() / 8);
    const bool is_there = block < place.blocks;
    const float error = sum_of_lanes(error_of(is_there ? block : place.blocks - 1, is_there));
    sum += begins && is_there ? error : 0.f;
    if (begins && is_there) take(block, error);
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
  const int frame = static_cast<int>(gpu::block_id().z), k = static_cast<int>(gpu::thread_rank() % 8);
  const hip::DevicePlane& ref = work.planes[place.plane].ref[hip::ref_index(frame)];
  const hip::DevicePlane& dist = work.planes[place.plane].dist[frame];
  const PsnrHvsWeights weights = psnr_hvs_weights(static_cast<int>(place.plane), k);
  const int y = static_cast<int>(place.row) * kPsnrHvsStep;
  const PsnrHvsSum part = row_part(
      place,
      [&](int block, bool is_there) {
        Squares squares = squares_of<T>(ref, dist, block * kPsnrHvsStep + k, y, work.middle, weights);
        if (is_there) squares.store(place.squares_of(block));
        float sum = 0;
        VMAFX_UNROLL
        for (int j = 0; j < 8; j++) sum += squares.at(j);
        return sum;
      },
      [](int, float) {});
  const PsnrHvsSum exact = block_sum(part);
  if (gpu::thread_rank() == 0) place.exact[place.row] = exact;
}

/* take(place, block, error): of what counts of each block. */
template <class Take>
VMAFX_DEVICE void add_counted(const PsnrHvsWork& work, Take take) {
  const Place place = place_of(work);
  PsnrHvsSum exact;
  for (unsigned row = gpu::thread_rank(); row < place.row; row += kPsnrHvsThreads) exact += place.exact[row];
  const float above = static_cast<float>(block_sum(exact).value());
  const PsnrHvsSum part = row_part(
      place,
      [&](int block, bool) {
        Squares squares;
        squares.load(place.squares_of(block));
        float sum = 0;
        VMAFX_UNROLL
        for (int j = 0; j < 8; j++) sum += psnr_hvs_counted(squares.at(j), above);
        return sum;
      },
      [&](int block, float error) { take(place, block, error); });
  gpu::add_block(work.sums[gpu::block_id().z].error[place.plane], part);
}

VMAFX_DEFINE_KERNEL(psnr_hvs_sums, work) {
  add_counted(work, [](const Place&, int, float) {});
}

VMAFX_DEFINE_KERNEL(psnr_hvs_map_sums, work) {
  add_counted(work, [&](const Place& place, int block, float error) {
    const int row = static_cast<int>(place.row) / kPsnrHvsMapSide, column = block / kPsnrHvsMapSide;
    PsnrHvsSum* const to =
        &work.map[gpu::block_id().z] + work.first_of_plane[place.plane] + row * work.across[place.plane] + column;
    PsnrHvsSum sum;
    sum += error;
    gpu::atomic_add(reinterpret_cast<uint64_t*>(&to->coarse), static_cast<uint64_t>(sum.coarse));
    gpu::atomic_add(reinterpret_cast<uint64_t*>(&to->fine), static_cast<uint64_t>(sum.fine));
  });
}

}  // namespace vmafx::psnr_hvs
