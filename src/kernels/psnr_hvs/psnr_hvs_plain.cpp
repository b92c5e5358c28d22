/* The definition of psnr_hvs. */
#include "kernels/psnr_hvs/psnr_hvs.h"
#include "kernels/psnr_hvs/psnr_hvs_math-inl.h"

namespace vmafx {
namespace {

template <class T>
PsnrHvsBlock transformed(const Plane<const T>& plane, int x, int y, int middle, const PsnrHvsWeights (&weights)[8]) {
  PsnrHvsBlock block;
  psnr_hvs_transform([&](int i, int j) { return int32_t{plane.row(y + i)[x + j]}; }, middle, weights, block);
  return block;
}

/* Takes transformed blocks. */
struct Blocks {
  BlockGrid grid;
  PsnrHvsSum* sums = nullptr;  // nullptr: nowhere
};

template <class T>
PsnrHvsSum sum(int plane, const Plane<const T>& ref, const Plane<const T>& dist, int middle, const Blocks& blocks) {
  PsnrHvsWeights weights[8];
  for (int i = 0; i < 8; i++) weights[i] = psnr_hvs_weights(plane, i);
  PsnrHvsSum exact, counted;
  for (int y = 0; y + kPsnrHvsBlock <= ref.h; y += kPsnrHvsStep) {
    const Real above = static_cast<Real>(exact.value());
    for (int x = 0; x + kPsnrHvsBlock <= ref.w; x += kPsnrHvsStep) {
      const PsnrHvsErrors of_block = psnr_hvs_errors(transformed(ref, x, y, middle, weights),
                                                     transformed(dist, x, y, middle, weights), weights, above);
      exact += of_block.exact;
      counted += of_block.counted;
      if (blocks.sums) blocks.sums[blocks.grid.at(x / kPsnrHvsStep, y / kPsnrHvsStep)] += of_block.counted;
    }
  }
  return counted;
}

PsnrHvsSum run(int plane, const SamplePlane& ref, const SamplePlane& dist, int bpc, const Blocks& blocks) {
  const int middle = 1 << (bpc - 1);
  return bpc == 8 ? sum(plane, ref.as<uint8_t>(), dist.as<uint8_t>(), middle, blocks)
                  : sum(plane, ref.as<uint16_t>(), dist.as<uint16_t>(), middle, blocks);
}

}  // namespace

PsnrHvsSum psnr_hvs_plain(int plane, const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte*) {
  return run(plane, ref, dist, bpc, {});
}

PsnrHvsSum psnr_hvs_mapped_plain(int plane, const SamplePlane& ref, const SamplePlane& dist, int bpc,
                                 const BlockGrid& grid, PsnrHvsSum* blocks) {
  return run(plane, ref, dist, bpc, {grid, blocks});
}

}  // namespace vmafx
