/* The SIMD twin of psnr_hvs: one source for every instruction set, equal to psnr_hvs_ref.cpp to the last bit.
 *
 * A lane is a block, so that transforms need no shuffles and sums no reductions. Columns of neighbouring blocks lie
 * seven samples apart: rows are first dealt out to seven arrays, sample x to the array x mod 7. */
#include "kernels/psnr_hvs/psnr_hvs.h"

#include <utility>

#include "base/aligned.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/psnr_hvs/psnr_hvs_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/psnr_hvs/psnr_hvs_math-inl.h"

#ifndef VMAFX_KERNELS_PSNR_HVS_ROWS
#define VMAFX_KERNELS_PSNR_HVS_ROWS
namespace vmafx {

/* Samples in an array of a row: a block each, one more, and what a vector may read past them. */
inline size_t psnr_hvs_array_samples(int w) {
  constexpr size_t kMostLanes = 64;
  return round_up(psnr_hvs_blocks(w) + 1 + kMostLanes, kMostLanes);
}

/* The arrays of the eight rows that a row of blocks covers, in scratch. */
template <class T>
struct PsnrHvsRows {
  T* row[8];
  size_t array;  // samples

  const T* column(int i, int j) const { return row[i] + j % kPsnrHvsStep * array + j / kPsnrHvsStep; }

  void deal(int i, const T* samples, int blocks) {
    T* const out = row[i];
    for (int b = 0; b < blocks; b++)
      for (int k = 0; k < kPsnrHvsStep; k++) out[k * array + b] = samples[b * kPsnrHvsStep + k];
    out[blocks] = samples[blocks * kPsnrHvsStep];
  }
};

}  // namespace vmafx
#endif

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

/* Blocks of one picture, a lane each. */
struct Blocks {
  Integer rows[8][8];  // of coefficients
  Real texture, energy;
};

template <class T>
HWY_INLINE Integer samples(const T* from) {
  return hn::PromoteTo(DI(), hn::LoadU(hn::Rebind<T, DI>(), from));
}

/* The sums over half a column. */
HWY_INLINE void add_moments(const Integer* column, Integer middle, PsnrHvsMoments& quarter) {
  for (int i = 0; i < 4; i++) {
    const Integer off = column[i] - middle;
    quarter.sum = quarter.sum + off;
    quarter.squares = quarter.squares + off * off;
  }
}

template <class T>
void transform(const PsnrHvsRows<T>& from, int first, int middle, const PsnrHvsWeights (&weights)[8], Blocks& out) {
  const Integer zero(0), half_range(middle);
  PsnrHvsMoments quarters[4] = {{zero, zero}, {zero, zero}, {zero, zero}, {zero, zero}};
  for (int j = 0; j < 8; j++) {
    Integer column[8];
    for (int i = 0; i < 8; i++) column[i] = samples(from.column(i, j) + first);
    add_moments(column, half_range, quarters[j / 4]);
    add_moments(column + 4, half_range, quarters[2 + j / 4]);
    psnr_hvs_dct(column);
    for (int i = 0; i < 8; i++) out.rows[i][j] = column[i];
  }
  Real energies[8];
  for (int i = 0; i < 8; i++) {
    psnr_hvs_dct(out.rows[i]);
    energies[i] = psnr_hvs_energy(out.rows[i], weights[i]);
  }
  out.texture = psnr_hvs_texture(quarters);
  out.energy = psnr_hvs_sum(energies);
}

HWY_INLINE PsnrHvsErrors errors(const Blocks& ref, const Blocks& dist, const PsnrHvsWeights (&weights)[8],
                                Real above) {
  const Real mask = psnr_hvs_mask(ref.energy, ref.texture, dist.energy, dist.texture);
  Real exact[8], counted[8];
  for (int i = 0; i < 8; i++) {
    const PsnrHvsErrors row = psnr_hvs_errors(ref.rows[i], dist.rows[i], weights[i], mask, above);
    exact[i] = row.exact;
    counted[i] = row.counted;
  }
  return {psnr_hvs_sum(exact), psnr_hvs_sum(counted)};
}

struct RowSums {
  PsnrHvsSum exact, counted;
};

/* Of a row of `across` blocks. */
template <class T>
RowSums row_sums(const PsnrHvsRows<T> (&rows)[2], int across, int middle, const PsnrHvsWeights (&weights)[8],
                 float above) {
  const int lanes = static_cast<int>(hn::Lanes(DF()));
  FixedSum2<kPsnrHvsSumBits> exact, counted;
  Blocks ref, dist;
  for (int b = 0; b < across; b += lanes) {
    transform(rows[0], b, middle, weights, ref);
    transform(rows[1], b, middle, weights, dist);
    const PsnrHvsErrors sums = errors(ref, dist, weights, Real(above));
    const auto blocks = hn::FirstN(DF(), across - b);
    exact.add(Real(hn::IfThenElseZero(blocks, sums.exact.v)));
    counted.add(Real(hn::IfThenElseZero(blocks, sums.counted.v)));
  }
  return {exact.total(), counted.total()};
}

template <class T>
PsnrHvsSum plane_sum(int p, const Plane<const T>& ref, const Plane<const T>& dist, int middle, std::byte* scratch) {
  const int across = psnr_hvs_blocks(ref.w);
  PsnrHvsWeights weights[8];
  for (int i = 0; i < 8; i++) weights[i] = psnr_hvs_weights(p, i);
  PsnrHvsRows<T> rows[2];
  T* next = reinterpret_cast<T*>(scratch);
  for (PsnrHvsRows<T>& of_picture : rows) {
    of_picture.array = psnr_hvs_array_samples(ref.w);
    for (T*& row : of_picture.row) row = next, next += kPsnrHvsStep * of_picture.array;
  }

  RowSums sums;
  for (int y = 0; y + kPsnrHvsBlock <= ref.h; y += kPsnrHvsStep) {
    for (PsnrHvsRows<T>& of_picture : rows) std::swap(of_picture.row[0], of_picture.row[7]); /* which two share */
    for (int i = y == 0 ? 0 : 1; i < kPsnrHvsBlock; i++) {
      rows[0].deal(i, ref.row(y + i), across);
      rows[1].deal(i, dist.row(y + i), across);
    }
    const RowSums row = row_sums(rows, across, middle, weights, static_cast<float>(sums.exact.value()));
    sums.exact += row.exact;
    sums.counted += row.counted;
  }
  return sums.counted;
}

PsnrHvsSum psnr_hvs(int plane, const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte* scratch) {
  const int middle = 1 << (bpc - 1);
  return bpc == 8 ? plane_sum(plane, ref.as<uint8_t>(), dist.as<uint8_t>(), middle, scratch)
                  : plane_sum(plane, ref.as<uint16_t>(), dist.as<uint16_t>(), middle, scratch);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(psnr_hvs);

PsnrHvsSum psnr_hvs_simd(int plane, const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte* scratch) {
  return HWY_DYNAMIC_DISPATCH(psnr_hvs)(plane, ref, dist, bpc, scratch);
}

size_t psnr_hvs_scratch_bytes(int w) { return 2 * 8 * kPsnrHvsStep * psnr_hvs_array_samples(w) * sizeof(uint16_t); }

}  // namespace vmafx
#endif
