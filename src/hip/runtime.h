/* The HIP runtime, found when it is needed: the library is never linked, so one build runs with and without a GPU. */
#ifndef VMAFX_HIP_RUNTIME_H
#define VMAFX_HIP_RUNTIME_H

#include <string>

#include "base/status.h"

namespace vmafx::hip {

using Error = int;  // hipError_t; 0 is success
inline constexpr Error kErrorNoDevice = 100;  // hipErrorNoDevice

/* The entry points that are used, by the names of the HIP runtime API without their prefix. */
struct Functions {
  Error (*Init)(unsigned flags);
  Error (*RuntimeGetVersion)(int* version);
  Error (*GetDeviceCount)(int* count);
  Error (*DeviceGet)(int* device, int ordinal);
  Error (*DeviceGetName)(char* name, int length, int device);
  Error (*DeviceGetPCIBusId)(char* address, int length, int device);
  const char* (*GetErrorString)(Error);
};

class Runtime {
 public:
  /* Loads the library named by the environment variable VMAFX_HIP_RUNTIME, else the first of libamdhip64.so.7, .6 and .5
   * that is there. Once per process; it stays loaded. ENOENT: no library could be loaded, with the loader's own words;
   * ENOSYS: it lacks a function. */
  static StatusOr<const Runtime*> load();

  const Functions& functions() const { return functions_; }
  const std::string& library() const { return library_; }

  /* A failed call as a Status, with the runtime's own text. */
  Status failure(int errno_value, const char* call, Error code) const;

 private:
  static StatusOr<Runtime> load_library();

  Functions functions_{};
  std::string library_;
};

}  // namespace vmafx::hip

#endif
