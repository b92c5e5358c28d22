/* Which backend the session runs on: the answer to `backend=` and `device=`. */
#ifndef VMAFX_ENGINE_DISPATCH_H
#define VMAFX_ENGINE_DISPATCH_H

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "engine/log.h"
#include "hip/device.h"

namespace vmafx {

struct Backend {
  std::optional<hip::OpenedDevice> device;  // the GPU, if any
  uint32_t preferred = 0;             // ExtractorFlags that a feature's extractor should have
  std::string fallback;               // why `auto` runs on the CPU; "" if it does not or was not asked
};

/* "cpu": no device. "hip": the device, or the Status that says why not. "auto": the device, or the CPU and one log line
 * that says why. EINVAL for any other name. */
StatusOr<Backend> open_backend(const std::string& name, const std::string& device, Log& log);

}  // namespace vmafx

#endif
