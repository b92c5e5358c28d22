/* Opens the GPU in a thread of its own: a call of a runtime may take long or, in a broken driver, never come back.
 * `backend=hip` waits for it. With `backend=auto` the stream begins on the CPU meanwhile, and a session that ends first
 * leaves the opening behind.
 *
 * The end of the program waits for the driver's call that is under way (base/background.h). So a stream begins an
 * opening only when it pays (engine/device/opening_choice.h). */
#ifndef VMAFX_ENGINE_DEVICE_OPENING_H
#define VMAFX_ENGINE_DEVICE_OPENING_H

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/background.h"
#include "base/log.h"
#include "base/picture.h"
#include "base/status.h"
#include "engine/frames/device_pictures.h"
#include "engine/frames/device_queue.h"
#include "hip/device.h"
#include "kernels/extractor.h"

namespace vmafx {

/* The GPU that `device=` names. It is opened in the `given` context, if that is one of this device. */
struct DeviceChoice {
  std::string name;
  GivenContext given{};
  std::chrono::seconds place_wait{0};  // how long to wait while other processes fill the GPU
};

/* The arguments of DeviceQueue::create(). */
struct DeviceQueueRequest {
  std::vector<std::unique_ptr<const Extractor>> extractors;  // null: the CPU keeps this metric
  VideoFormat format;
  std::optional<uint64_t> spare_pictures;
  int encodes;
  Recolorers recolorers{};
};

struct OpenedGpu {
  std::shared_ptr<void> listening{};  // while it lives, the device's messages go to the log
  hip::OpenedDevice device;
  std::vector<std::unique_ptr<const Extractor>> extractors{};  // as they were requested
  std::unique_ptr<DeviceQueue> queue{};                        // runs those that are not null; null: none was requested
};

/* How long a wait for the device may take: the environment variable VMAFX_HIP_DEADLINE (milliseconds, default
 * 10000). */
StatusOr<std::chrono::milliseconds> device_deadline();

/* How long a stream must have lasted before a GPU is opened beside it: the environment variable VMAFX_HIP_DELAY
 * (milliseconds). nullopt: until it pays. */
StatusOr<std::optional<std::chrono::milliseconds>> opening_delay();

class DeviceOpening {
 public:
  struct Request {
    DeviceChoice device;
    std::optional<DeviceQueueRequest> queue{};
    bool beside_stream = false;                 // waits for stream_began()
    std::chrono::milliseconds delay{0};         // and for so long after that
    std::shared_ptr<const DevicePlace> turn{};  // held until the opening ends
  };

  /* Fails if it cannot begin. `log` must outlive this object and OpenedGpu::listening. A call of the runtime, and the
   * opening, may take six times as long as device_deadline(). */
  static StatusOr<std::unique_ptr<DeviceOpening>> start(Request request, Log& log);
  ~DeviceOpening();  // leaves a GPU that was not taken behind
  DeviceOpening(const DeviceOpening&) = delete;
  DeviceOpening& operator=(const DeviceOpening&) = delete;

  /* Starts the clock, at the first call. */
  void stream_began();

  /* The result; nullopt: it is not known yet. EIO: a call of the runtime does not come back. */
  std::optional<Status> outcome();

  /* Waits until the outcome is known. */
  Status wait();

  /* Waits briefly until it is known whether there is a runtime; if there is none, that takes a millisecond. */
  void wait_for_search();

  /* Hands the GPU over, once, after a good outcome. ECANCELED: the program ends. */
  StatusOr<OpenedGpu> take();

 private:
  struct Shared;
  explicit DeviceOpening(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  const std::shared_ptr<Shared> shared_;
};

}  // namespace vmafx

#endif
