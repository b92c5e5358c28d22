/* The definition of psnr_hvs. */
#include "kernels/psnr_hvs/psnr_hvs.h"
#include "kernels/psnr_hvs/psnr_hvs_math-inl.h"

namespace vmafx {
namespace {

struct Block {
  int32_t coefficients[8][8];  // by vertical, then horizontal frequency
  Real texture;
};

template <class T>
Block transformed(const Plane<const T>& plane, int x, int y, int middle) {
  PsnrHvsMoments quarters[4] = {};
  int32_t columns[8][8];
  for (int j = 0; j < 8; j++) {
    for (int i = 0; i < 8; i++) {
      const int32_t sample = plane.row(y + i)[x + j], off = sample - middle;
      PsnrHvsMoments& quarter = quarters[i / 4 * 2 + j / 4];
      quarter.sum += off;
      quarter.squares += off * off;
      columns[j][i] = sample;
    }
    psnr_hvs_dct(columns[j]);
  }
  Block block;
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 8; j++) block.coefficients[i][j] = columns[j][i];
    psnr_hvs_dct(block.coefficients[i]);
  }
  block.texture = psnr_hvs_texture(quarters);
  return block;
}

Real energy(const Block& block, int plane) {
  Real rows[8];
  for (int i = 0; i < 8; i++) rows[i] = psnr_hvs_energy(block.coefficients[i], psnr_hvs_weights(plane, i));
  return psnr_hvs_sum(rows);
}

PsnrHvsErrors errors(const Block& ref, const Block& dist, int plane, Real above) {
  const Real mask = psnr_hvs_mask(energy(ref, plane), ref.texture, energy(dist, plane), dist.texture);
  Real exact[8], counted[8];
  for (int i = 0; i < 8; i++) {
    const PsnrHvsErrors row =
        psnr_hvs_errors(ref.coefficients[i], dist.coefficients[i], psnr_hvs_weights(plane, i), mask, above);
    exact[i] = row.exact;
    counted[i] = row.counted;
  }
  return {psnr_hvs_sum(exact), psnr_hvs_sum(counted)};
}

template <class T>
PsnrHvsSum sum(int plane, const Plane<const T>& ref, const Plane<const T>& dist, int middle) {
  PsnrHvsSum exact, counted;
  for (int y = 0; y + kPsnrHvsBlock <= ref.h; y += kPsnrHvsStep) {
    const Real above = static_cast<Real>(exact.value());
    for (int x = 0; x + kPsnrHvsBlock <= ref.w; x += kPsnrHvsStep) {
      const PsnrHvsErrors of_block =
          errors(transformed(ref, x, y, middle), transformed(dist, x, y, middle), plane, above);
      exact += of_block.exact;
      counted += of_block.counted;
    }
  }
  return counted;
}

}  // namespace

PsnrHvsSum psnr_hvs_ref(int plane, const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte*) {
  const int middle = 1 << (bpc - 1);
  return bpc == 8 ? sum(plane, ref.as<uint8_t>(), dist.as<uint8_t>(), middle)
                  : sum(plane, ref.as<uint16_t>(), dist.as<uint16_t>(), middle);
}

}  // namespace vmafx
