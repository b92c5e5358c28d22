/* The working memory of the SIMD twin. */
#ifndef VMAFX_KERNELS_SSIM_SSIM_ROWS_H
#define VMAFX_KERNELS_SSIM_SSIM_ROWS_H

#include "base/aligned.h"
#include "kernels/common/rows.h"
#include "kernels/ssim/ssim.h"
#include "kernels/ssim/ssim_math.h"

namespace vmafx {

/* The latest rows at one scale, of two kinds: the reference, and its difference to the distorted picture. */
struct SsimScaleRows {
  static constexpr int kRing = 12;  // an 11-row window, and a multiple of 4
  static_assert(kRing >= SsimWindow::kLength && kRing >= 2 * SsimHalving::kRadius + 1);

  float* row(int kind, int y) const { return first + (kind * kRing + y % kRing) * stride; }

  int w = 0, h = 0;
  float* first = nullptr;
  size_t stride = 0;  // floats
};

/* Rows of means across a row of windows. */
struct SsimMeanRows {
  float *ref, *diff, *ref_ref, *diff_diff, *ref_diff;
};

class SsimMemory {
 public:
  SsimMemory(const SsimParams& params, std::byte* memory) : next_(memory), begin_(memory) {
    int w = ssim_reduced(params.w, params.factor), h = ssim_reduced(params.h, params.factor);
    const size_t row = round_to_lines((w + kRowSlack) * sizeof(float));
    for (float** mean : {&means_.ref, &means_.diff, &means_.ref_ref, &means_.diff_diff, &means_.ref_diff})
      *mean = take(row);
    between_ = take(row + 2 * kCacheLine) + kMargin;
    columns_ = take((params.w + kRowSlack) * sizeof(uint32_t) + 2 * kCacheLine) + kMargin;
    for (int s = 0; s < params.scales; s++) {
      scales_[s] = {w, h, nullptr, odd_lines((w + kRowSlack) * sizeof(float)) / sizeof(float)};
      scales_[s].first = take(2 * SsimScaleRows::kRing * scales_[s].stride * sizeof(float));
      w = ssim_halved(w);
      h = ssim_halved(h);
    }
  }

  const SsimScaleRows& scale(int s) const { return scales_[s]; }
  const SsimMeanRows& means() const { return means_; }
  float* between() const { return between_; }                                 // a row with kMargin before it
  uint32_t* columns() const { return reinterpret_cast<uint32_t*>(columns_); }  // the same, of samples
  size_t bytes() const { return static_cast<size_t>(next_ - begin_); }

 private:
  static constexpr int kMargin = kCacheLine / sizeof(float);

  /* Rows an odd number of cache lines apart do not compete for the same places of a cache. */
  static size_t odd_lines(size_t bytes) { return (round_to_lines(bytes) / kCacheLine | 1) * kCacheLine; }

  float* take(size_t bytes) {
    float* taken = reinterpret_cast<float*>(next_);
    next_ += round_to_lines(bytes);
    return taken;
  }

  std::byte *next_, *const begin_;
  SsimScaleRows scales_[kMsSsimScales];
  SsimMeanRows means_;
  float *between_, *columns_;
};

}  // namespace vmafx

#endif
