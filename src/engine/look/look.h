/* Look: registration of an encode with its reference. It takes the signatures of all pairs, in order, beside the
 * scores, which it never changes, and finds out whether the pictures belong together. */
#ifndef VMAFX_ENGINE_LOOK_LOOK_H
#define VMAFX_ENGINE_LOOK_LOOK_H

#include <cstdint>
#include <memory>
#include <vector>

#include "base/picture.h"
#include "engine/look/breaks.h"
#include "engine/look/finding.h"
#include "kernels/signature/signature_math.h"

namespace vmafx::look {

class Look {
 public:
  /* The format of both pictures. */
  explicit Look(const VideoFormat& format);
  ~Look();

  /* The signatures of the next pair, in the order of frames; numbers may begin anywhere, with gaps between them where
   * frames are not scored. Words of detail are read in frames that have it, only. Some microseconds: memory is bounded,
   * whatever the length of the stream. */
  void add(int64_t frame, const SignatureSums& sums);

  /* No more pairs come. All findings, in the order of kinds and places. */
  std::vector<Finding> finish();

  /* What finish() would return now. The look goes on: later pairs may take a finding back, as for finish() only what
   * they show counts. */
  std::vector<Finding> so_far() const;

  /* A merge needs these of a part of a stream, besides findings: its breaks and, after finish(), brief findings. */
  const Breaks& breaks() const;
  const std::vector<Finding>& brief() const;

 private:
  class Parts;  // timing.h, geometry.h, levels.h, chroma_place.h, structure.h, lost_field.h
  static std::vector<Finding> findings_of(Parts& parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace vmafx::look

#endif
