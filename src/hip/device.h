/* Finding and opening the GPU, with the cause told apart when there is none to use. */
#ifndef VMAFX_HIP_DEVICE_H
#define VMAFX_HIP_DEVICE_H

#include <string>

#include "base/status.h"
#include "hip/runtime.h"

namespace vmafx::hip {

struct Device {
  int ordinal = 0;
  std::string name;         // "AMD Radeon RX 7900 XTX"
  std::string pci_address;  // "0000:03:00.0"
};

/* Opens the device that `choice` names: "auto", an index, or a PCI address. What can fail, and how it is told:
 * ENOENT no runtime library; ENXIO no driver (/dev/kfd is missing); EACCES no permission on /dev/kfd; ENODEV no device, or none
 * like `choice`; ENOTSUP no code object for the device's architecture; EIO any other failure of the runtime. */
StatusOr<Device> open_device(const std::string& choice);

}  // namespace vmafx::hip

#endif
