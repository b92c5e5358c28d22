/* The signature of a picture: small sums of its samples, for all twins. The engine's look (engine/look/) compares the
 * signatures of both pictures of a pair, and of pictures before and after, in order to find out whether they belong
 * together.
 *
 * A picture of w x h samples is divided into kSignatureColumns x kSignatureRows cells: cell (i, j) has the columns from
 * i w / kSignatureColumns and the rows from j h / kSignatureRows, each rounded down, up to where the next one begins. A
 * cell of few samples may be empty. Chroma planes are divided likewise into coarser cells.
 *
 * Of a cell's rows at most kSignatureSampledRows are read, which follow one another around the cell's middle: a cell of
 * n rows from row y on has the rows from y + (n - m) / 2 on, m = min(n, kSignatureSampledRows). They are enough for a
 * mean that tells pictures apart, and tell the two fields of a frame apart: cells of even and of odd rows of the
 * picture are summed separately. */
#ifndef VMAFX_KERNELS_SIGNATURE_SIGNATURE_MATH_H
#define VMAFX_KERNELS_SIGNATURE_SIGNATURE_MATH_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

inline constexpr int kSignatureColumns = 64, kSignatureRows = 36;
inline constexpr int kChromaColumns = 16, kChromaRows = 9;
inline constexpr int kSignatureSampledRows = 4;

/* One in so many frames has its profiles, its chroma and its differences of rows, too: those whose number it divides.
 * It has no factor in common with the 5 frames of 3:2 pulldown, and is about two seconds. */
inline constexpr int kDetailPeriod = 48;

/* Bins of a profile, and the bands of the picture that have one of their own: halves. */
inline constexpr int kProfileBins = 1024, kProfileBands = 2;

/* The most columns and rows of chroma that have a profile: those in the middle of the plane, a sample each, so that a
 * quarter of a sample shows whatever the picture's size. */
inline constexpr int kChromaWindow = 512;

struct ChromaProfiles {
  /* Sums of the samples of the window's columns over its rows, and of its rows over its columns: 0 behind its end. */
  uint32_t columns[kChromaWindow], rows[kChromaWindow];
};

struct PictureSignature {
  /* Sums of the sampled rows of a cell: [0] of even rows of the picture, [1] of odd ones. */
  uint32_t luma[2][kSignatureRows][kSignatureColumns];

  /* In one of kDetailPeriod frames, 0 in others: */

  /* Sums of the sampled rows of cells of Cb and Cr, of both parities. 0 without chroma. */
  uint32_t chroma[2][kChromaRows][kChromaColumns];

  /* Sums of all samples of luma in the columns from i w / kProfileBins up to where the next bin begins, over the rows
   * of a band: the upper half (h / 2 rows, rounded down) and the lower one. Without their lowest profile_shift() bits:
   * 0 but for large pictures of 15 and 16 bit. */
  uint32_t columns[kProfileBands][kProfileBins];

  /* Likewise for rows, over the columns of the left half (w / 2 columns, rounded down) and of the right one. */
  uint32_t rows[kProfileBands][kProfileBins];

  /* Σ |luma(x, y) - luma(x, y + d)| over all x and all y with y + 3 < h, where y is a multiple of 4, for the distances
   * d = 1 and d = 2: combed pictures have the larger sum at d = 1. */
  uint64_t row_difference[2];

  /* Σ |luma(x, y) - luma(x + d, y)| for d = 1 and d = 2, over all x with x + 2 < w in the same rows: a picture that
   * lost rows has less detail from row to row than from column to column. */
  uint64_t column_difference[2];

  /* Cb's and Cr's. 0 without chroma. */
  ChromaProfiles chroma_profiles[2];
};

/* The raw sums of a pair. All of them are exact in pictures of up to 2^17 columns and rows. */
struct SignatureSums {
  PictureSignature ref, dist;
};

VMAFX_HD bool has_detail(int64_t frame) { return frame % kDetailPeriod == 0; }

/* Columns or rows from `begin` to end-1. */
struct SignatureRange {
  int begin, end;
};

/* Part `i` of `size` columns or rows that are divided into `parts`. */
VMAFX_HD SignatureRange part_of(int size, unsigned parts, int i) {
  const auto whole = static_cast<uint64_t>(size), part = static_cast<uint64_t>(i);
  return {static_cast<int>(whole * part / parts), static_cast<int>(whole * (part + 1) / parts)};
}

/* The rows that are read of row `j` of `parts` rows of cells. */
VMAFX_HD SignatureRange sampled_rows(int h, unsigned parts, int j) {
  const SignatureRange rows = part_of(h, parts, j);
  const int n = rows.end - rows.begin, sampled = n < kSignatureSampledRows ? n : kSignatureSampledRows;
  const int first = rows.begin + (n - sampled) / 2;
  return {first, first + sampled};
}

/* The columns or rows of chroma that have a profile. */
VMAFX_HD SignatureRange chroma_window(int size) {
  const int n = size < kChromaWindow ? size : kChromaWindow;
  return {(size - n) / 2, (size - n) / 2 + n};
}

/* The number of bits by which sums of profiles are too large for 32. */
constexpr int profile_shift(int w, int h, int bpc) {
  const auto most_of = [](int size, int parts) { return static_cast<uint64_t>((size + parts - 1) / parts); };
  const uint64_t of_columns = most_of(w, kProfileBins) * most_of(h, kProfileBands);
  const uint64_t of_rows = most_of(h, kProfileBins) * most_of(w, kProfileBands);
  const uint64_t most = (of_columns > of_rows ? of_columns : of_rows) * ((1u << bpc) - 1);
  int shift = 0;
  while (most >> shift > UINT32_MAX) shift++;
  return shift;
}
static_assert(profile_shift(8192, 8640, 16) == 0 && profile_shift(16384, 16384, 14) == 0);
static_assert(profile_shift(16384, 16384, 16) == 1);

}  // namespace vmafx

#endif
