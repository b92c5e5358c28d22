/* The table of functions, filled from NVIDIA's driver. Most of its calls have HIP's shape and numbers and stand in
 * the table as they are; the rest get an adapter here. Nothing of CUDA is included or linked: the few types are
 * declared as cuda.h has them. */
#include "hip/runtime.h"

namespace vmafx::hip {
namespace {

constexpr unsigned kContextBlockingSync = 4;  // CU_CTX_SCHED_BLOCKING_SYNC
constexpr int kLimitStackSize = 0;            // CU_LIMIT_STACK_SIZE
constexpr size_t kLeastStack = 1;             // the driver rounds it up
constexpr Error kErrorInvalidValue = 1;
constexpr int kImportDmabufFd = 9;  // CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD: so far on Jetson Thor only

struct Copy2D {  // CUDA_MEMCPY2D_v2
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  Address from_device;
  void* from_array;
  size_t from_stride;
  size_t to_x, to_y;
  int to_type;
  void* to_host;
  Address to_device;
  void* to_array;
  size_t to_stride;
  size_t row_bytes, rows;
};

/* Calls of another shape than HIP's. One driver per process, so they may be static; filled before any adapter can be
 * called. */
struct Native {
  Error (*GetErrorString)(Error code, const char** text);
  Error (*DeviceGetAttribute)(int* value, int attribute, int device);
  Error (*DevicePrimaryCtxRetain)(NativeContext* context, int device);
  Error (*DevicePrimaryCtxRelease)(int device);
  Error (*DevicePrimaryCtxSetFlags)(int device, unsigned flags);
  Error (*DevicePrimaryCtxGetState)(int device, unsigned* flags, int* active);
  Error (*CtxSetLimit)(int limit, size_t value);
  Error (*CtxPushCurrent)(NativeContext context);
  Error (*CtxPopCurrent)(NativeContext* context);
  Error (*CtxGetDevice)(int* device);
  Error (*Memcpy2DAsync)(const Copy2D* copy, NativeStream stream);
};
Native native;

const char* error_string(Error code) {
  const char* text = nullptr;
  native.GetErrorString(code, &text);
  return text;
}

int cuda_number(Attribute attribute) {
  switch (attribute) {
    case Attribute::kIntegrated: return 18;
    case Attribute::kCapabilityMajor: return 75;
    case Attribute::kCapabilityMinor: return 76;
    case Attribute::kMaxGridX: return 5;
    case Attribute::kMaxGridY: return 6;
    case Attribute::kMaxThreadsPerBlock: return 1;
    case Attribute::kMultiprocessors: return 16;
    case Attribute::kMaxSharedPerBlock: return 8;
    case Attribute::kWaveSize: return 10;
  }
  return 0;
}

Error device_attribute(int* value, Attribute attribute, int device) {
  return native.DeviceGetAttribute(value, cuda_number(attribute), device);
}

bool is_active(int device) {
  unsigned flags = 0;
  int active = 1;
  return !native.DevicePrimaryCtxGetState || native.DevicePrimaryCtxGetState(device, &flags, &active) || active;
}

/* A context keeps memory for the stacks of all threads that the device can run at once: with the driver's 1 KiB for
 * each, half of what a context takes (docs/gpu-results.md). Our kernels have no stacks, and the driver makes room by
 * itself for a kernel that has. */
void keep_little_for_stacks(NativeContext context) {
  if (!native.CtxSetLimit || native.CtxPushCurrent(context)) return;
  (void)native.CtxSetLimit(kLimitStackSize, kLeastStack);
  NativeContext popped = nullptr;
  (void)native.CtxPopCurrent(&popped);
}

/* How a context that others use already waits, and what it keeps, is theirs to say. */
Error retain(const Functions&, int device, NativeContext* context) {
  const bool is_new = !is_active(device);
  /* Calls that do wait should sleep meanwhile. */
  if (is_new && native.DevicePrimaryCtxSetFlags) (void)native.DevicePrimaryCtxSetFlags(device, kContextBlockingSync);
  const Error code = native.DevicePrimaryCtxRetain(context, device);
  if (!code && is_new) keep_little_for_stacks(*context);
  return code;
}

Error release(const Functions&, int device) { return native.DevicePrimaryCtxRelease(device); }

Error enter(const Functions&, const Binding& target, Binding*) { return native.CtxPushCurrent(target.context); }

Error leave(const Functions&, const Binding&, const Binding&) {
  NativeContext popped = nullptr;
  return native.CtxPopCurrent(&popped);
}

Error device_of(const Functions&, NativeContext context, int* ordinal) {
  if (const Error code = native.CtxPushCurrent(context)) return code;
  const Error code = native.CtxGetDevice(ordinal);
  NativeContext popped = nullptr;
  const Error restored = native.CtxPopCurrent(&popped);
  return code ? code : restored;
}

Error copy_2d(void* to, size_t to_stride, const void* from, size_t from_stride, size_t row_bytes, size_t rows, int kind,
              NativeStream stream) {
  constexpr int kHost = 1, kDevice = 2;  // CUmemorytype
  if (kind != kCopyToDevice && kind != kCopyToHost && kind != kCopyOnDevice) return kErrorInvalidValue;
  Copy2D copy{};
  copy.from_type = kind == kCopyToDevice ? kHost : kDevice;
  copy.from_host = from;
  copy.from_device = reinterpret_cast<Address>(from);
  copy.from_stride = from_stride;
  copy.to_type = kind == kCopyToHost ? kHost : kDevice;
  copy.to_host = to;
  copy.to_device = reinterpret_cast<Address>(to);
  copy.to_stride = to_stride;
  copy.row_bytes = row_bytes;
  copy.rows = rows;
  return native.Memcpy2DAsync(&copy, stream);
}

void fill_native(Symbols& symbols) {
  symbols.need("cuGetErrorString", native.GetErrorString)
      .need("cuDeviceGetAttribute", native.DeviceGetAttribute)
      .need("cuDevicePrimaryCtxRetain", native.DevicePrimaryCtxRetain)
      .need("cuDevicePrimaryCtxRelease_v2", native.DevicePrimaryCtxRelease)
      .need("cuCtxPushCurrent_v2", native.CtxPushCurrent)
      .need("cuCtxPopCurrent_v2", native.CtxPopCurrent)
      .need("cuCtxGetDevice", native.CtxGetDevice)
      .need("cuMemcpy2DAsync_v2", native.Memcpy2DAsync);
  symbols.optional("cuDevicePrimaryCtxSetFlags_v2", native.DevicePrimaryCtxSetFlags);
  symbols.optional("cuDevicePrimaryCtxGetState", native.DevicePrimaryCtxGetState);
  symbols.optional("cuCtxSetLimit", native.CtxSetLimit);
}

}  // namespace

void fill_from_cuda(Symbols& symbols, Functions* f) {
  fill_native(symbols);
  symbols.need("cuInit", f->Init)
      .need("cuDriverGetVersion", f->RuntimeGetVersion)
      .need("cuDeviceGetCount", f->GetDeviceCount)
      .need("cuDeviceGet", f->DeviceGet)
      .need("cuDeviceGetName", f->DeviceGetName)
      .need("cuDeviceGetPCIBusId", f->DeviceGetPCIBusId)
      .need("cuDeviceTotalMem_v2", f->DeviceTotalMem)
      .need("cuMemAlloc_v2", f->Malloc)
      .need("cuMemFree_v2", f->Free)
      .need("cuMemHostAlloc", f->HostMalloc)
      .need("cuMemFreeHost", f->HostFree)
      .need("cuMemcpyHtoDAsync_v2", f->MemcpyHtoDAsync)
      .need("cuMemcpyDtoHAsync_v2", f->MemcpyDtoHAsync)
      .need("cuMemsetD32Async", f->MemsetD32Async)
      .need("cuStreamCreate", f->StreamCreateWithFlags)
      .need("cuStreamDestroy_v2", f->StreamDestroy)
      .need("cuStreamWaitEvent", f->StreamWaitEvent)
      .need("cuEventCreate", f->EventCreateWithFlags)
      .need("cuEventDestroy_v2", f->EventDestroy)
      .need("cuEventRecord", f->EventRecord)
      .need("cuEventQuery", f->EventQuery)
      .need("cuEventElapsedTime", f->EventElapsedTime)
      .need("cuModuleLoadData", f->ModuleLoadData)
      .need("cuModuleUnload", f->ModuleUnload)
      .need("cuModuleGetFunction", f->ModuleGetFunction)
      .need("cuLaunchKernel", f->ModuleLaunchKernel);
  symbols.optional("cuImportExternalMemory", f->ImportExternalMemory);
  symbols.optional("cuExternalMemoryGetMappedBuffer", f->ExternalMemoryGetMappedBuffer);
  symbols.optional("cuDestroyExternalMemory", f->DestroyExternalMemory);
  symbols.optional("cuImportExternalSemaphore", f->ImportExternalSemaphore);
  symbols.optional("cuWaitExternalSemaphoresAsync", f->WaitExternalSemaphoresAsync);
  symbols.optional("cuDestroyExternalSemaphore", f->DestroyExternalSemaphore);
  if (!symbols.optional("cuDeviceGetUuid_v2", f->DeviceGetUuid)) symbols.optional("cuDeviceGetUuid", f->DeviceGetUuid);
  f->import_type = kImportDmabufFd;
  f->import_keeps_fd = true;
  f->GetErrorString = error_string;
  f->DeviceGetAttribute = device_attribute;
  f->Memcpy2DAsync = copy_2d;
  f->retain = retain;
  f->release = release;
  f->enter = enter;
  f->leave = leave;
  f->device_of = device_of;
}

}  // namespace vmafx::hip
