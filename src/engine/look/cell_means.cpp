#include "engine/look/cell_means.h"

#include <algorithm>

namespace vmafx::look {

namespace {

/* Rows of a cell that its signature sums: `count` of them from `first` on. */
struct SampledRows {
  int first, count;
  int of_parity(int parity) const { return (count + ((first & 1) == parity)) / 2; }
};

int edge(int cell, int cells, int size) { return static_cast<int>(static_cast<int64_t>(cell) * size / cells); }

SampledRows sampled_rows(int cell, int cells, int size) {
  const int y = edge(cell, cells, size), n = edge(cell + 1, cells, size) - y;
  const int m = std::min(n, kSignatureSampledRows);
  return {y + (n - m) / 2, m};
}

float one_over(int samples, float unit) { return samples ? unit / static_cast<float>(samples) : 0; }

/* Nothing else lies where the means go, so that compilers make vectors of them. */
void scale_cells(const uint32_t* sums, const float* scale, float* __restrict means) {
  for (int k = 0; k < kCells; k++) means[k] = static_cast<float>(static_cast<int32_t>(sums[k])) * scale[k];
}
void scale_cells(const uint32_t* even, const uint32_t* odd, const float* scale, float* __restrict means) {
  for (int k = 0; k < kCells; k++) means[k] = static_cast<float>(static_cast<int32_t>(even[k] + odd[k])) * scale[k];
}

}  // namespace

CellMeans::CellMeans(const VideoFormat& format)
    : format_(format), unit_(1.0F / static_cast<float>(1 << (format.bpc - 8))) {
  for (int j = 0, k = 0; j < kSignatureRows; j++) {
    const SampledRows rows = sampled_rows(j, kSignatureRows, format.h);
    for (int i = 0; i < kSignatureColumns; i++, k++) {
      const int w = edge(i + 1, kSignatureColumns, format.w) - edge(i, kSignatureColumns, format.w);
      for (int parity = 0; parity < 2; parity++) field_scale_[parity][k] = one_over(w * rows.of_parity(parity), unit_);
      frame_scale_[k] = one_over(w * rows.count, unit_);
    }
  }
  const int chroma_w = format.planes() > 1 ? format.plane_w(1) : 0,
            chroma_h = format.planes() > 1 ? format.plane_h(1) : 0;
  for (int j = 0, k = 0; j < kChromaRows; j++) {
    const SampledRows rows = sampled_rows(j, kChromaRows, chroma_h);
    for (int i = 0; i < kChromaColumns; i++, k++) {
      const int w = edge(i + 1, kChromaColumns, chroma_w) - edge(i, kChromaColumns, chroma_w);
      chroma_scale_[k] = one_over(w * rows.count, unit_);
    }
  }
}

void CellMeans::field(const PictureSignature& picture, int parity, LumaMeans& means) const {
  scale_cells(picture.luma[parity][0], field_scale_[parity].data(), means.data());
}

void CellMeans::frame(const PictureSignature& picture, LumaMeans& means) const {
  scale_cells(picture.luma[0][0], picture.luma[1][0], frame_scale_.data(), means.data());
}

void CellMeans::pair(const SignatureSums& sums, PairMeans& means) const {
  frame(sums.ref, means.ref);
  frame(sums.dist, means.dist);
}

void CellMeans::chroma(const PictureSignature& picture, int plane, ChromaMeans& means) const {
  const uint32_t* const sums = picture.chroma[plane][0];
  for (int k = 0; k < kChromaCells; k++) means[k] = static_cast<float>(sums[k]) * chroma_scale_[k];
}

void CellMeans::columns(const PictureSignature& picture, int band, Profile& profile) const {
  const int upper = format_.h / 2;
  this->profile(picture.columns[band], format_.w, band ? format_.h - upper : upper, profile);
}

void CellMeans::rows(const PictureSignature& picture, int band, Profile& profile) const {
  const int left = format_.w / 2;
  this->profile(picture.rows[band], format_.h, band ? format_.w - left : left, profile);
}

/* Adds up the signature's bins, and reads the sum where bins of one width end: between the ends of two of its bins it
 * is a line. */
void CellMeans::profile(std::span<const uint32_t, kProfileBins> sums, int size, int across, Profile& profile) const {
  const int bins = bins_of(size);
  profile.resize(bins);
  const double width = static_cast<double>(size) / bins, scale = unit_ / (width * across);
  double sum = 0, last = 0;
  int bin = 0, begin = 0;
  for (int k = 0; k < bins; k++) {
    const double end = (k + 1) * width;
    int next = edge(bin + 1, kProfileBins, size);
    while (bin < kProfileBins - 1 && next <= end) {
      sum += sums[bin++];
      begin = next;
      next = edge(bin + 1, kProfileBins, size);
    }
    if (k == bins - 1) sum += sums[bin];
    const double part = k == bins - 1 ? 0 : sums[bin] * (end - begin) / std::max(next - begin, 1);
    profile[k] = static_cast<float>((sum + part - last) * scale);
    last = sum + part;
  }
}

}  // namespace vmafx::look
