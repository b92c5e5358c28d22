/* Which backend the session runs on: the answer to `backend=` and `device=`. */
#ifndef VMAFX_ENGINE_DISPATCH_H
#define VMAFX_ENGINE_DISPATCH_H

#include <chrono>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/status.h"
#include "hip/device.h"
#include "kernels/extractor.h"

namespace vmafx {

struct Backend {
  std::shared_ptr<void> listening{};          // see OpenedGpu
  std::optional<hip::OpenedDevice> device{};  // the GPU, if any
  bool comes_later = false;                   // it is to be opened beside the stream, and then takes over
  Placement preferred = Placement::kCpu;      // of metrics that have kernels
  std::string fallback{};                     // why `auto` runs on the CPU; "" if it does not or was not asked
};

/* A device context of the application. */
struct GivenContext {
  VmafxPlatform platform = VMAFX_PLATFORM_NONE;  // NONE: there is none
  void* context = nullptr;
};

/* Which GPU: the answer to `device=`, and how long to wait while other processes fill it. It is opened in the `given` context if that is
 * one of the device that is named. */
struct DeviceChoice {
  std::string name;
  GivenContext given{};
  std::chrono::seconds place_wait{0};
};

/* Not of VMAFX_PLATFORM_NONE. */
hip::Platform hip_platform(VmafxPlatform platform);

/* "cpu": no device. "hip": the device, or the Status that says why not. "auto": the device, or the CPU and one log line
 * that says why; but it comes later where that is possible: neither `at_once` is said nor is there a context. EINVAL for any other name. `log` must outlive the Backend. */
StatusOr<Backend> open_backend(const std::string& name, DeviceChoice device, bool at_once, Log& log);

/* The same decision when the device turns out to be of no use after all: an error, or the CPU with one log line. */
Status give_up_device(const std::string& name, const Status& reason, Backend& backend, Log& log);

/* "AMD Radeon RX 7900 XTX (0000:03:00.0, gfx1100)". */
std::string device_name(const hip::Device& device);

}  // namespace vmafx

#endif
