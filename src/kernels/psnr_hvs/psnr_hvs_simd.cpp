/* The SIMD twin of psnr_hvs: one source for every instruction set, equal to psnr_hvs_plain.cpp to the last bit.
 *
 * A lane is a block, so that transforms need no shuffles and sums no reductions. The eight samples of a block's row are
 * two or four words; rows are first dealt out to an array for each of those.
 *
 * Measured for a 1920x1080 frame of 8 bit, 4:2:0, on a Zen 4: 5.8 ms on AVX-512, 6.8 on AVX2, 17 on SSE4, the
 * definition 63. */
#include "kernels/psnr_hvs/psnr_hvs.h"

#include <bit>
#include <cstring>
#include <utility>

#include "base/rounding.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/psnr_hvs/psnr_hvs_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/psnr_hvs/psnr_hvs_math-inl.h"

HWY_BEFORE_NAMESPACE();
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC optimize("schedule-insns", "sched-pressure")  // see ciede_simd.cpp
#endif
namespace vmafx::HWY_NAMESPACE {
namespace {

/* The eight rows of samples that a row of blocks covers, in scratch. */
template <class T>
struct Rows {
  static constexpr int kSamples = sizeof(uint32_t) / sizeof(T);  // in a word
  static constexpr int kWords = kPsnrHvsBlock / kSamples;        // in a block's row
  uint32_t* row[kPsnrHvsBlock];                                  // kWords arrays each
  size_t array;                                                  // words

  Rows(uint32_t* memory, size_t array_words) : array(array_words) {
    for (int i = 0; i < kPsnrHvsBlock; i++) row[i] = memory + i * kWords * array;
  }

  void deal(int i, const T* samples, int blocks) {
    for (int b = 0; b < blocks; b++)
      for (int k = 0; k < kWords; k++)
        std::memcpy(&row[i][k * array + b], &samples[b * kPsnrHvsStep + k * kSamples], sizeof(uint32_t));
  }

  /* Sample (i, j) of blocks from number `first` on. */
  HWY_INLINE Integer samples(int i, int j, int first) const {
    constexpr int bits = 8 * sizeof(T);
    const hn::RebindToUnsigned<DI> du;
    const int place = std::endian::native == std::endian::little ? j % kSamples : kSamples - 1 - j % kSamples;
    const auto words = hn::LoadU(du, row[i] + j / kSamples * array + first);
    return hn::BitCast(DI(), hn::And(hn::ShiftRightSame(words, bits * place), hn::Set(du, (1u << bits) - 1)));
  }
};

template <class T>
void transform(const Rows<T>& rows, int first, int middle, const PsnrHvsWeights (&weights)[8], PsnrHvsBlock& out) {
  psnr_hvs_transform([&](int i, int j) HWY_ATTR { return rows.samples(i, j, first); }, middle, weights, out);
}

template <class T>
PsnrHvsSum plane_sum(int p, const Plane<const T>& ref, const Plane<const T>& dist, int middle, std::byte* scratch) {
  const int across = psnr_hvs_blocks(ref.w), lanes = static_cast<int>(hn::Lanes(DF()));
  PsnrHvsWeights weights[8];
  for (int i = 0; i < 8; i++) weights[i] = psnr_hvs_weights(p, i);
  const size_t array = psnr_hvs_array_words(ref.w);
  auto* const memory = reinterpret_cast<uint32_t*>(scratch);
  Rows<T> rows[2] = {{memory, array}, {memory + kPsnrHvsBlock * Rows<T>::kWords * array, array}};

  FixedSum2<kPsnrHvsSumBits> exact, counted;
  PsnrHvsBlock blocks[2]; /* of ref and dist, a lane each */
  for (int y = 0; y + kPsnrHvsBlock <= ref.h; y += kPsnrHvsStep) {
    for (Rows<T>& of_picture : rows) std::swap(of_picture.row[0], of_picture.row[7]); /* which two share */
    for (int i = y == 0 ? 0 : 1; i < kPsnrHvsBlock; i++) {
      rows[0].deal(i, ref.row(y + i), across);
      rows[1].deal(i, dist.row(y + i), across);
    }
    const Real above(static_cast<float>(exact.total().value()));
    for (int b = 0; b < across; b += lanes) {
      for (int k = 0; k < 2; k++) transform(rows[k], b, middle, weights, blocks[k]);
      const PsnrHvsErrors errors = psnr_hvs_errors(blocks[0], blocks[1], weights, above);
      const auto inside = hn::FirstN(DF(), across - b);
      exact.add(Real(hn::IfThenElseZero(inside, errors.exact.v)));
      counted.add(Real(hn::IfThenElseZero(inside, errors.counted.v)));
    }
  }
  return counted.total();
}

PsnrHvsSum psnr_hvs(int plane, const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte* scratch) {
  const int middle = 1 << (bpc - 1);
  return bpc == 8 ? plane_sum(plane, ref.as<uint8_t>(), dist.as<uint8_t>(), middle, scratch)
                  : plane_sum(plane, ref.as<uint16_t>(), dist.as<uint16_t>(), middle, scratch);
}

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(psnr_hvs);

PsnrHvsSum psnr_hvs_simd(int plane, const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte* scratch) {
  return HWY_DYNAMIC_DISPATCH(psnr_hvs)(plane, ref, dist, bpc, scratch);
}

size_t psnr_hvs_array_words(int w) {
  constexpr size_t kMostLanes = 64;
  return round_up(psnr_hvs_blocks(w) + kMostLanes, kMostLanes);
}

}  // namespace vmafx
#endif
