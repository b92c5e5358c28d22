/* Recoloring: takes the pictures of a session's inputs to the color space that they are scored in (ColorTarget), before
 * metrics see them. A GPU that scores converts them itself (device_queue.h). On the CPU strips of a picture are
 * converted by several threads, and the one that wants it waits. */
#ifndef VMAFX_ENGINE_FRAMES_RECOLORING_H
#define VMAFX_ENGINE_FRAMES_RECOLORING_H

#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/log.h"
#include "base/status.h"
#include "engine/frames/input_format.h"
#include "engine/frames/pictures.h"
#include "engine/frames/reuse.h"
#include "engine/frames/workers.h"
#include "kernels/recolor/color_target.h"

namespace vmafx {

class Recoloring {
 public:
  /* Settles the format of all inputs, the first of which is the reference, and puts it into `scored`, one for each.
   * EINVAL: the sizes differ, or what an input says of its colors cannot be converted; the message says what to do. */
  Status start(const ColorTarget& target, const std::vector<InputFormat>& inputs, int threads,
               std::vector<InputFormat>& scored);

  /* Whether pictures of the input change. Those of others are read as they are. False before start(). */
  bool converts(size_t input) const { return input < inputs_.size() && inputs_[input].recolorer; }

  /* The planes that metrics read (bit p). */
  void want(unsigned planes) { planes_ = planes; }

  /* The conversion of each input, for a GPU. */
  Recolorers recolorers() const;

  /* Converts a picture whose planes were all read, now if it is in host memory, or `later`, once somebody asks for it:
   * a GPU may convert it. Returns pictures of other inputs as they are. This object must outlive what it returns. */
  std::shared_ptr<HeldPicture> recolored(size_t input, std::shared_ptr<HeldPicture> picture, bool later);

  /* How each input becomes what is scored, for the log: "main from bt2020nc/smpte2084/bt2020, …". */
  std::string text() const;

  /* Whether an input's tones are mapped. */
  bool maps_tones() const;

 private:
  struct Input {
    std::string name;
    VideoFormat from;
    std::shared_ptr<const Recolorer> recolorer;  // null: pictures stay
  };
  struct Strip;

  HostPicture convert(size_t input, const HostPicture& picture);

  VideoFormat format_;  // that is scored
  size_t bytes_ = 0;    // of a picture
  size_t offset_[3] = {};
  unsigned planes_ = 0;
  std::vector<Input> inputs_;
  std::vector<AlignedBytes> scratch_;  // of each worker
  Reuse<AlignedBytes> buffers_;
  Workers workers_;
};

}  // namespace vmafx

#endif
