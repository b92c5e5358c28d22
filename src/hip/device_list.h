/* The GPUs of this machine, and the choice among them. */
#ifndef VMAFX_HIP_DEVICE_LIST_H
#define VMAFX_HIP_DEVICE_LIST_H

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "hip/runtime.h"

namespace vmafx::hip {

struct Device {
  const Runtime* runtime = nullptr;
  int ordinal = 0;             // among the devices of its runtime
  int handle = 0;              // hipDevice_t, CUdevice
  std::string name;            // "AMD Radeon RX 7900 XTX"
  std::string pci_address;     // "0000:03:00.0"
  std::optional<Uuid> uuid{};  // that Vulkan knows, too; nullopt on HIP
  std::string arch;            // "gfx1100", "sm_90", "emulator"; "" if unknown
  bool integrated = false;     // shares the CPU's memory
  size_t memory_bytes = 0;
  int multiprocessors = 0;      // compute units
  int wave_size = 0;            // lanes: 32 or 64
  int max_threads = 0;          // per block
  size_t max_shared_bytes = 0;  // per block
};

/* Device `ordinal` of an initialized runtime. */
StatusOr<Device> describe_device(const Runtime& runtime, int ordinal);

/* All devices of one runtime, in its own order. ENXIO no driver; EACCES no permission; ENODEV none; EIO. */
StatusOr<std::vector<Device>> list_devices(const Runtime& runtime);

/* "0 = Radeon (0000:03:00.0, gfx1100), 1 = …" for messages. */
std::string describe_all(const std::vector<Device>& devices);

/* "auto" or "". */
bool is_auto(const std::string& choice);

/* The one that `choice` names: an index into `devices`, a PCI address, or "auto": the first discrete one that `runs`
 * says there is code for, else the first discrete one, else an integrated one by the same rule. An integrated one
 * beside a discrete one is only taken when named. nullptr if there is none such. */
const Device* choose_device(const std::vector<Device>& devices, const std::string& choice,
                            bool (*runs)(const std::string& arch));

/* Why a runtime sees no device, as far as the driver's device node tells. */
struct DriverNode {
  const char* path;
  const char* driver;  // "AMD GPU driver"
  const char* hint;    // advice when permission is missing
};
Status explain_no_device(const DriverNode& node);

}  // namespace vmafx::hip

#endif
