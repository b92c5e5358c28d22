/* Devices: what Vship calls a GPU. Where no GPU can be used, the CPU is the only one. */
#ifndef COMPAT_VSHIP_DEVICES_H
#define COMPAT_VSHIP_DEVICES_H

#include <string>
#include <utility>
#include <vector>

#include "compat/vship/abi.h"

namespace vship {

/* All that can compute, found out once: it takes as long as to open each GPU. */
const std::vector<Vship_DeviceInfo>& devices();

/* The options of the library that choose a device by its number. The environment variable VMAFX_BACKEND says which
 * backend, as for the other libraries of vmafx. */
std::vector<std::pair<std::string, std::string>> device_options(int gpu_id);

}  // namespace vship

#endif
