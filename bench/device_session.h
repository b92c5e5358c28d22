/* Whole sessions through the public API, as an application meets them, on frames in memory. */
#ifndef VMAFX_BENCH_DEVICE_SESSION_H
#define VMAFX_BENCH_DEVICE_SESSION_H

#include <string>

#include "bench/arguments.h"
#include "bench/device_frames.h"
#include "bench/timing.h"
#include "hip/device.h"
#include "vmafx/vmafx.h"

namespace bench {

/* Whether a session here can be told where frames in device memory are from: not on HIP. */
bool takes_device_memory(const vmafx::hip::OpenedDevice& device);

/* A session of a model on the GPU that is fed with frames in memory. */
class DeviceSession {
 public:
  struct Kind {
    VmafxMemory memory = VMAFX_MEMORY_HOST;  // or _PINNED, or _DEVICE
    int encodes = 1;                         // number i shows the distorted picture of i frames later
    bool stays = false;  // the reference is one that stays, in the GPU's memory, too; not with VMAFX_MEMORY_DEVICE
    const char* check = nullptr;  // the option; nullptr: its default
    bool maps = false;            // the option result_maps
  };
  DeviceSession(const std::string& model, const DeviceFrames& frames, const vmafx::hip::OpenedDevice& device,
                const Kind& kind);
  DeviceSession(const DeviceSession&) = delete;
  ~DeviceSession() {
    vmafx_close(&context_);
    vmafx_kept_reference_close(&reference_);
  }

  /* The pace of frame pairs in a row, from submission to score, over at least that long. */
  Pace pace(double milliseconds);

 private:
  VmafxPicture picture(vmafx::hip::Side side, int64_t frame) const;
  void submit();
  void receive(bool wait);

  const DeviceFrames& frames_;
  const VmafxMemory memory_;
  const int encodes_;
  VmafxKeptReference* reference_ = nullptr;  // null: its pictures are submitted one by one
  VmafxContext* context_ = nullptr;
  int64_t submitted_ = 0, received_ = 0;
};

/* Milliseconds from vmafx_open() to the first score of `model`, in a process that has not used the GPU yet. */
double first_score(const std::string& model, const std::string& device, Size size);

}  // namespace bench

#endif
