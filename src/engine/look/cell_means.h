/* Cell means: what signatures say of a picture, as levels on the scale of 8 bits, whatever its size and depth. */
#ifndef VMAFX_ENGINE_LOOK_CELL_MEANS_H
#define VMAFX_ENGINE_LOOK_CELL_MEANS_H

#include <array>
#include <span>
#include <vector>

#include "base/picture.h"
#include "kernels/signature/signature_math.h"

namespace vmafx::look {

inline constexpr int kCells = kSignatureColumns * kSignatureRows, kChromaCells = kChromaColumns * kChromaRows;

/* Means of cells, row by row. */
using LumaMeans = std::array<float, kCells>;
using ChromaMeans = std::array<float, kChromaCells>;

/* A profile: means of luma over the columns (or rows) of a band, in `bins` bins of equal width. */
using Profile = std::vector<float>;
using BandProfiles = std::array<Profile, kProfileBands>;

/* The means of a pair's cells, which all parts of the look read. */
struct PairMeans {
  LumaMeans ref, dist;
};

class CellMeans {
 public:
  explicit CellMeans(const VideoFormat& format);

  /* Smaller pictures have cells of too few samples for the look to say anything. */
  static bool fit_for(const VideoFormat& format) { return format.w >= 128 && format.h >= 144; }

  /* Of rows of one parity: 0 even, 1 odd. */
  void field(const PictureSignature& picture, int parity, LumaMeans& means) const;
  /* Of both parities. */
  void frame(const PictureSignature& picture, LumaMeans& means) const;
  void pair(const SignatureSums& sums, PairMeans& means) const;
  /* Of Cb (0) or Cr (1). */
  void chroma(const PictureSignature& picture, int plane, ChromaMeans& means) const;

  /* Bins of profiles: a column (row) each up to kProfileBins of them, above that half as many as the signature has,
   * whose bins are not of one width then. */
  int column_bins() const { return bins_of(format_.w); }
  int row_bins() const { return bins_of(format_.h); }
  void columns(const PictureSignature& picture, int band, Profile& profile) const;
  void rows(const PictureSignature& picture, int band, Profile& profile) const;

  const VideoFormat& format() const { return format_; }

 private:
  static int bins_of(int size) { return size <= kProfileBins ? size : kProfileBins / 2; }
  void profile(std::span<const uint32_t, kProfileBins> sums, int size, int across, Profile& profile) const;

  VideoFormat format_;
  float unit_;  // 1 / samples of one level
  LumaMeans field_scale_[2], frame_scale_;
  ChromaMeans chroma_scale_;
};

}  // namespace vmafx::look

#endif
