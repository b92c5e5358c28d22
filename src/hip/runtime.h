/* The GPU runtime, found when it is needed: no library is linked, so one build runs with and without a GPU.
 *
 * There are two platforms behind one table of functions: AMD's HIP runtime (libamdhip64) and, since its driver calls
 * have the same shapes, NVIDIA's driver (libcuda). The environment variable VMAFX_HIP_RUNTIME names another library
 * to load instead of both; it may be of either kind. */
#ifndef VMAFX_HIP_RUNTIME_H
#define VMAFX_HIP_RUNTIME_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/system/library.h"

namespace vmafx::hip {

/* hipError_t; CUresult has the same numbers for what is told apart here. */
using Error = int;
inline constexpr Error kSuccess = 0;
inline constexpr Error kErrorOutOfMemory = 2;
inline constexpr Error kErrorNoDevice = 100;
inline constexpr Error kErrorNotReady = 600;

/* Handles of the runtime, never looked into. */
using NativeContext = struct NativeContextRecord*;
using NativeStream = struct NativeStreamRecord*;
using NativeEvent = struct NativeEventRecord*;
using NativeModule = struct NativeModuleRecord*;
using NativeFunction = struct NativeFunctionRecord*;
using NativeImport = struct NativeImportRecord*;
using NativeSemaphore = struct NativeSemaphoreRecord*;
using Address = uint64_t;  // in device memory: void* in HIP, CUdeviceptr in CUDA
static_assert(sizeof(void*) == sizeof(Address), "device addresses are passed as 64-bit integers");

/* The device that the calling thread's calls go to: HIP goes by the ordinal, CUDA by the context. */
struct Binding {
  int ordinal = 0;
  NativeContext context = nullptr;
};

/* Numbers of hipDeviceAttribute_t, the same in ROCm 5, 6 and 7. */
enum class Attribute : int {
  kIntegrated = 16,
  kCapabilityMajor = 23,
  kMaxGridX = 29,
  kMaxGridY = 30,
  kMaxThreadsPerBlock = 56,
  kCapabilityMinor = 61,
  kMultiprocessors = 63,
  kMaxSharedPerBlock = 74,
  kWaveSize = 87,
};

inline constexpr unsigned kStreamNonBlocking = 1, kEventBlockingSync = 1, kEventDisableTiming = 2;
inline constexpr int kCopyToDevice = 1, kCopyToHost = 2, kCopyOnDevice = 3;  // hipMemcpyKind

/* hipExternalMemoryHandleDesc, CUDA_EXTERNAL_MEMORY_HANDLE_DESC. ROCm's grew the reserved words in version 6. */
struct ImportSource {
  int type;
  union {
    int fd;
    void* other[2];
  } handle;
  unsigned long long size;
  unsigned flags;
  unsigned reserved[16];
};
static_assert(sizeof(ImportSource) == 104);

inline constexpr int kImportOpaqueFd = 1;  // hipExternalMemoryHandleTypeOpaqueFd, its CUDA counterpart

/* hipExternalMemoryBufferDesc, CUDA_EXTERNAL_MEMORY_BUFFER_DESC. */
struct ImportPart {
  unsigned long long offset, size;
  unsigned flags;
  unsigned reserved[16];
};
static_assert(sizeof(ImportPart) == 88);

/* hipExternalSemaphoreHandleDesc, CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC. */
struct SemaphoreSource {
  int type;
  union {
    int fd;
    void* other[2];
  } handle;
  unsigned flags;
  unsigned reserved[16];
};
static_assert(sizeof(SemaphoreSource) == 96);

inline constexpr int kImportTimelineFd = 9;  // hipExternalSemaphoreHandleTypeTimelineSemaphoreFd, its counterpart

/* hipExternalSemaphoreWaitParams, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS. */
struct SemaphoreWait {
  unsigned long long value;
  unsigned long long other[3];  // of semaphores of other kinds
  unsigned reserved_of_kinds[10];
  unsigned flags;
  unsigned reserved[16];
};
static_assert(sizeof(SemaphoreWait) == 144);

using Uuid = std::array<uint8_t, 16>;

/* The functions in use, by their HIP names without the prefix; shapes and flags are HIP's. */
struct Functions {
  Error (*Init)(unsigned flags);
  Error (*RuntimeGetVersion)(int* version);
  const char* (*GetErrorString)(Error);

  Error (*GetDeviceCount)(int* count);
  Error (*DeviceGet)(int* device, int ordinal);
  Error (*DeviceGetName)(char* name, int length, int device);
  Error (*DeviceGetPCIBusId)(char* address, int length, int device);
  Error (*DeviceTotalMem)(size_t* bytes, int device);
  Error (*DeviceGetAttribute)(int* value, Attribute attribute, int device);
  Error (*DeviceGetUuid)(Uuid* uuid,
                         int device) = nullptr;  // the one that Vulkan knows, too; null on HIP, which lacks it
  /* HIP's alone, null where it is missing. The layout of its struct depends on the version. */
  Error (*GetDeviceProperties)(void* properties, int ordinal) = nullptr;

  /* Not of HIP. retain: the context to use a device with (its primary one), which the last release() may destroy.
   * enter and leave bracket the calls of a thread. device_of: the ordinal of an application's context. */
  Error (*retain)(const Functions&, int device, NativeContext* context);
  Error (*release)(const Functions&, int device);
  Error (*enter)(const Functions&, const Binding& target, Binding* previous);
  Error (*leave)(const Functions&, const Binding& target, const Binding& previous);
  Error (*device_of)(const Functions&, NativeContext context, int* ordinal);
  Error (*GetDevice)(int* ordinal);  // for the five above, HIP only
  Error (*SetDevice)(int ordinal);
  Error (*SetDeviceFlags)(unsigned flags);
  Error (*CtxSetCurrent)(NativeContext context);

  Error (*Malloc)(Address* address, size_t bytes);
  Error (*Free)(Address address);
  Error (*HostMalloc)(void** host, size_t bytes, unsigned flags);
  Error (*HostFree)(void* host);
  Error (*MemcpyHtoDAsync)(Address to, const void* from, size_t bytes, NativeStream stream);
  Error (*MemcpyDtoHAsync)(void* to, Address from, size_t bytes, NativeStream stream);
  Error (*Memcpy2DAsync)(void* to, size_t to_stride, const void* from, size_t from_stride, size_t row_bytes,
                         size_t rows, int kind, NativeStream stream);
  Error (*MemsetD32Async)(Address to, int value, size_t words, NativeStream stream);

  Error (*StreamCreateWithFlags)(NativeStream* stream, unsigned flags);
  Error (*StreamDestroy)(NativeStream stream);
  Error (*StreamWaitEvent)(NativeStream stream, NativeEvent event, unsigned flags);
  Error (*EventCreateWithFlags)(NativeEvent* event, unsigned flags);
  Error (*EventDestroy)(NativeEvent event);
  Error (*EventRecord)(NativeEvent event, NativeStream stream);
  Error (*EventQuery)(NativeEvent event);
  Error (*EventElapsedTime)(float* milliseconds, NativeEvent start, NativeEvent end);

  Error (*ModuleLoadData)(NativeModule* module, const void* image);
  Error (*ModuleUnload)(NativeModule module);
  Error (*ModuleGetFunction)(NativeFunction* function, NativeModule module, const char* name);
  Error (*ModuleLaunchKernel)(NativeFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                              NativeStream stream, void** arguments, void** extra);

  /* Memory of others as device memory; null where the runtime cannot. A descriptor that was imported belongs to the
   * runtime from then on if `import_keeps_fd`, else it stays the caller's in any case. */
  Error (*ImportExternalMemory)(NativeImport* import, const ImportSource* source) = nullptr;
  Error (*ExternalMemoryGetMappedBuffer)(Address* address, NativeImport import, const ImportPart* part) = nullptr;
  Error (*DestroyExternalMemory)(NativeImport import) = nullptr;
  int import_type = 0;           // the constant for a dma-buf: hipExternalMemoryHandleType, CUexternalMemoryHandleType
  bool import_keeps_fd = false;  // of semaphores, too

  /* Timeline semaphores of others; null where the runtime cannot. */
  Error (*ImportExternalSemaphore)(NativeSemaphore* semaphore, const SemaphoreSource* source) = nullptr;
  Error (*WaitExternalSemaphoresAsync)(const NativeSemaphore* semaphores, const SemaphoreWait* waits, unsigned count,
                                       NativeStream stream) = nullptr;
  Error (*DestroyExternalSemaphore)(NativeSemaphore semaphore) = nullptr;

  /* Only the emulators of the tests have these: the architecture that one calls itself, and the image of the kernels
   * that it carries, nullptr if it runs those that are embedded. */
  const char* (*emulator_arch)() = nullptr;
  const void* (*emulator_image)() = nullptr;
};

enum class Platform { kHip, kCuda };

/* Names of one library, the first that is there to be taken. */
struct Libraries {
  std::vector<std::string> names;
  const char* kind = "HIP runtime library";
  std::optional<Platform> platform{};  // if that is known before one is loaded
};

class Runtime {
 public:
  /* The libraries to look for devices in, in order of preference. */
  static std::vector<Libraries> candidates();
  static bool is_named();  // by VMAFX_HIP_RUNTIME

  /* Loads a runtime, which stays loaded, and is the same object for every caller. ENOENT: there is none;
   * system::kUnloadable: one is there and could not be loaded, with the loader's own words; ENOSYS: it lacks a
   * function. */
  static StatusOr<const Runtime*> load(const Libraries& libraries);

  const Functions& functions() const { return functions_; }
  const std::string& library() const { return library_; }
  Platform platform() const { return platform_; }
  bool is_emulator() const { return functions_.emulator_arch != nullptr; }

  /* A failed call as a Status, with the runtime's own text. `call` is the name in Functions. */
  Status failure(int errno_value, const char* call, Error code) const;

 private:
  static StatusOr<Runtime> open(void* library, const std::string& name);

  Functions functions_{};
  std::string library_;
  Platform platform_ = Platform::kHip;
};

/* Looks up the functions of a loaded library and remembers the first missing one. */
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <class Function>
  Symbols& need(const char* name, Function*& function) {
    if (!optional(name, function) && missing_.empty()) missing_ = name;
    return *this;
  }

  template <class Function>
  bool optional(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(system::find_symbol(library_, name));
    return function != nullptr;
  }

  const std::string& missing() const { return missing_; }  // "" if all were there

 private:
  void* library_;
  std::string missing_;
};

/* Fill the table. */
void fill_from_hip(Symbols& symbols, Functions* functions);
void fill_from_cuda(Symbols& symbols, Functions* functions);

}  // namespace vmafx::hip

#endif
