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
  void end() { ended_ = !frames_.empty(); }

  /* The offset, if it is farther away than shifts reach. */
  std::optional<Finding> finish() const;

 private:
  struct Frame {
    BlockValues ref, dist;  // logarithms of what changes
  };

  double correlation(int64_t offset) const;

  std::vector<Frame> frames_;
  int64_t from_ = 0;
  bool ended_ = false;
};

}  // namespace vmafx::look

#endif
