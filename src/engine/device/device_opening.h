/* The GPU, opened in a thread of its own: each call of a runtime may take long or, in a driver that is ill, never come back. `backend=hip`
 * waits for it. With `backend=auto` the stream begins on the CPU meanwhile, and whoever is at its end leaves the opening behind.
 *
 * A stream of a few frames is over before a driver is up, and should cost what it costs on the CPU alone, the end of the program included,
 * which waits for the driver's call that is under way (base/background.h). So such an opening first only looks whether there is a runtime;
 * it goes on once the stream has lasted as long as opening a GPU takes. */
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
#include "engine/device/device_queue.h"
#include "engine/device/dispatch.h"
#include "hip/device.h"
#include "kernels/extractor.h"

namespace vmafx {

/* What a queue is to be made of. */
struct DeviceQueueRequest {
  std::vector<std::unique_ptr<Extractor>> extractors;  // null: none here
  VideoFormat format;
  std::optional<uint64_t> spare_pictures;  // see DeviceQueue::create()
  int encodes;
};

struct OpenedGpu {
  std::shared_ptr<void> listening{};  // what the device says goes to the log until this is gone
  hip::OpenedDevice device;
  std::vector<std::unique_ptr<Extractor>> extractors{};  // as they were requested
  std::unique_ptr<DeviceQueue> queue{};                  // of those that are not null, if a queue was requested
};

class DeviceOpening {
 public:
  struct Request {
    DeviceChoice device;
    std::optional<DeviceQueueRequest> queue{};
    bool beside_stream = false;  // to begin after stream_began()
  };

  /* Fails when it cannot begin. `log` must outlive this object, and OpenedGpu::listening. The environment variable
   * VMAFX_HIP_DEADLINE says how many milliseconds any one wait for the device may take (default 10000); a call of the runtime, and the
   * opening, may take six times as long. VMAFX_HIP_DELAY says how many milliseconds a stream must last (default 500). */
  static StatusOr<std::unique_ptr<DeviceOpening>> start(Request request, Log& log);
  ~DeviceOpening();  // leaves behind what was not taken
  DeviceOpening(const DeviceOpening&) = delete;
  DeviceOpening& operator=(const DeviceOpening&) = delete;

  /* The clock runs from the first call on. */
  void stream_began();

  /* What came of it; nullopt: that is not known yet. EIO: a call of the runtime does not come back. */
  std::optional<Status> outcome();

  /* Until the outcome is known. */
  Status wait();

  /* Until it is known whether there is a runtime, which takes a millisecond where there is none; not for long. */
  void wait_for_search();

  /* After an outcome that is good, once. ECANCELED: the program ends. */
  StatusOr<OpenedGpu> take();

 private:
  struct Shared;
  explicit DeviceOpening(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  const std::shared_ptr<Shared> shared_;
};

}  // namespace vmafx

#endif
