/* Pictures as a metric converts them (Extractor::convert()), for tests that call extract() themselves. */
#ifndef VMAFX_TESTS_SUPPORT_CONVERTED_H
#define VMAFX_TESTS_SUPPORT_CONVERTED_H

#include <algorithm>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "kernels/extractor.h"

namespace vmafx::test {

/* A frame of a stream with the pictures that its metric reads. */
class ConvertedFrame {
 public:
  /* `refs` and `dists`: those of the stream so far, the last one last. Nothing, where the metric reads samples. */
  ConvertedFrame(const Extractor& extractor, std::span<const Picture> refs, std::span<const Picture> dists) {
    if (!extractor.converted_bytes()) return;
    convert(extractor, refs, ref_);
    convert(extractor, dists, dist_);
  }

  void show(FrameSet& frame) const {
    frame.converted_ref = ref_;
    frame.converted_dist = dist_;
  }

 private:
  void convert(const Extractor& extractor, std::span<const Picture> pictures, std::vector<const std::byte*>& out) {
    const size_t most = static_cast<size_t>(extractor.reads().converted) + 1;
    for (size_t back = 0; back < std::min(most, pictures.size()); back++) {
      memory_.push_back(allocate_aligned(extractor.converted_bytes()));
      extractor.convert(pictures[pictures.size() - 1 - back], memory_.back().get());
      out.push_back(memory_.back().get());
    }
  }

  std::vector<AlignedBytes> memory_;
  std::vector<const std::byte*> ref_, dist_;
};

}  // namespace vmafx::test

#endif
