/* OpeningChoice: when a stream that began on the CPU has a GPU opened beside it, by engine/device/costs.h. It has the
 * state for that: what earlier sessions measured, what this one measures, and the turns of processes that open GPUs. */
#ifndef VMAFX_ENGINE_OPENING_CHOICE_H
#define VMAFX_ENGINE_OPENING_CHOICE_H

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/device_place.h"
#include "engine/device/costs.h"
#include "engine/device/known_costs.h"

namespace vmafx {

/* What a session knows of its stream. */
struct StreamState {
  int64_t seen = 0;                   // pairs that were submitted
  int64_t finished = 0;               // pairs that were scored
  int64_t before = 0;                 // pairs of the stream before those
  std::optional<int64_t> expected{};  // pairs of the whole stream
  double elapsed = 0;                 // seconds
  double source_pair = 0;             // see StreamCosts
  double worker_seconds = 0;          // of processors, for all pairs that were scored
  double busy = 0;                    // the share of the processors' time that the process took
  int threads = 1, processors = 1;
};

/* Used by one thread. */
class OpeningChoice {
 public:
  /* plan: tells plans, formats and processors apart that cost different times. device: the option. */
  OpeningChoice(std::string plan, std::string device);

  /* Whether the GPU is to be opened now. It may be asked at each pair. */
  bool opens(const StreamState& stream);

  /* Whether the CPU leaves the pairs that wait to the GPU, which has been opening for so many seconds; `ends`: no
   * others come. */
  bool leaves_to_gpu(const StreamState& stream, double lasts, bool ends);

  /* What the opening holds until it ends, so that other processes see it; null: there is no folder to share. */
  std::shared_ptr<const DevicePlace> turn() { return std::move(turn_); }

  /* The GPU is open, and so many seconds passed. */
  void opened(double seconds, const std::string& pci_address);

  /* The stream has ended, or the CPU or the GPU stops to score alone; the pairs of this part took so long. */
  void measured_cpu(const StreamState& stream);
  void measured_gpu(const StreamState& stream);
  void ended(const StreamState& stream) { measured_.pairs = stream.before + stream.seen; }

  /* How many pairs in a row the CPU is to score beside the GPU; `stream`: since the GPU took over. */
  int pairs_for_cpu(const StreamState& stream, int least, int64_t room);

  /* Writes what is new, if there is, or ever was, a GPU. */
  void keep() const;

 private:
  double cpu_pair(const StreamState& stream) const;
  double gpu_pair(const StreamState& stream) const;
  StreamCosts costs_of(const StreamState& stream) const;
  int users() const;

  const std::string plan_, device_, file_;
  KnownCosts known_;
  PlanCosts costs_;        // of earlier sessions
  DeviceCosts of_device_;  // of earlier sessions
  PlanCosts measured_;     // of this one
  std::optional<DeviceCosts> measured_device_;
  std::shared_ptr<const DevicePlace> turn_;
  int openers_ = 0, users_ = 0;  // when it was chosen
  bool shares_ = false;          // the CPU scores beside the GPU
  bool left_ = false;            // the CPU did not score all that it could
  double idle_ = 0;              // the share of the processors that nobody used before
  std::chrono::steady_clock::time_point next_look_{};
};

}  // namespace vmafx

#endif
