/* History: the last pictures of the reference and of each encode, as they are and as metrics convert them, for frames
 * that read earlier ones. */
#ifndef VMAFX_ENGINE_FRAMES_HISTORY_H
#define VMAFX_ENGINE_FRAMES_HISTORY_H

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "engine/frames/conversions.h"
#include "engine/frames/in_flight.h"
#include "engine/frames/reuse.h"
#include "kernels/extractor.h"

namespace vmafx {

/* Used by one thread. Each encode has its own earlier pictures; those of the reference may differ between encodes. */
class History {
 public:
  /* The extractors must outlive this object, and the frames. */
  void start(std::span<const Extractor* const> extractors, size_t encodes);

  /* A GPU may join in mid-stream: keeps the pictures that its metrics look back on. */
  void expect_device_queue(bool expected) { expects_device_queue_ = expected; }

  /* Empty histories, one for each extractor that converts pictures. */
  std::vector<ConvertedHistory> empty() const;

  /* Among the extractors that convert pictures, the number of this one; nullopt: it does not. */
  std::optional<size_t> converting(size_t extractor) const;

  /* Prepares the conversions of the pictures of the next frame. Throws std::bad_alloc; nothing has changed then. */
  void start_conversions(const Held& ref, std::span<const EncodeFrame> encodes);

  /* Gives the frame its pictures and the earlier ones. Takes no memory. */
  void hold(InFlight& in_flight, Held ref, std::span<EncodeFrame> encodes);

  /* The pair `back` + 1 pictures before the next one; null if the encode lacked that picture of the reference. */
  HeldPair before(size_t encode, size_t back) const;

  /* How many pairs a GPU that joins now needs at most. `extractors`: see start(). */
  int pairs_needed(std::span<const Extractor* const> extractors) const;

 private:
  /* The last pictures, the latest first. */
  struct Earlier {
    Held ref[kMostHistory], dist[kMostHistory];
    std::vector<ConvertedHistory> converted;  // for each extractor that converts, with the pictures of the last frame
  };

  /* An extractor that reads converted pictures. */
  struct Converting {
    size_t extractor;
    const Extractor* converter;
    std::unique_ptr<Reuse<AlignedBytes>> memory;
    SharedConversion ref{};  // of the frame that is being added, like those of its encodes
    std::vector<SharedConversion> dists{};
  };

  void hold_part(InFlight& in_flight, InFlight::Part& part, EncodeFrame& encode);
  void hold_conversions(InFlight::Part& part);
  void compare(InFlight& in_flight);

  int length_[2] = {};  // earlier pictures that some extractor reads, of the reference and of encodes
  std::vector<Converting> converting_;
  std::vector<Earlier> earlier_;                     // of each encode
  Held last_refs_[kMostHistory];                     // of the frames so far, the latest first
  std::vector<ConvertedPictures> last_conversions_;  // of the frames so far, for each extractor that converts
  bool expects_device_queue_ = false;
};

}  // namespace vmafx

#endif
