/* The definition of the signature's sums. */
#include <cstdlib>

#include "kernels/signature/signature.h"

namespace vmafx {
namespace {

/* Calls body(plane) with the plane as one of bytes or of words. */
template <class Body>
void with_samples(const SamplePlane& plane, int bpc, Body body) {
  if (bpc == 8) body(plane.as<uint8_t>());
  else body(plane.as<uint16_t>());
}

template <class T>
uint64_t sum_of(const Plane<const T>& plane, SignatureRange columns, SignatureRange rows) {
  uint64_t sum = 0;
  for (int y = rows.begin; y < rows.end; y++)
    for (int x = columns.begin; x < columns.end; x++) sum += plane.row(y)[x];
  return sum;
}

template <class T>
uint64_t difference_of_rows(const Plane<const T>& plane, int distance) {
  uint64_t sum = 0;
  for (int y = 0; y + 3 < plane.h; y += 4)
    for (int x = 0; x < plane.w; x++) sum += std::abs(plane.row(y)[x] - plane.row(y + distance)[x]);
  return sum;
}

template <class T>
uint64_t difference_of_columns(const Plane<const T>& plane, int distance) {
  uint64_t sum = 0;
  for (int y = 0; y + 3 < plane.h; y += 4)
    for (int x = 0; x + 2 < plane.w; x++) sum += std::abs(plane.row(y)[x] - plane.row(y)[x + distance]);
  return sum;
}

}  // namespace

void signature_luma_plain(const SamplePlane& luma, int bpc, PictureSignature& signature) {
  with_samples(luma, bpc, [&](const auto& plane) {
    for (int j = 0; j < kSignatureRows; j++) {
      const SignatureRange rows = sampled_rows(plane.h, kSignatureRows, j);
      for (int i = 0; i < kSignatureColumns; i++)
        for (int y = rows.begin; y < rows.end; y++)
          signature.luma[y % 2][j][i] += sum_of(plane, part_of(plane.w, kSignatureColumns, i), {y, y + 1});
    }
  });
}

void signature_chroma_plain(const SamplePlane& chroma, int bpc, ChromaCells& cells) {
  with_samples(chroma, bpc, [&](const auto& plane) {
    for (int j = 0; j < kChromaRows; j++)
      for (int i = 0; i < kChromaColumns; i++)
        cells[j][i] = sum_of(plane, part_of(plane.w, kChromaColumns, i), sampled_rows(plane.h, kChromaRows, j));
  });
}

void signature_chroma_profiles_plain(const SamplePlane& chroma, int bpc, ChromaProfiles& profiles) {
  with_samples(chroma, bpc, [&](const auto& plane) {
    const SignatureRange columns = chroma_window(plane.w), rows = chroma_window(plane.h);
    for (int x = columns.begin; x < columns.end; x++)
      profiles.columns[x - columns.begin] = sum_of(plane, {x, x + 1}, rows);
    for (int y = rows.begin; y < rows.end; y++) profiles.rows[y - rows.begin] = sum_of(plane, columns, {y, y + 1});
  });
}

void signature_profiles_plain(const SamplePlane& luma, int bpc, uint32_t*, PictureSignature& signature) {
  with_samples(luma, bpc, [&](const auto& plane) {
    const int shift = profile_shift(plane.w, plane.h, bpc);
    for (int band = 0; band < kProfileBands; band++)
      for (int i = 0; i < kProfileBins; i++) {
        signature.columns[band][i] =
            sum_of(plane, part_of(plane.w, kProfileBins, i), part_of(plane.h, kProfileBands, band)) >> shift;
        signature.rows[band][i] =
            sum_of(plane, part_of(plane.w, kProfileBands, band), part_of(plane.h, kProfileBins, i)) >> shift;
      }
    for (int k = 0; k < 2; k++) {
      signature.row_difference[k] = difference_of_rows(plane, 1 + k);
      signature.column_difference[k] = difference_of_columns(plane, 1 + k);
    }
  });
}

}  // namespace vmafx
