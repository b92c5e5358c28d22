#include "engine/look/cells.h"

#include "engine/look/vectors.h"

namespace vmafx::look {

CellScale::CellScale(const VideoFormat& format) {
  const float steps = 255.F * kCellSteps / static_cast<float>((1 << format.bpc) - 1);
  for (int j = 0; j < kSignatureRows; j++)
    for (int i = 0; i < kSignatureColumns; i++) {
      const SignatureRange columns = part_of(format.w, kSignatureColumns, i);
      const SignatureRange rows = sampled_rows(format.h, kSignatureRows, j);
      const int samples = (columns.end - columns.begin) * (rows.end - rows.begin);
      scale_[j][i] = samples ? steps / static_cast<float>(samples) : 0;
    }
}

void CellScale::convert(const PictureSignature& signature, Cells* cells) const {
  convert_cells(signature.luma[0][0], signature.luma[1][0], scale_[0], cells);
}

}  // namespace vmafx::look
