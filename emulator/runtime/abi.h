/* The part of HIP's binary interface that the emulator offers: numbers and layouts as in ROCm 5 to 7. */
#ifndef VMAFX_EMULATOR_RUNTIME_ABI_H
#define VMAFX_EMULATOR_RUNTIME_ABI_H

#include <cstddef>
#include <cstdint>

#define EMULATOR_API extern "C" [[gnu::visibility("default")]]

namespace vmafx::emulator {

/* hipError_t. */
enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidConfiguration = 9,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchFailure = 719,
  kNotSupported = 801,
  kUnknown = 999,
};

/* hipDeviceAttribute_t. */
enum Attribute : int {
  kAttributeIntegrated = 16,
  kAttributeCapabilityMajor = 23,
  kAttributeMaxBlockX = 26,
  kAttributeMaxBlockY = 27,
  kAttributeMaxBlockZ = 28,
  kAttributeMaxGridX = 29,
  kAttributeMaxGridY = 30,
  kAttributeMaxGridZ = 31,
  kAttributeMaxThreadsPerBlock = 56,
  kAttributeCapabilityMinor = 61,
  kAttributeMultiprocessors = 63,
  kAttributePciBus = 67,
  kAttributePciDevice = 68,
  kAttributePciDomain = 69,
  kAttributeMaxSharedPerBlock = 74,
  kAttributeWaveSize = 87,
};

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
enum CopyKind : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice };  // hipMemcpyKind
inline constexpr int kExternalOpaqueFd = 1;                                          // hipExternalMemoryHandleType

/* hipExternalMemoryHandleDesc; newer versions append reserved words, which are not read. */
struct ExternalMemory {
  int type;
  union {
    int fd;
    void* other[2];
  } handle;
  unsigned long long size;
  unsigned flags;
};
static_assert(sizeof(ExternalMemory) == 40);

inline constexpr int kExternalTimelineFd = 9;  // hipExternalSemaphoreHandleType

/* hipExternalSemaphoreHandleDesc, without reserved words at its end, which are not read. */
struct ExternalSemaphore {
  int type;
  union {
    int fd;
    void* other[2];
  } handle;
  unsigned flags;
};

/* hipExternalSemaphoreWaitParams, likewise only what is read. */
struct ExternalWait {
  unsigned long long value;
};

/* hipExternalMemoryBufferDesc. */
struct ExternalBuffer {
  unsigned long long offset, size;
  unsigned flags;
};

}  // namespace vmafx::emulator

#endif
