#include "engine/look/cells.h"

#include <algorithm>

namespace vmafx::look {

namespace {

int edge(int i, int size, int parts) { return static_cast<int>(static_cast<int64_t>(i) * size / parts); }

}  // namespace

CellScale::CellScale(const VideoFormat& format) {
  const float steps = 255.F * kCellSteps / static_cast<float>((1 << format.bpc) - 1);
  for (int j = 0; j < kSignatureRows; j++)
    for (int i = 0; i < kSignatureColumns; i++) {
      const int w = edge(i + 1, format.w, kSignatureColumns) - edge(i, format.w, kSignatureColumns);
      const int h = edge(j + 1, format.h, kSignatureRows) - edge(j, format.h, kSignatureRows);
      const int samples = w * std::min(h, kSignatureSampledRows);
      scale_[j][i] = samples ? steps / static_cast<float>(samples) : 0;
    }
}

void CellScale::convert(const PictureSignature& signature, Cells* cells) const {
  int32_t sums[kBlocks] = {};
  for (int j = 0; j < kSignatureRows; j++)
    for (int i = 0; i < kBlockColumns; i++) {
      const int block = j / kBlockHeight * kBlockColumns + i, x = i * kBlockWidth;
      int16_t* values = cells->value[block] + j % kBlockHeight * kBlockWidth;
      int32_t sum = 0;
      for (int k = 0; k < kBlockWidth; k++) {
        const auto samples = static_cast<int32_t>(signature.luma[0][j][x + k] + signature.luma[1][j][x + k]);
        const auto value = static_cast<int32_t>(static_cast<float>(samples) * scale_[j][x + k] + 0.5F);
        values[k] = static_cast<int16_t>(value);
        sum += value;
      }
      sums[block] += sum;
    }
  for (int block = 0; block < kBlocks; block++) {
    const auto mean = static_cast<int16_t>((sums[block] + kBlockCells / 2) / kBlockCells);
    for (int k = 0; k < kBlockCells; k++) cells->value[block][k] = static_cast<int16_t>(cells->value[block][k] - mean);
  }
}

void products(const Cells& a, const Cells& b, BlockValues* sums) {
  for (int block = 0; block < kBlocks; block++) {
    const int16_t* const x = a.value[block];
    const int16_t* const y = b.value[block];
    int32_t sum = 0;
    for (int k = 0; k < kBlockCells; k++) sum += x[k] * y[k];
    (*sums)[block] = static_cast<float>(sum);
  }
}

}  // namespace vmafx::look
