/* The choice of the backend that a session runs on. */
#ifndef VMAFX_ENGINE_DISPATCH_H
#define VMAFX_ENGINE_DISPATCH_H

#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/status.h"
#include "engine/device/device_opening.h"
#include "hip/device.h"
#include "kernels/extractor.h"

namespace vmafx {

struct Backend {
  std::shared_ptr<void> listening{};          // see OpenedGpu
  std::optional<hip::OpenedDevice> device{};  // the GPU, if any
  bool comes_later = false;                   // the GPU is to be opened beside the stream, and then takes over
  Placement preferred = Placement::kCpu;      // where metrics that have kernels run
  std::string fallback{};                     // why `auto` runs on the CPU; "" if it does not, or was not asked for
};

/* Answers `backend=`. "cpu": no GPU. "hip": the GPU, or an error that says why not. "auto": the GPU, or the CPU and one
 * log line that says why; the GPU comes later unless `at_once` is set or the application has a device context. EINVAL
 * for any other name. `log` must outlive the Backend. */
StatusOr<Backend> open_backend(const std::string& name, DeviceChoice device, bool at_once, Log& log);

/* Gives up a GPU that turns out to be unusable. "hip": an error. "auto": the CPU and one log line that says why. */
Status give_up_device(const std::string& name, const Status& reason, Backend& backend, Log& log);

/* "AMD Radeon RX 7900 XTX (0000:03:00.0, gfx1100)". */
std::string device_name(const hip::Device& device);

}  // namespace vmafx

#endif
