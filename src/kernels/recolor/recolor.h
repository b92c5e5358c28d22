/* Takes the pictures of a video to another color space: range, matrix (Y'CbCr, ICtCp), transfer, primaries, depth and
 * chroma, as BT.2100, BT.2087 and BT.2408 define it.
 *
 *   signal    Y'CbCr from 0 to 1 and -0.5 to 0.5, chroma upsampled bilinearly from where its samples lie
 *   matrix    R'G'B', or L'M'S' of ICtCp
 *   light     by the curve of the source, in units of the target: 1 is 10000 cd/m2 (PQ), 1000 (HLG), or white (SDR)
 *   steps     each a matrix and then a factor that depends on light:
 *               L M S to R G B                  (ICtCp)
 *               HLG's OOTF, Y_S^0.2             (BT.2100 table 5, for 1000 cd/m2)
 *               primaries                       (white stays white, by Bradford)
 *               tone mapping of max(R, G, B)    (EETF of BT.2390)
 *               HLG's inverse OOTF, Y_D^(-0.2 / 1.2)
 *               R G B to L M S
 *   signal    by the curve of the target, then its matrix
 *   samples   chroma as the mean of triangles around its place, rounded to nearest, halves to even, clipped to the
 *             depth
 *
 * Where neither curve nor primaries change, the matrices alone are applied; where the matrix and the places of chroma
 * stay, too, each plane only gets other codes, or the same. Light below 0 is 0; light and signals above
 * 1 stay as they are until they become samples.
 *
 * White of SDR has ColorRules::white cd/m2. Curves and factors are tables that the host makes once, in double, and all
 * twins read in the same way, with float arithmetic of one order: the samples are equal everywhere. Tables are linear
 * between their entries, which costs less than a code of 16 bits. */
#ifndef VMAFX_KERNELS_RECOLOR_RECOLOR_H
#define VMAFX_KERNELS_RECOLOR_RECOLOR_H

#include <cstddef>
#include <memory>
#include <vector>

#include "base/picture.h"
#include "kernels/forward.h"
#include "kernels/recolor/recolor_math.h"

namespace vmafx {

/* How light goes from one kind of display to another. */
struct ColorRules {
  double white = 203;      // cd/m2 of SDR's white among HDR (BT.2408: 203; zimg: 100)
  bool maps_tones = true;  // HDR to SDR: from `peak` to `white` by BT.2390's EETF; else it is cut off at white
  double peak = 1000;      // cd/m2

  bool operator==(const ColorRules&) const = default;
};

/* -- On the CPU ---------------------------------------------------------------------------------------------------- */

struct RecolorOutput {
  void* data[3];        // null: the plane is not wanted
  ptrdiff_t stride[3];  // bytes
};

/* Rows of luma from `first` to `end` - 1, with the chroma that belongs to them; both even, but for the last row. */
struct RecolorRows {
  int first, end;
};

/* The rows of chroma that belong to rows of luma. */
inline RecolorRows chroma_rows(const Recolor& p, RecolorRows luma) {
  if (!p.down.halved) return luma;
  const int end = luma.end == p.source.h ? p.chroma_h : luma.end / 2;
  return {luma.first / 2, end};
}

/* The conversion between two formats of one size. Made once, used on any thread. */
class Recolorer {
 public:
  /* The colors of both must be known, but for range (limited) and chroma location (left). EINVAL says what is unknown
   * or cannot be converted: BT.2020's constant luminance, logarithms, ICtCp without BT.2020 and PQ or HLG. */
  static StatusOr<std::shared_ptr<const Recolorer>> create(const VideoFormat& from, const VideoFormat& to,
                                                           const ColorRules& rules);

  /* All planes of `in` have data. `scratch`: scratch_bytes(), on a cache line. */
  void plain(const Picture& in, const RecolorOutput& out, RecolorRows rows, std::byte* scratch) const;
  void simd(const Picture& in, const RecolorOutput& out, RecolorRows rows, std::byte* scratch) const;
  size_t scratch_bytes() const;

  const Recolor& params() const { return params_; }
  const std::vector<float>& tables() const { return tables_; }
  bool maps_tones() const { return maps_tones_; }  // HDR becomes SDR by the EETF

 private:
  Recolorer() = default;

  Recolor params_{};
  std::vector<float> tables_;
  bool maps_tones_ = false;

  friend class RecolorPlan;
};

/* By input, the reference first; null: its pictures stay as they are. */
using Recolorers = std::vector<std::shared_ptr<const Recolorer>>;

}  // namespace vmafx

#endif
