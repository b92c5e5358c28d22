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

namespace vmafx {

inline constexpr int kSignatureColumns = 64, kSignatureRows = 36;
inline constexpr int kChromaColumns = 16, kChromaRows = 9;
inline constexpr int kSignatureSampledRows = 4;

/* One in so many frames has its profiles, its chroma and its differences of rows, too: those whose number it divides.
 * It has no factor in common with the 5 frames of 3:2 pulldown, and is about two seconds. */
inline constexpr int kDetailPeriod = 48;

/* Bins of a profile, and the bands of the picture that have one of their own: halves. */
inline constexpr int kProfileBins = 1024, kProfileBands = 2;

struct PictureSignature {
  /* Sums of the sampled rows of a cell: [0] of even rows of the picture, [1] of odd ones. */
  uint32_t luma[2][kSignatureRows][kSignatureColumns];

  /* In one of kDetailPeriod frames, 0 in others: */

  /* Sums of the sampled rows of cells of Cb and Cr, of both parities. 0 without chroma. */
  uint32_t chroma[2][kChromaRows][kChromaColumns];

  /* Sums of all samples of luma in the columns from i w / kProfileBins up to where the next bin begins, over the rows
   * of a band: the upper half (h / 2 rows, rounded down) and the lower one. */
  uint32_t columns[kProfileBands][kProfileBins];

  /* Likewise for rows, over the columns of the left half (w / 2 columns, rounded down) and of the right one. */
  uint32_t rows[kProfileBands][kProfileBins];

  /* Σ |luma(x, y) - luma(x, y + d)| over all x and all y with y + 3 < h, where y is a multiple of 4, for the distances
   * d = 1 and d = 2: combed pictures have the larger sum at d = 1. */
  uint64_t row_difference[2];
};

/* The raw sums of a pair. */
struct SignatureSums {
  PictureSignature ref, dist;
};

}  // namespace vmafx

#endif
