/* The arguments of the kernels of the signature, and how their work is cut into blocks. */
#ifndef VMAFX_KERNELS_SIGNATURE_SIGNATURE_WORK_H
#define VMAFX_KERNELS_SIGNATURE_SIGNATURE_WORK_H

#include "kernels/gpu/work.h"
#include "kernels/signature/signature_math.h"

namespace vmafx {

/* A block of threads: each sums a part of one row of a row of cells. */
inline constexpr unsigned kSignatureThreads = kSignatureColumns, kSignatureThreadRows = kSignatureSampledRows;

/* The blocks of a picture's detail, in this order: for rows of chroma's cells, for chroma's columns and rows, for
 * columns, for rows. */
inline constexpr unsigned kColumnBins = 8;  // bins of a block, so few that each thread reads few rows
inline constexpr unsigned kBinsOfRows = 8;  // bins of a block, one wave after the other
inline constexpr unsigned kChromaBlocks = 2 * kChromaRows;
inline constexpr unsigned kChromaColumnBlocks = 2 * kChromaWindow / kColumnBins;
inline constexpr unsigned kChromaRowBlocks = 2 * kChromaWindow / kBinsOfRows;
inline constexpr unsigned kColumnTurns = kSignatureThreads * kSignatureThreadRows / kColumnBins;
inline constexpr unsigned kColumnBlocks = kProfileBands * kProfileBins / kColumnBins;
inline constexpr unsigned kRowBlocks = kProfileBins / kBinsOfRows;
inline constexpr unsigned kDetailBlocks =
    kChromaBlocks + kChromaColumnBlocks + kChromaRowBlocks + kColumnBlocks + kRowBlocks;

struct SignatureWork {
  int32_t w = 0, h = 0, chroma_w = 0, chroma_h = 0;  // chroma: 0 without
  int32_t profile_shift = 0;
  hip::BatchPlanes planes[3];
  BatchSums<SignatureSums> sums;

  int32_t count = 0;                     // frames to work on
  uint8_t frame[hip::kMostBatch] = {};   // each of them, in order
  uint8_t source[hip::kMostBatch] = {};  // for each of them: the first one with its reference, whose blocks sum it
};
VMAFX_DECLARE_SAMPLE_KERNELS(signature, SignatureWork, kSignatureThreads, kSignatureThreadRows);
VMAFX_DECLARE_SAMPLE_KERNELS(signature_detail, SignatureWork, kSignatureThreads, kSignatureThreadRows);

}  // namespace vmafx

#endif
