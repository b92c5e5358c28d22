/* Cells: the signature of a picture as small numbers in blocks, for many comparisons with others. */
#ifndef VMAFX_ENGINE_LOOK_CELLS_H
#define VMAFX_ENGINE_LOOK_CELLS_H

#include <array>
#include <cstdint>

#include "base/picture.h"
#include "kernels/signature/signature_math.h"

namespace vmafx::look {

inline constexpr int kBlockColumns = 4, kBlockRows = 4, kBlocks = kBlockColumns * kBlockRows;
inline constexpr int kBlockWidth = kSignatureColumns / kBlockColumns, kBlockHeight = kSignatureRows / kBlockRows;
inline constexpr int kBlockCells = kBlockWidth * kBlockHeight;

/* Steps of a cell's number per level of 8 bits. Sums of products over a block stay below 2^31: without their mean, 144
 * numbers in a range of 255 * 24 have a sum of squares of at most 144 * (255 * 24 / 2)^2. */
inline constexpr int kCellSteps = 24;

/* A number per block. */
using BlockValues = std::array<float, kBlocks>;

/* Mean luma of the cells, less the mean of their block: a fade's or a flash's change of brightness is not in them. */
struct Cells {
  alignas(32) int16_t value[kBlocks][kBlockCells];
};

/* Converts the sums of pictures of one format to cells. */
class CellScale {
 public:
  explicit CellScale(const VideoFormat& format);

  void convert(const PictureSignature& signature, Cells* cells) const;

 private:
  float scale_[kSignatureRows][kSignatureColumns];
};

}  // namespace vmafx::look

#endif
