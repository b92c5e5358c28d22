#include "hip/device.h"

#include <strings.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace vmafx::hip {
namespace {

/* Why the runtime sees no device, as far as the kernel driver's node can tell. */
Status no_device() {
  constexpr const char* kNode = "/dev/kfd";
  if (access(kNode, F_OK) != 0) return error(ENXIO, "no AMD GPU driver: %s is missing (is amdgpu loaded?)", kNode);
  if (access(kNode, R_OK | W_OK) != 0)
    return error(EACCES, "no permission to open %s; add the user to the group that owns it (render or video)", kNode);
  return error(ENODEV, "the HIP runtime finds no device");
}

StatusOr<Device> describe(const Runtime& runtime, int ordinal) {
  const Functions& hip = runtime.functions();
  int handle = 0;
  if (const Error code = hip.DeviceGet(&handle, ordinal)) return runtime.failure(EIO, "hipDeviceGet", code);
  char name[256] = "", address[64] = "";
  if (const Error code = hip.DeviceGetName(name, sizeof name, handle))
    return runtime.failure(EIO, "hipDeviceGetName", code);
  if (const Error code = hip.DeviceGetPCIBusId(address, sizeof address, handle))
    return runtime.failure(EIO, "hipDeviceGetPCIBusId", code);
  return Device{ordinal, name, address};
}

bool is_choice(const Device& device, const std::string& choice) {
  if (choice.empty() || choice == "auto") return true;
  char* end = nullptr;
  const long index = std::strtol(choice.c_str(), &end, 10);
  if (!*end) return index == device.ordinal;
  return strcasecmp(choice.c_str(), device.pci_address.c_str()) == 0;
}

}  // namespace

StatusOr<Device> open_device(const std::string& choice) {
  VMAFX_ASSIGN(const Runtime* runtime, Runtime::load());
  const Functions& hip = runtime->functions();
  if (const Error code = hip.Init(0); code == kErrorNoDevice)
    return no_device();
  else if (code)
    return runtime->failure(EIO, "hipInit", code);
  int count = 0;
  if (const Error code = hip.GetDeviceCount(&count); code && code != kErrorNoDevice)
    return runtime->failure(EIO, "hipGetDeviceCount", code);
  if (count == 0) return no_device();

  std::string seen;
  for (int ordinal = 0; ordinal < count; ordinal++) {
    VMAFX_ASSIGN(const Device device, describe(*runtime, ordinal));
    if (is_choice(device, choice))
      return error(ENOTSUP, "no code object for %s (%s): this build carries no HIP kernels", device.name.c_str(),
                   device.pci_address.c_str());
    seen += format_text("%s%d = %s (%s)", seen.empty() ? "" : ", ", ordinal, device.name.c_str(),
                        device.pci_address.c_str());
  }
  return error(ENODEV, "there is no device '%s'; there are: %s", choice.c_str(), seen.c_str());
}

}  // namespace vmafx::hip
