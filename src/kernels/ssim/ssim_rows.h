/* The working memory of the SIMD twin. */
#ifndef VMAFX_KERNELS_SSIM_SSIM_ROWS_H
#define VMAFX_KERNELS_SSIM_SSIM_ROWS_H

#include "base/rounding.h"
#include "kernels/ssim/ssim.h"
#include "kernels/steps/rows.h"
#include "kernels/steps/scratch.h"

namespace vmafx {

/* Pictures are taken in strips of so many windows, or samples of the next scale, in a row, from top to bottom: what a
 * strip's latest rows leave behind fits the first cache. */
inline constexpr int kSsimStrip = 64;

/* Means along the windows of a strip, of the latest rows, and means over windows. */
struct SsimStripMeans {
  struct Row { /* of what SsimMeans has one of */
    float ref[kSsimStrip], dist[kSsimStrip], ref_ref[kSsimStrip], dist_dist[kSsimStrip], ref_dist[kSsimStrip];
  };
  Row& row(int y) { return along[y % SsimWindow::kLength]; }
  Row along[SsimWindow::kLength], across;
};

/* The parts of the latest rows in samples of the next scale. A row's distances from these samples are all even, or all
 * odd: part y / 2 is for distance y. */
struct SsimStripHalves {
  static constexpr int kRows = 2 * SsimHalving::kRadius + 2;
  struct Part {
    float high[kSsimStrip], low[kSsimStrip];
  };
  using Row = Part[SsimHalving::kRadius / 2 + 1];
  Row& row(int y) { return rows[(y + kRows) % kRows]; } /* y >= -kRadius */
  Row rows[kRows];
};

/* A strip's samples of an even and an odd row, so that the next row is on its way into memory while one is filtered:
 * loads across what was just stored would wait. Rows begin on cache lines. */
struct SsimStripSamples {
  static constexpr int kMargin = 2 * SsimWindow::kRadius;
  static_assert(kMargin >= 2 * SsimHalving::kRadius);
  static constexpr size_t kRow = round_to_lines((kSsimStrip + kMargin + kRowSlack) * sizeof(float)) / sizeof(float);
  /* For windows: of each picture. */
  float along[2][2][kRow];
  /* For the next scale: even and odd columns; a picture's end with its reflection, in samples of any type. */
  struct Split {
    float even[kRow], odd[kRow];
  } split[2];
  std::byte reflected[2 * kRow * sizeof(float)];
};

class SsimMemory {
 public:
  SsimMemory(const SsimParams& params, std::byte* memory) {
    Scratch scratch(memory);
    means = scratch.take<SsimStripMeans>(1);
    halves = scratch.take<SsimStripHalves>(1);
    samples = scratch.take<SsimStripSamples>(1);
    const size_t columns = params.w + 2 * SsimWindow::kLength + kRowSlack;
    for (float*& sums : columns_) sums = scratch.take<float>(columns) + SsimWindow::kLength;
    for (int s = params.factor > 1 ? 0 : 1; s < params.scales; s++) {
      const SsimSize size(params, s);
      for (Plane<float>& plane : planes_[s]) plane = scratch.take_plane<float>(size.w, size.h, 0, kRowSlack);
    }
    bytes_ = scratch.bytes();
  }

  /* The plane of the reference (0) or the distorted picture (1). With a factor of 1, the first scale has none: it is
   * the samples. */
  const Plane<float>& plane(int scale, int picture) const { return planes_[scale][picture]; }
  /* Sums over the columns of a row of blocks: high, low. With room for the block size before them, and kRowSlack. */
  float* columns(int kind) const { return columns_[kind]; }
  size_t bytes() const { return bytes_; }

  SsimStripMeans* means;
  SsimStripHalves* halves;
  SsimStripSamples* samples;

 private:
  Plane<float> planes_[kMsSsimScales][2];
  float* columns_[2];
  size_t bytes_;
};

}  // namespace vmafx

#endif
