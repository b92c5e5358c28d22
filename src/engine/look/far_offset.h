/* Far offset: an encode whose pictures are those of the reference some seconds before or after, where no neighbor fits.
 * How much changes from frame to frame, in each part of the picture, is like a fingerprint of a stream. */
#ifndef VMAFX_ENGINE_LOOK_FAR_OFFSET_H
#define VMAFX_ENGINE_LOOK_FAR_OFFSET_H

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/look/finding.h"
#include "engine/look/neighbors.h"

namespace vmafx::look {

class FarOffset {
 public:
  void add(const FrameEvidence& evidence);

  /* The frames that come do not follow the last one: those before tell, or nothing. */
  void end();

  /* The offset, if it is farther away than shifts reach. */
  std::optional<Finding> finish() const;

 private:
  /* Logarithms of what changes in a block, frame by frame, and sums of the first k of them and of their squares. */
  class Series {
   public:
    void add(double value);
    const double* from(int64_t frame) const { return &values_[static_cast<size_t>(frame)]; }
    double sum(int64_t begin, int64_t end) const { return difference(sums_, begin, end); }
    double squares(int64_t begin, int64_t end) const { return difference(squares_, begin, end); }

   private:
    static double difference(const std::vector<double>& sums, int64_t begin, int64_t end) {
      return sums[static_cast<size_t>(end)] - sums[static_cast<size_t>(begin)];
    }
    std::vector<double> values_, sums_{0}, squares_{0};
  };

  double correlation(int64_t offset) const;
  std::optional<Finding> found() const;

  Series ref_[kBlocks], dist_[kBlocks];
  int64_t frames_ = 0, from_ = 0;
  bool ended_ = false;
  std::optional<Finding> found_;  // once no more frames are kept
};

}  // namespace vmafx::look

#endif
