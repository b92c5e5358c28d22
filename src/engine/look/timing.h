/* Timing: how frames of an encode belong to frames of its reference, by what changes from frame to frame. */
#ifndef VMAFX_ENGINE_LOOK_TIMING_H
#define VMAFX_ENGINE_LOOK_TIMING_H

#include <cstdint>
#include <memory>
#include <vector>

#include "base/picture.h"
#include "engine/look/finding.h"
#include "kernels/signature/signature_math.h"

namespace vmafx::look {

class Timing {
 public:
  explicit Timing(const VideoFormat& format);
  Timing(const Timing& other);
  ~Timing();

  void add(int64_t frame, const SignatureSums& sums);

  /* Appends what was found, when no more pairs come. */
  void finish(std::vector<Finding>* findings);

 private:
  class Registration;
  std::unique_ptr<Registration> registration_;
};

}  // namespace vmafx::look

#endif
