#include "tests/hip/fake_runtime.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

using vmafx::test::FakeDevice;
using vmafx::test::FakeState;

#define FAKE_API extern "C" [[gnu::visibility("default")]]

namespace {

constexpr int kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100, kInvalidDevice = 101, kNotFound = 500,
              kNotReady = 600;

FakeState state;
/* All that is not given back; itself for ever, so that what is left behind on purpose is no leak to a sanitizer. */
std::set<void*>& given = *new std::set<void*>;

bool is_fatal(int code) { return code == 700 || code == 719 || code == 999; }

/* Begins each call: returns 0, or the error to return. */
int begin() {
  state.calls++;
  if (state.fatal) state.calls_after_fatal++;
  if (state.calls != state.fail_at) return 0;
  state.fatal = is_fatal(state.fail_code);
  return state.fail_code;
}

/* A handle, or memory. */
int make(void** out, size_t bytes = 1) {
  if (const int code = begin()) return code;
  *out = std::malloc(bytes);
  given.insert(*out);
  state.live++;
  return 0;
}

/* Like a real runtime, it gives back even if it reports an earlier failure. */
int give_back(void* handle) {
  const int code = begin();
  if (!given.erase(handle)) std::abort();
  std::free(handle);
  state.live--;
  return code;
}

const FakeDevice* find(int device) {
  return device >= 0 && device < state.n_devices ? &state.devices[device] : nullptr;
}

int attribute_value(int attribute, const FakeDevice& device) {
  switch (attribute) {
    case 16: return device.integrated;
    case 56: return 1024;
    case 63: return 4;
    case 74: return 65536;
    case 87: return 32;
    default: return -1;
  }
}

}  // namespace

FAKE_API FakeState* fake_state() { return &state; }

FAKE_API int hipInit(unsigned) { return state.starts++, state.n_devices ? 0 : kNoDevice; }
FAKE_API int hipRuntimeGetVersion(int* version) { return *version = 60000000, 0; }
FAKE_API const char* hipGetErrorString(int code) { return code == kOutOfMemory ? "out of memory" : "it failed"; }
FAKE_API int hipGetDeviceCount(int* count) { return *count = state.n_devices, 0; }
FAKE_API int hipDeviceGet(int* device, int ordinal) { return *device = ordinal, find(ordinal) ? 0 : kInvalidDevice; }
FAKE_API int hipDeviceGetName(char* name, int length, int device) {
  return std::snprintf(name, static_cast<size_t>(length), "%s", find(device)->name), 0;
}
FAKE_API int hipDeviceGetPCIBusId(char* address, int length, int device) {
  return std::snprintf(address, static_cast<size_t>(length), "%s", find(device)->pci_address), 0;
}
FAKE_API int hipDeviceTotalMem(size_t* bytes, int) { return *bytes = state.memory, 0; }
FAKE_API int hipDeviceGetAttribute(int* value, int attribute, int device) {
  return *value = attribute_value(attribute, *find(device)), *value < 0 ? kInvalidValue : 0;
}

/* The layout of ROCm 6: the name at the start, gcnArchName at byte 1,160 of 1,472. */
FAKE_API int hipGetDevicePropertiesR0600(void* properties, int device) {
  if (!find(device)) return kInvalidDevice;
  char* const bytes = static_cast<char*>(properties);
  std::memset(bytes, 0, 1472);
  std::snprintf(bytes, 256, "%s", find(device)->name);
  std::snprintf(bytes + 1160, 256, "%s", find(device)->architecture);
  return 0;
}

FAKE_API int hipGetDevice(int* device) {
  if (state.while_binding) state.while_binding();
  return *device = state.current_device, begin();
}
FAKE_API int hipSetDevice(int device) {
  if (const int code = begin()) return code;
  if (!find(device)) return kInvalidDevice;
  state.current_device = device;
  return 0;
}
/* A context's handle is its device and one. */
FAKE_API int hipCtxSetCurrent(void* context) {
  return hipSetDevice(static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1);
}

FAKE_API int hipMalloc(void** address, size_t bytes) {
  return bytes > state.memory ? kOutOfMemory : make(address, bytes);
}
FAKE_API int hipFree(void* address) { return give_back(address); }
FAKE_API int hipHostMalloc(void** host, size_t bytes, unsigned) { return make(host, bytes); }
FAKE_API int hipHostFree(void* host) { return give_back(host); }

FAKE_API int hipMemcpyHtoDAsync(void* to, const void* from, size_t bytes, void*) {
  if (const int code = begin()) return code;
  std::memcpy(to, from, bytes);
  return 0;
}
FAKE_API int hipMemcpyDtoHAsync(void* to, const void* from, size_t bytes, void* stream) {
  return hipMemcpyHtoDAsync(to, from, bytes, stream);
}
FAKE_API int hipMemcpy2DAsync(void* to, size_t to_stride, const void* from, size_t from_stride, size_t row_bytes,
                              size_t rows, int, void*) {
  if (const int code = begin()) return code;
  for (size_t y = 0; y < rows; y++)
    std::memcpy(static_cast<char*>(to) + y * to_stride, static_cast<const char*>(from) + y * from_stride, row_bytes);
  return 0;
}
FAKE_API int hipMemsetD32Async(void* to, int value, size_t words, void*) {
  if (const int code = begin()) return code;
  for (size_t i = 0; i < words; i++) static_cast<int*>(to)[i] = value;
  return 0;
}

FAKE_API int hipStreamCreateWithFlags(void** stream, unsigned) { return make(stream); }
FAKE_API int hipStreamDestroy(void* stream) { return give_back(stream); }
FAKE_API int hipStreamWaitEvent(void*, void*, unsigned) { return begin(); }
FAKE_API int hipEventCreateWithFlags(void** event, unsigned) { return make(event); }
FAKE_API int hipEventDestroy(void* event) { return give_back(event); }
FAKE_API int hipEventRecord(void*, void*) { return begin(); }
FAKE_API int hipEventQuery(void*) {
  if (const int code = begin()) return code;
  return state.hangs ? kNotReady : 0;
}
FAKE_API int hipEventElapsedTime(float* milliseconds, void*, void*) { return *milliseconds = 0.25f, begin(); }

FAKE_API int hipModuleLoadData(void** module, const void*) { return make(module); }
FAKE_API int hipModuleUnload(void* module) { return give_back(module); }
FAKE_API int hipModuleGetFunction(void** function, void* module, const char* name) {
  if (const int code = begin()) return code;
  *function = module;
  return std::strncmp(name, "no_", 3) ? 0 : kNotFound;
}
FAKE_API int hipModuleLaunchKernel(void*, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                   unsigned block_y, unsigned block_z, unsigned shared_bytes, void*, void** arguments,
                                   void**) {
  if (const int code = begin()) return code;
  state.grid[0] = grid_x, state.grid[1] = grid_y, state.grid[2] = grid_z;
  state.block[0] = block_x, state.block[1] = block_y, state.block[2] = block_z;
  state.shared_bytes = shared_bytes;
  state.arguments = 0;
  size_t used = 0;
  for (; arguments[state.arguments]; used += state.argument_sizes[state.arguments++])
    std::memcpy(state.argument_bytes + used, arguments[state.arguments], state.argument_sizes[state.arguments]);
  return 0;
}
