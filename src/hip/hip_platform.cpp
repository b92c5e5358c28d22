/* The table of functions, filled from AMD's HIP runtime (or from the emulator of the tests). */
#include "hip/runtime.h"

namespace vmafx::hip {
namespace {

constexpr unsigned kDeviceScheduleBlockingSync = 4;

/* A HIP device's primary context is there from its first use, and needs no handle. */
Error retain(const Functions& hip, int device, NativeContext* context) {
  *context = nullptr;
  if (const Error code = hip.SetDevice(device)) return code;
  /* Calls that do wait (freeing, loading) should sleep meanwhile. It is refused once the device is in use, which is
   * fine. */
  if (hip.SetDeviceFlags) (void)hip.SetDeviceFlags(kDeviceScheduleBlockingSync);
  return kSuccess;
}

Error release(const Functions&, int) { return kSuccess; }

Error enter(const Functions& hip, const Binding& target, Binding* previous) {
  if (const Error code = hip.GetDevice(&previous->ordinal)) return code;
  return previous->ordinal == target.ordinal ? kSuccess : hip.SetDevice(target.ordinal);
}

Error leave(const Functions& hip, const Binding& target, const Binding& previous) {
  return previous.ordinal == target.ordinal ? kSuccess : hip.SetDevice(previous.ordinal);
}

Error device_of(const Functions& hip, NativeContext context, int* ordinal) {
  constexpr Error kErrorNotSupported = 801;
  if (!hip.CtxSetCurrent) return kErrorNotSupported;
  int previous = 0;
  if (const Error code = hip.GetDevice(&previous)) return code;
  Error code = hip.CtxSetCurrent(context);
  if (!code) code = hip.GetDevice(ordinal);
  const Error restored = hip.SetDevice(previous);
  return code ? code : restored;
}

/* AMD's runtime has these functions, but on Linux it ends the program in them, or refuses. */
void fill_semaphores(Symbols& symbols, Functions* f) {
  symbols.optional("hipImportExternalSemaphore", f->ImportExternalSemaphore);
  symbols.optional("hipWaitExternalSemaphoresAsync", f->WaitExternalSemaphoresAsync);
  symbols.optional("hipDestroyExternalSemaphore", f->DestroyExternalSemaphore);
}

}  // namespace

void fill_from_hip(Symbols& symbols, Functions* f) {
  symbols.need("hipInit", f->Init)
      .need("hipRuntimeGetVersion", f->RuntimeGetVersion)
      .need("hipGetErrorString", f->GetErrorString)
      .need("hipGetDeviceCount", f->GetDeviceCount)
      .need("hipDeviceGet", f->DeviceGet)
      .need("hipDeviceGetName", f->DeviceGetName)
      .need("hipDeviceGetPCIBusId", f->DeviceGetPCIBusId)
      .need("hipDeviceTotalMem", f->DeviceTotalMem)
      .need("hipDeviceGetAttribute", f->DeviceGetAttribute)
      .need("hipGetDevice", f->GetDevice)
      .need("hipSetDevice", f->SetDevice)
      .need("hipMalloc", f->Malloc)
      .need("hipFree", f->Free)
      .need("hipHostMalloc", f->HostMalloc)
      .need("hipHostFree", f->HostFree)
      .need("hipMemcpyHtoDAsync", f->MemcpyHtoDAsync)
      .need("hipMemcpyDtoHAsync", f->MemcpyDtoHAsync)
      .need("hipMemcpy2DAsync", f->Memcpy2DAsync)
      .need("hipMemsetD32Async", f->MemsetD32Async)
      .need("hipStreamCreateWithFlags", f->StreamCreateWithFlags)
      .need("hipStreamDestroy", f->StreamDestroy)
      .need("hipStreamWaitEvent", f->StreamWaitEvent)
      .need("hipEventCreateWithFlags", f->EventCreateWithFlags)
      .need("hipEventDestroy", f->EventDestroy)
      .need("hipEventRecord", f->EventRecord)
      .need("hipEventQuery", f->EventQuery)
      .need("hipEventElapsedTime", f->EventElapsedTime)
      .need("hipModuleLoadData", f->ModuleLoadData)
      .need("hipModuleUnload", f->ModuleUnload)
      .need("hipModuleGetFunction", f->ModuleGetFunction)
      .need("hipModuleLaunchKernel", f->ModuleLaunchKernel);
  if (!symbols.optional("hipGetDevicePropertiesR0600", f->GetDeviceProperties))
    symbols.optional("hipGetDeviceProperties", f->GetDeviceProperties);
  symbols.optional("hipSetDeviceFlags", f->SetDeviceFlags);
  symbols.optional("hipCtxSetCurrent", f->CtxSetCurrent);
  symbols.optional("hipImportExternalMemory", f->ImportExternalMemory);
  symbols.optional("hipExternalMemoryGetMappedBuffer", f->ExternalMemoryGetMappedBuffer);
  symbols.optional("hipDestroyExternalMemory", f->DestroyExternalMemory);
  f->import_type = kImportOpaqueFd;  // on Linux any dma-buf
  symbols.optional("vmafx_emulator_arch", f->emulator_arch);
  if (f->emulator_arch) fill_semaphores(symbols, f);
  symbols.optional("vmafx_emulator_image", f->emulator_image);
  f->retain = retain;
  f->release = release;
  f->enter = enter;
  f->leave = leave;
  f->device_of = device_of;
}

}  // namespace vmafx::hip
