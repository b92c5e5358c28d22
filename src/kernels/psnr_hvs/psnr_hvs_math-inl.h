/* The arithmetic of psnr_hvs. */
#if defined(VMAFX_KERNELS_PSNR_HVS_PSNR_HVS_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_PSNR_HVS_PSNR_HVS_MATH_INL_H
#undef VMAFX_KERNELS_PSNR_HVS_PSNR_HVS_MATH_INL_H
#else
#define VMAFX_KERNELS_PSNR_HVS_PSNR_HVS_MATH_INL_H
#endif

#include "kernels/arithmetic/twin-inl.h"
#include "kernels/psnr_hvs/psnr_hvs_math.h"

VMAFX_TWIN_BEGIN

/* v / 2, towards zero. */
VMAFX_TWIN Integer psnr_hvs_half(Integer v) { return shifted_right<1>(v - shifted_right<31>(v)); }

/* v · factor / 2^n, rounded. */
template <int n>
VMAFX_TWIN Integer psnr_hvs_scaled(Integer v, int32_t factor) {
  return shifted_right<n>(v * Integer(factor) + Integer(1 << (n - 1)));
}

/* The orthonormal DCT-II of eight samples in place, in integers, by the lifting steps of Daala: a change that another
 * one undoes exactly, whatever it rounds. Samples of 12 bits and what becomes of them stay within 17, products within
 * 32. */
VMAFX_TWIN void psnr_hvs_dct(Integer (&v)[8]) {
  /* Sums and differences of samples that face each other, one of each two halved. */
  const Integer difference07 = v[0] - v[7], difference25 = v[2] - v[5], sum16 = v[1] + v[6], sum34 = v[3] + v[4];
  const Integer half07 = psnr_hvs_half(difference07), half16 = psnr_hvs_half(sum16), half34 = psnr_hvs_half(sum34);

  /* Even frequencies, a DCT-II of four. */
  Integer y0 = (v[0] - half07) + half34;
  Integer y6 = y0 - sum34;
  Integer y2 = half16 - (v[2] - psnr_hvs_half(difference25));
  Integer y4 = y2 - sum16;
  y0 = y0 - psnr_hvs_scaled<15>(y4, 13573);  // √2 - 1
  y4 = y4 + psnr_hvs_scaled<14>(y0, 11585);  // √½
  y0 = y0 - psnr_hvs_scaled<15>(y4, 13573);
  y6 = y6 - psnr_hvs_scaled<15>(y2, 21895);  // (1 - cos 67.5°) / sin 67.5°
  y2 = y2 + psnr_hvs_scaled<14>(y6, 15137);  // sin 67.5°
  y6 = y6 - psnr_hvs_scaled<15>(y2, 21895);

  /* Odd frequencies, a DST-IV of four. */
  Integer y3 = difference25, y5 = v[6] - half16;
  y3 = y3 + psnr_hvs_scaled<15>(y5, 19195);  // 2 - √2
  y5 = y5 + psnr_hvs_scaled<14>(y3, 11585);
  y3 = y3 - psnr_hvs_scaled<13>(y5, 7489);  // √2 - ½
  Integer y7 = psnr_hvs_half(y5) - (half34 - v[4]);
  y5 = y5 - y7;
  y3 = half07 - y3;
  Integer y1 = difference07 - y3;
  y7 = y7 + psnr_hvs_scaled<15>(y1, 3227);  // (1 - cos 11.25°) / sin 11.25°
  y1 = y1 - psnr_hvs_scaled<15>(y7, 6393);  // sin 11.25°
  y7 = y7 + psnr_hvs_scaled<15>(y1, 3227);
  y5 = y5 + psnr_hvs_scaled<13>(y3, 2485);  // the same for 33.75°
  y3 = y3 - psnr_hvs_scaled<15>(y5, 18205);
  y5 = y5 + psnr_hvs_scaled<13>(y3, 2485);

  v[0] = y0, v[1] = y1, v[2] = y2, v[3] = y3, v[4] = y4, v[5] = y5, v[6] = y6, v[7] = y7;
}

/* Moments of a quarter of a block: sums of its samples, less the middle of their range, and of their squares. */
struct PsnrHvsMoments {
  Integer sum, squares;
};

/* How much of the variance of a block lies within its quarters, by variances with n - 1: 0 to 1.05. */
VMAFX_TWIN Real psnr_hvs_texture(const PsnrHvsMoments (&quarters)[4]) {
  const Integer total = (quarters[0].sum + quarters[1].sum) + (quarters[2].sum + quarters[3].sum);
  Real within = Real(0), between = Real(0);  // both times 16
  VMAFX_UNROLL
  for (const PsnrHvsMoments& quarter : quarters) {
    const Real off = real(shifted_left<2>(quarter.sum) - total);
    within += real(shifted_left<4>(quarter.squares) - quarter.sum * quarter.sum);
    between += off * off;
  }
  const Real all = within + between * Real(1 / 16.f);
  return Real(1.05f) * within / select(all > Real(0), all, Real(1));
}

/* Σ (coefficient · csf)² of a row of coefficients, one vertical frequency, without the mean. */
VMAFX_TWIN Real psnr_hvs_energy(const Integer (&row)[8], const PsnrHvsWeights& weights) {
  const Real first = real(row[0]) * Real(weights.first_ac);
  Real sum = first * first;
  VMAFX_UNROLL
  for (int j = 1; j < 8; j++) {
    const Real weighted = real(row[j]) * Real(weights.csf[j]);
    sum += weighted * weighted;
  }
  return sum;
}

/* The sum over rows of coefficients, in this order everywhere. */
VMAFX_TWIN Real psnr_hvs_sum(const Real (&rows)[8]) {
  return ((rows[0] + rows[1]) + (rows[2] + rows[3])) + ((rows[4] + rows[5]) + (rows[6] + rows[7]));
}

/* The strength that masks an error, times 1 / csf of its frequency, from the energies and textures of both blocks. */
VMAFX_TWIN Real psnr_hvs_mask(Real ref_energy, Real ref_texture, Real dist_energy, Real dist_texture) {
  constexpr float kOverNorm = 1 / (32 * 0.3885746225901003);
  return Real(kOverNorm) * square_root(maximum(ref_energy * ref_texture, dist_energy * dist_texture));
}

/* The coefficients of a block. */
struct PsnrHvsBlock {
  Integer rows[8][8];  // by vertical, then horizontal frequency
  Real texture, energy;
};

/* Transforms the block of samples that samples(row, column) gives. */
template <class Samples>
VMAFX_TWIN void psnr_hvs_transform(Samples samples, int middle, const PsnrHvsWeights (&weights)[8], PsnrHvsBlock& out) {
  const Integer zero(0), half_range(middle);
  PsnrHvsMoments quarters[4] = {{zero, zero}, {zero, zero}, {zero, zero}, {zero, zero}};
  for (int j = 0; j < 8; j++) {
    Integer column[8];
    for (int i = 0; i < 8; i++) {
      column[i] = samples(i, j);
      const Integer off = column[i] - half_range;
      PsnrHvsMoments& quarter = quarters[i / 4 * 2 + j / 4];
      quarter.sum = quarter.sum + off;
      quarter.squares = quarter.squares + off * off;
    }
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

/* The square of the visible error of a coefficient, the one of this number in its row. */
VMAFX_TWIN Real psnr_hvs_square(Integer ref, Integer dist, const PsnrHvsWeights& weights, int number, Real mask) {
  const Real error = absolute(real(ref - dist)) * Real(weights.csf[number]);
  const Real visible = maximum(error - mask * Real(weights.inverse[number]), Real(0));
  return visible * visible;
}

/* The part of a square that counts: its effect on a float that holds `above`, the exact sum of the rows of blocks
 * above. */
VMAFX_TWIN Real psnr_hvs_counted(Real square, Real above) { return (above + square) - above; }

/* Σ of squared visible errors: as it is, and as libvmaf counts it. */
struct PsnrHvsErrors {
  Real exact, counted;
};

/* The errors of a row of coefficients. */
VMAFX_TWIN PsnrHvsErrors psnr_hvs_errors(const Integer (&ref)[8], const Integer (&dist)[8],
                                         const PsnrHvsWeights& weights, Real mask, Real above) {
  PsnrHvsErrors sum = {Real(0), Real(0)};
  VMAFX_UNROLL
  for (int j = 0; j < 8; j++) {
    const Real square = psnr_hvs_square(ref[j], dist[j], weights, j, mask);
    sum.exact += square;
    sum.counted += psnr_hvs_counted(square, above);
  }
  return sum;
}

/* The errors of a block. */
VMAFX_TWIN PsnrHvsErrors psnr_hvs_errors(const PsnrHvsBlock& ref, const PsnrHvsBlock& dist,
                                         const PsnrHvsWeights (&weights)[8], Real above) {
  const Real mask = psnr_hvs_mask(ref.energy, ref.texture, dist.energy, dist.texture);
  Real exact[8], counted[8];
  for (int i = 0; i < 8; i++) {
    const PsnrHvsErrors row = psnr_hvs_errors(ref.rows[i], dist.rows[i], weights[i], mask, above);
    exact[i] = row.exact;
    counted[i] = row.counted;
  }
  return {psnr_hvs_sum(exact), psnr_hvs_sum(counted)};
}

VMAFX_TWIN_END

#endif
