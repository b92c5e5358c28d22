/* Devices, contexts, errors. */
#include <strings.h>
#include <cstdio>
#include <cstring>

#include "emulator/runtime/calls.h"
#include "emulator/runtime/launch.h"
#include "emulator/runtime/memory.h"
#include "emulator/runtime/queue.h"
#include "emulator/runtime/settings.h"

using namespace vmafx::emulator;

namespace {

constexpr int kVersion = 60000000;  // 6.0
constexpr int kMultiprocessors = 4;
constexpr uintptr_t kContexts = 0x7e58'0000'0000'0000;  // a context's handle is this and its device

bool is_device(int device) { return device >= 0 && static_cast<size_t>(device) < settings().devices.size(); }

/* Copies with the terminating 0, cut to fit. */
int give_text(const std::string& text, char* out, int length) {
  if (!out || length < 1) return kInvalidValue;
  std::snprintf(out, static_cast<size_t>(length), "%s", text.c_str());
  return kSuccess;
}

int pci_number(const std::string& address, Attribute part) {
  unsigned domain = 0, bus = 0, device = 0;
  std::sscanf(address.c_str(), "%x:%x:%x", &domain, &bus, &device);
  return static_cast<int>(part == kAttributePciDomain ? domain : part == kAttributePciBus ? bus : device);
}

int get_attribute(int* value, int attribute, const DeviceSetting& device) {
  switch (attribute) {
    case kAttributeIntegrated: *value = device.integrated; break;
    case kAttributeCapabilityMajor: *value = 1; break;
    case kAttributeCapabilityMinor: *value = 0; break;
    case kAttributeMaxBlockX: *value = kMaxBlockX; break;
    case kAttributeMaxBlockY: *value = kMaxBlockY; break;
    case kAttributeMaxBlockZ: *value = kMaxBlockZ; break;
    case kAttributeMaxGridX: *value = static_cast<int>(kMaxGridX); break;
    case kAttributeMaxGridY: *value = kMaxGridY; break;
    case kAttributeMaxGridZ: *value = kMaxGridZ; break;
    case kAttributeMaxThreadsPerBlock: *value = kMaxBlockX; break;
    case kAttributeMultiprocessors: *value = kMultiprocessors; break;
    case kAttributePciBus:
    case kAttributePciDevice:
    case kAttributePciDomain: *value = pci_number(device.pci_address, static_cast<Attribute>(attribute)); break;
    case kAttributeMaxSharedPerBlock: *value = static_cast<int>(engine().shared_bytes()); break;
    case kAttributeWaveSize: *value = static_cast<int>(engine().lanes()); break;
    default: return kInvalidValue;
  }
  return kSuccess;
}

struct ErrorText {
  Error error;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {kSuccess, "hipSuccess", "no error"},
    {kInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {kOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {kInvalidConfiguration, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    {kNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {kInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {kInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    {kInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {kNotFound, "hipErrorNotFound", "named symbol not found"},
    {kNotReady, "hipErrorNotReady", "device not ready"},
    {kIllegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {kLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {kNotSupported, "hipErrorNotSupported", "operation not supported"},
    {kUnknown, "hipErrorUnknown", "unknown error"},
};

const ErrorText& error_text(int code) {
  for (const ErrorText& error : kErrors)
    if (error.error == code) return error;
  return error_text(kUnknown);
}

}  // namespace

EMULATOR_API const char* hipGetErrorName(int code) { return error_text(code).name; }
EMULATOR_API const char* hipGetErrorString(int code) { return error_text(code).text; }

/* The architecture of the devices, as src/hip asks for it. */
EMULATOR_API const char* vmafx_emulator_arch() { return engine().architecture(); }

EMULATOR_API int hipInit(unsigned flags) {
  const Call call("hipInit");
  if (call.error()) return call.error();
  if (flags) return call.misuse(kInvalidValue, "flags must be 0");
  return settings().devices.empty() ? kNoDevice : kSuccess;
}

EMULATOR_API int hipDriverGetVersion(int* version) {
  const Call call("hipDriverGetVersion");
  if (!call.error()) *version = kVersion;
  return call.error();
}

EMULATOR_API int hipRuntimeGetVersion(int* version) {
  const Call call("hipRuntimeGetVersion");
  if (!call.error()) *version = kVersion;
  return call.error();
}

EMULATOR_API int hipGetDeviceCount(int* count) {
  const Call call("hipGetDeviceCount");
  if (call.error()) return call.error();
  *count = static_cast<int>(settings().devices.size());
  return *count ? kSuccess : kNoDevice;
}

EMULATOR_API int hipDeviceGet(int* device, int ordinal) {
  const Call call("hipDeviceGet");
  if (call.error()) return call.error();
  if (!is_device(ordinal)) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

EMULATOR_API int hipDeviceGetName(char* name, int length, int device) {
  const Call call("hipDeviceGetName");
  if (call.error()) return call.error();
  if (!is_device(device)) return kInvalidDevice;
  return give_text(text("%s %d (%u lanes)", engine().architecture(), device, engine().lanes()), name, length);
}

EMULATOR_API int hipDeviceGetPCIBusId(char* address, int length, int device) {
  const Call call("hipDeviceGetPCIBusId");
  if (call.error()) return call.error();
  return is_device(device) ? give_text(settings().devices[device].pci_address, address, length) : kInvalidDevice;
}

EMULATOR_API int hipDeviceGetByPCIBusId(int* device, const char* address) {
  const Call call("hipDeviceGetByPCIBusId");
  if (call.error()) return call.error();
  for (size_t i = 0; i < settings().devices.size(); i++) {
    *device = static_cast<int>(i);
    if (!strcasecmp(settings().devices[i].pci_address.c_str(), address)) return kSuccess;
  }
  return kInvalidDevice;
}

EMULATOR_API int hipDeviceGetAttribute(int* value, int attribute, int device) {
  const Call call("hipDeviceGetAttribute");
  if (call.error()) return call.error();
  return is_device(device) ? get_attribute(value, attribute, settings().devices[device]) : kInvalidDevice;
}

EMULATOR_API int hipDeviceTotalMem(size_t* bytes, int device) {
  const Call call("hipDeviceTotalMem");
  if (call.error()) return call.error();
  if (!is_device(device)) return kInvalidDevice;
  *bytes = settings().memory;
  return kSuccess;
}

EMULATOR_API int hipGetDevice(int* device) {
  const Call call("hipGetDevice");
  if (!call.error()) *device = current_device();
  return call.error();
}

EMULATOR_API int hipSetDevice(int device) {
  const Call call("hipSetDevice");
  if (call.error()) return call.error();
  if (!is_device(device)) return kInvalidDevice;
  current_device() = device;
  return kSuccess;
}

EMULATOR_API int hipSetDeviceFlags(unsigned) {
  const Call call("hipSetDeviceFlags");
  return call.error();
}

EMULATOR_API int hipDeviceSynchronize() {
  const Call call("hipDeviceSynchronize");
  if (call.error()) return call.error();
  const int code = wait_for_device(call, current_device());
  return code ? code : lost_error();
}

/* -- Contexts: one for each device, always there ------------------------------------------------------------------- */

EMULATOR_API int hipDevicePrimaryCtxRetain(void** context, int device) {
  const Call call("hipDevicePrimaryCtxRetain");
  if (call.error()) return call.error();
  if (!is_device(device)) return kInvalidDevice;
  *context = reinterpret_cast<void*>(kContexts + static_cast<uintptr_t>(device));
  return kSuccess;
}

EMULATOR_API int hipDevicePrimaryCtxRelease(int device) {
  const Call call("hipDevicePrimaryCtxRelease");
  return call.error() ? call.error() : is_device(device) ? kSuccess : kInvalidDevice;
}

EMULATOR_API int hipCtxGetCurrent(void** context) {
  const Call call("hipCtxGetCurrent");
  if (!call.error()) *context = reinterpret_cast<void*>(kContexts + static_cast<uintptr_t>(current_device()));
  return call.error();
}

EMULATOR_API int hipCtxSetCurrent(void* context) {
  const Call call("hipCtxSetCurrent");
  if (call.error()) return call.error();
  const int device = static_cast<int>(reinterpret_cast<uintptr_t>(context) - kContexts);
  if (!is_device(device)) return call.misuse(kInvalidValue, "no context of this runtime");
  current_device() = device;
  return kSuccess;
}
