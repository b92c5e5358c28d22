/* SessionGpu: the GPU of a session. It is open before the first frame, or opens beside the stream and then takes over
 * from the CPU. */
#ifndef VMAFX_ENGINE_SESSION_GPU_H
#define VMAFX_ENGINE_SESSION_GPU_H

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/picture.h"
#include "base/status.h"
#include "engine/device/device_opening.h"
#include "engine/device/dispatch.h"
#include "engine/device/opening_choice.h"
#include "engine/frames/pipeline.h"
#include "engine/plan.h"
#include "kernels/recolor/recolor.h"

namespace vmafx {

class SessionGpu {
 public:
  /* The options of the session that concern the GPU. */
  struct Request {
    std::string backend;  // "auto", "cpu", "hip"
    DeviceChoice device;
    int encodes = 1;
    int verify = 0;  // see Pipeline::add_device_queue()
  };

  /* `log` must outlive this object. */
  SessionGpu(Request request, Log& log) : request_(std::move(request)), log_(log) {}

  /* Opens the GPU, unless it comes later or the CPU scores: see open_backend(). */
  Status open(bool at_once);

  Placement preferred() const { return backend_.preferred; }
  const hip::OpenedDevice* device() const { return backend_.device ? &*backend_.device : nullptr; }

  /* The reason why backend=auto runs on the CPU; "" if it does not. */
  const std::string& fallback() const { return backend_.fallback; }

  /* Gives the pipeline the GPU's queue, or prepares a GPU that comes later. The plan has its extractors.
   * spare_pictures, recolorers: see DeviceQueue::create(). */
  Status start(const Plan& plan, const VideoFormat& format, std::optional<uint64_t> spare_pictures,
               const Recolorers& recolorers, Pipeline& pipeline);

  /* Whether kernels run, or may run later. */
  bool may_run() const { return comes_later() || device(); }

  /* Whether a GPU may still take over. */
  bool comes_later() const { return waiting_ || opening_; }

  /* Begins to open a GPU that comes later, if that pays by now; to be called often. */
  Status consider(const StreamState& stream, Pipeline& pipeline);

  /* Has the CPU wait for a GPU that opens, or not, by what pays; to be called as often. `ends`: no other pairs come. */
  void let_wait(const StreamState& stream, bool ends, Pipeline& pipeline);

  /* Waits until a GPU that comes later is open, or known not to open. */
  void wait();

  /* The result of opening a GPU that comes later; nullopt: none is being opened, or the result is not known yet. */
  std::optional<Status> outcome() const;

  /* Has the GPU take over after a good outcome(); `stream`: on the CPU. False: the GPU cannot, and the CPU goes on. */
  StatusOr<bool> take_over(const StreamState& stream, Pipeline& pipeline);

  /* Has the CPU score the next pairs beside the GPU that took over, if that helps; `stream`: since then. */
  void share(const StreamState& stream, Pipeline& pipeline);

  /* Gives up a GPU that does not open, or that the session cannot use: see give_up_device(). */
  Status give_up(const Status& reason, Pipeline& pipeline);

  /* Ends an opening at the end of the stream; `stream`: since the GPU took over, if it did. */
  void end_stream(const StreamState& stream);

 private:
  Status add_queue(const Plan& plan, const VideoFormat& format, std::optional<uint64_t> spare_pictures,
                   const Recolorers& recolorers, Pipeline& pipeline);
  Status begin_opening(Pipeline& pipeline);
  Status join(Pipeline& pipeline);

  const Request request_;
  Log& log_;
  Backend backend_;
  std::optional<DeviceOpening::Request> waiting_;  // for an opening that pays
  std::optional<OpeningChoice> choice_;            // when it does; nullopt: it was not to choose
  std::unique_ptr<DeviceOpening> opening_;         // of a GPU that comes later
  std::chrono::steady_clock::time_point opening_began_;
  std::vector<std::string> kept_by_cpu_;                             // why the CPU keeps metrics that have kernels
  std::vector<std::unique_ptr<const Extractor>> device_extractors_;  // of a GPU that took over
};

}  // namespace vmafx

#endif
