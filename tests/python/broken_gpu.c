/* A runtime of HIP whose GPU is broken in one of the ways that BROKEN names. Preloaded, it also decides what is known
 * of AMD's driver:
 *
 *     driver      the driver is not there           code        there is no code for the GPU
 *     permission  its device may not be opened      wrong       kernels compute nothing
 *     device      it has no GPU                     crash       the runtime ends the process */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_DEVICE = 100 };

static int is(const char *way) {
  const char *chosen = getenv("BROKEN");
  return chosen && !strcmp(chosen, way);
}

int access(const char *path, int mode) {
  int (*system_access)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");
  if (strcmp(path, "/dev/kfd")) return system_access(path, mode);
  errno = is("driver") ? ENOENT : EACCES;
  return is("driver") || (is("permission") && mode != F_OK) ? -1 : 0;
}

int hipInit(unsigned flags) {
  (void)flags;
  if (is("crash")) abort();
  return is("code") || is("wrong") ? 0 : NO_DEVICE;
}

const char *hipGetErrorString(int code) { return code == NO_DEVICE ? "no device" : "it failed"; }
int hipRuntimeGetVersion(int *version) { return *version = 60000000, 0; }
int hipGetDeviceCount(int *count) { return *count = 1, 0; }
int hipDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
int hipDeviceGetName(char *name, int length, int device) { return strncpy(name, "Broken", length + device), 0; }
int hipDeviceGetPCIBusId(char *address, int length, int device) {
  return strncpy(address, "0000:03:00.0", length + device), 0;
}
int hipDeviceTotalMem(size_t *bytes, int device) { return *bytes = (size_t)8 << 30, device; }
int hipDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
    case 16: return *value = 0, device;      // integrated
    case 87: return *value = 32, device;     // lanes of a wave
    default: return *value = 65535, device;  // limits of launches
  }
}
int hipGetDevice(int *ordinal) { return *ordinal = 0, 0; }

/* Handles and memory: that of the host, filled with zeros. */
static int make(void **handle, size_t bytes) { return *handle = calloc(bytes, 1), 0; }
int hipMalloc(void **address, size_t bytes) { return make(address, bytes); }
int hipHostMalloc(void **address, size_t bytes, unsigned flags) { return make(address, bytes + flags % 2); }
int hipStreamCreateWithFlags(void **stream, unsigned flags) { return make(stream, 1 + flags % 2); }
int hipEventCreateWithFlags(void **event, unsigned flags) { return make(event, 1 + flags % 2); }
int hipModuleLoadData(void **module, const void *image) { return (void)image, make(module, 1); }
int hipModuleGetFunction(void **function, void *module, const char *name) {
  return (void)module, (void)name, make(function, 1);
}

#define DOES_NOTHING(name) \
  int name(void) { return 0; }
DOES_NOTHING(hipSetDevice)
DOES_NOTHING(hipFree)
DOES_NOTHING(hipHostFree)
DOES_NOTHING(hipMemcpyHtoDAsync)
DOES_NOTHING(hipMemcpyDtoHAsync)
DOES_NOTHING(hipMemcpy2DAsync)
DOES_NOTHING(hipMemsetD32Async)
DOES_NOTHING(hipStreamDestroy)
DOES_NOTHING(hipStreamWaitEvent)
DOES_NOTHING(hipEventDestroy)
DOES_NOTHING(hipEventRecord)
DOES_NOTHING(hipEventQuery)
DOES_NOTHING(hipEventElapsedTime)
DOES_NOTHING(hipModuleUnload)
DOES_NOTHING(hipModuleLaunchKernel)

/* It brings code along as the emulator does, unless there is to be none. */
const void *vmafx_emulator_image(void) { return is("wrong") ? "code" : NULL; }
