/* Memory of an NVIDIA GPU, in the context that a program imports (libvmaf_cuda.h): pictures that the program fills on
 * the GPU, and that vmafx reads there. */
#ifndef COMPAT_LIBVMAF_CUDA_H
#define COMPAT_LIBVMAF_CUDA_H

#include <cstddef>
#include <cstdint>
#include <memory>

namespace compat {

/* The driver's functions that are needed here, with the types that cuda.h has. */
struct CudaDriver {
  int (*init)(unsigned flags);
  int (*device_get)(int* device, int ordinal);
  int (*primary_retain)(void** context, int device);
  int (*primary_release)(int device);
  int (*push)(void* context);
  int (*pop)(void** context);
  int (*allocate)(uint64_t* address, size_t bytes);
  int (*free)(uint64_t address);
  int (*download)(void* to, uint64_t from, size_t bytes);

  /* Null: there is none, and the log says so. */
  static const CudaDriver* get();
};

/* A function of the driver that the program or the system has; null: there is none. (driver_posix.cpp,
 * driver_windows.cpp) */
void* find_in_driver(const char* name);

class Cuda {
 public:
  /* `context`: the program's CUcontext, which must outlive the VmafContext; null: the primary one of the first GPU.
   * EINVAL, and the log says why. */
  static int open(void* context, std::shared_ptr<const Cuda>* cuda);
  ~Cuda();
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;

  void* context() const { return context_; }
  void* allocate(size_t bytes) const;  // null: there is no memory
  void free(void* memory) const;
  int download(void* to, const void* from, size_t bytes) const;  // waits for it

 private:
  explicit Cuda(const CudaDriver& driver) : driver_(driver) {}

  const CudaDriver& driver_;
  void* context_ = nullptr;
  int retained_ = -1;  // the GPU whose primary context this holds; -1: none
};

}  // namespace compat

#endif
