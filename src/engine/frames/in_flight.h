/* InFlight: a frame in flight, that is, a picture of the reference and those of its encodes, with the raw sums that are
 * computed from them. */
#ifndef VMAFX_ENGINE_FRAMES_IN_FLIGHT_H
#define VMAFX_ENGINE_FRAMES_IN_FLIGHT_H

#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/status.h"
#include "engine/frames/conversions.h"
#include "engine/frames/device_queue.h"
#include "engine/frames/pictures.h"
#include "engine/frames/workers.h"
#include "kernels/extractor.h"

namespace vmafx {

class Pipeline;

using Held = std::shared_ptr<HeldPicture>;

inline constexpr int kMostHistory = std::size(FrameSet().earlier_ref);

/* A picture of an encode, to be added with its reference. */
struct EncodeFrame {
  int encode = 0;
  int64_t index = 0;   // the number of the pair in that encode: one more than that of the pair before
  int64_t number = 0;  // the same, counted from the start of the stream; see FrameSet
  int64_t place = 0;   // see FrameSet
  bool scored = true;
  Held dist;
};

struct HeldPair {
  Held ref, dist;
};

struct InFlight {
  /* A job in which a CPU twin computes the sums of the parts first .. end-1. */
  struct Task final : Job {
    void run(int worker) noexcept override;
    Pipeline* pipeline = nullptr;
    InFlight* in_flight = nullptr;
    size_t extractor = 0;
    size_t first = 0, end = 0;
    bool checks = false;  // it verifies the sums of the GPU
  };

  /* One encode's part. */
  struct Part {
    int encode = 0;
    int64_t index = 0, number = 0, place = 0;  // see EncodeFrame
    bool scored = false;
    Held dist[1 + kMostHistory], earlier_ref[kMostHistory];  // let go when the last job ends
    std::vector<ConvertedHistory> converted;  // for each extractor that converts; let go when the last job ends
    std::vector<const std::byte*> sums;       // for each extractor
    std::vector<std::byte*> device_sums;      // for each extractor with kernels
    QueuedFrame queued;
  };

  size_t place = 0;  // its number among all frames in flight; it stays
  int64_t number = 0;
  std::span<const Extractor* const> extractors;  // which compute its sums
  std::vector<char> on_device;                   // for each extractor: the GPU computes its sums
  std::vector<size_t> waiting;                   // for each extractor: tasks that no worker has begun
  size_t count = 0, scored = 0;                  // parts in use; the scored ones come first
  int beside = 0;                  // n > 0: the CPU scores it beside the GPU, whose next frame comes n frames later
  bool verified = false;           // `check` holds the sums that the CPU twins of kernels compute
  bool in_host = false;            // CPU twins read all of its pictures
  bool one_history = false;        // all parts have the same earlier pictures of the reference
  bool goes_on = false;            // and these are the pictures of the frames before this one
  bool one_conversion = false;     // all parts have the same converted pictures of the reference
  bool conversions_go_on = false;  // and these are the pictures of the frames before this one
  Held ref;
  std::vector<Part> parts;
  std::vector<FrameSet> frames[2];             // of each part: [Reads::whole_chroma]
  std::shared_ptr<const AlignedBytes> memory;  // the sums of all extractors, part by part, …
  AlignedBytes check;                          // and those that CPU twins compute of what kernels did
  std::vector<Task> tasks, checks;             // of each extractor, as many as there are parts

  /* Shows the CPU twins a part's pictures. Planes that are not in host memory are null. */
  void show(size_t part);

  /* Brings a part's pictures to host memory that are not there. No job may read the part yet. */
  Status bring_to_host(size_t part);

  /* The pictures that a part of it sees, the pair `back` + 1 before its own; null if it does not have them any more. */
  HeldPair earlier(size_t part, size_t back) const;

  /* Lets all pictures go, which calls the application. */
  void let_go();
};

}  // namespace vmafx

#endif
