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
#include "kernels/steps/linear_light.h"

namespace vmafx {

/* How light goes from one kind of display to another. */
struct ColorRules {
  double white = 203;      // cd/m2 of SDR's white among HDR (BT.2408: 203; zimg: 100)
  bool maps_tones = true;  // HDR to SDR: from `peak` to `white` by BT.2390's EETF; else it is cut off at white
  double peak = 1000;      // cd/m2

  bool operator==(const ColorRules&) const = default;
};

/* -- Tables -------------------------------------------------------------------------------------------------------- */

/* A table by signal has an entry for each 2^-14 from 0 to 2. */
inline constexpr int kSignalSteps = 1 << 14, kSignalEntries = 2 * kSignalSteps + 1;

/* A table by light has 2^9 entries for each doubling from 2^-44, which also stands for all below, to 2^8. */
inline constexpr int kLightShift = 23 - 9, kLightEntries = (44 + 8) * (1 << 9) + 1;
inline constexpr float kLeastLight = 0x1p-44f, kMostLight = 0x1.fffffep7f;

/* -- Parameters, for kernels, too ---------------------------------------------------------------------------------- */

struct RecolorStep {
  float matrix[9];    // row by row
  const float* gain;  // by light; null: 1
  bool of_largest;    // the light is the largest of the three, else the sum of the three times `weights`
  float weights[3];
};

inline constexpr int kMostRecolorSteps = 3;

struct RecolorSamples {
  float luma, luma_offset, chroma,
      chroma_offset;  // code · luma + luma_offset, of the source; the reverse, of the target
};

struct Recolor {
  PictureLight source;  // the place of its chroma
  RecolorSamples from;  // chroma: of 16ths of a code, less neutral
  float to_signal[9];   // to R'G'B' or L'M'S'
  const float* decode;  // by signal; null: no light, steps or encode
  RecolorStep steps[kMostRecolorSteps];
  int n_steps;
  const float* encode;  // by light
  float from_signal[9];
  RecolorSamples to;
  bool keeps_planes;  // each plane depends on itself alone: chroma is not resampled
  float most;         // the largest code of the target
  int bpc;            // of the target
  bool has_chroma;
  int chroma_w, chroma_h;
  ChromaAxis across, down;  // of the target
};

/* The weights, in eighths, of luma samples 2k - 1 to 2k + 2 for chroma sample k: a triangle that is four samples wide,
 * around the place of the chroma sample. */
VMAFX_HD float chroma_weight(const ChromaAxis& axis, int tap) {
  const int distance = 2 * (tap - 1) - axis.offset,
            away = distance < 0 ? -distance : distance;  // in halves of a sample
  return away < 4 ? static_cast<float>(4 - away) * 0.125f : 0;
}

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
  bool maps_tones() const { return maps_tones_; }  // HDR becomes SDR by the EETF

 private:
  Recolorer() = default;

  std::vector<std::vector<float>> tables_;  // what params_ points to
  Recolor params_{};
  bool maps_tones_ = false;

  friend class RecolorPlan;
};

}  // namespace vmafx

#endif
