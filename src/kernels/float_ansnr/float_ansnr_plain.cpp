/* The definition of float_ansnr's sums. */
#include "kernels/float_ansnr/float_ansnr.h"
#include "kernels/float_ansnr/float_ansnr_math-inl.h"
#include "kernels/steps/row_sums.h"

namespace vmafx {
namespace {

template <class T>
AnsnrSums sums_of(const Plane<const T>& ref, const Plane<const T>& dist, float scale, const AnsnrBlocks* blocks) {
  RowSum signal, noise;
  for (int y = 0; y < ref.h; y++) {
    for (int x = 0; x < ref.w; x++) {
      const auto rows = [=](const Plane<const T>& plane) {
        return [=](int dy) {
          const T* row = plane.row(ansnr_reflect(y + dy, plane.h));
          return [=](int dx) { return static_cast<float>(row[ansnr_reflect(x + dx, plane.w)]) * scale + kAnsnrOffset; };
        };
      };
      const AnsnrSquares squares = ansnr_squares(rows(ref), rows(dist));
      signal.add(squares.signal);
      noise.add(squares.noise);
      if (blocks) blocks->noise[blocks->grid.at(x, y)] += static_cast<double>(squares.noise);
    }
    signal.end_row();
    noise.end_row();
  }
  return {signal.word(), noise.word()};
}

AnsnrSums run(const VideoFormat& format, const SamplePlane& ref, const SamplePlane& dist, const AnsnrBlocks* blocks) {
  const float scale = scale_to_8_bits(format.bpc);
  return format.bpc == 8 ? sums_of(ref.as<uint8_t>(), dist.as<uint8_t>(), scale, blocks)
                         : sums_of(ref.as<uint16_t>(), dist.as<uint16_t>(), scale, blocks);
}

}  // namespace

void ansnr_plain(const VideoFormat& format, const SamplePlane& ref, const SamplePlane& dist, std::byte*,
                 AnsnrSums& sums) {
  sums = run(format, ref, dist, nullptr);
}

void ansnr_mapped_plain(const VideoFormat& format, const SamplePlane& ref, const SamplePlane& dist, std::byte*,
                        AnsnrSums& sums, const AnsnrBlocks& blocks) {
  sums = run(format, ref, dist, &blocks);
}

}  // namespace vmafx
