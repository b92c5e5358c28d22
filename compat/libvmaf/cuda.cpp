#include "compat/libvmaf/cuda.h"

#include <cerrno>
#include <cstdlib>
#include <optional>

#include "compat/libvmaf/context.h"
#include "compat/libvmaf/log.h"

/* From malloc(), as libvmaf's: programs may free it with free(). */
struct VmafCudaState {
  void* context;  // CUcontext; null: the primary one of the first GPU
};

namespace compat {
namespace {

template <class Function>
bool find(const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(find_in_driver(name));
  return function != nullptr;
}

std::optional<CudaDriver> load() {
  CudaDriver driver{};
  const bool complete = find("cuInit", driver.init) && find("cuDeviceGet", driver.device_get) &&
                        find("cuDevicePrimaryCtxRetain", driver.primary_retain) &&
                        find("cuDevicePrimaryCtxRelease_v2", driver.primary_release) &&
                        find("cuCtxPushCurrent_v2", driver.push) && find("cuCtxPopCurrent_v2", driver.pop) &&
                        find("cuMemAlloc_v2", driver.allocate) && find("cuMemFree_v2", driver.free) &&
                        find("cuMemcpyDtoH_v2", driver.download);
  return complete ? std::optional(driver) : std::nullopt;
}

/* The context is current as long as this lives. */
class Current {
 public:
  Current(const CudaDriver& driver, void* context) : driver_(driver), entered_(!driver.push(context)) {}
  ~Current() {
    void* popped = nullptr;
    if (entered_) (void)driver_.pop(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  const CudaDriver& driver_;
  const bool entered_;
};

}  // namespace

const CudaDriver* CudaDriver::get() {
  static const std::optional<CudaDriver> driver = load();
  if (driver && !driver->init(0)) return &*driver;
  log(VMAF_LOG_LEVEL_ERROR,
      "vmaf_cuda_state_init(): there is no NVIDIA driver that works; pictures in host memory need none");
  return nullptr;
}

int Cuda::open(void* context, std::shared_ptr<const Cuda>* cuda) {
  const CudaDriver* const driver = CudaDriver::get();
  if (!driver) return -EINVAL;
  const std::shared_ptr<Cuda> opened(new Cuda(*driver));
  opened->context_ = context;
  int device = 0;
  if (!context) {
    if (driver->device_get(&device, 0) || driver->primary_retain(&opened->context_, device))
      return COMPAT_INVALID("the context of the first NVIDIA GPU cannot be had");
    opened->retained_ = device;
  }
  *cuda = opened;
  return 0;
}

Cuda::~Cuda() {
  if (retained_ >= 0) (void)driver_.primary_release(retained_);
}

void* Cuda::allocate(size_t bytes) const {
  const Current current(driver_, context_);
  uint64_t address = 0;
  if (!current || driver_.allocate(&address, bytes)) return nullptr;
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

/* A context that is gone has taken its memory along. */
void Cuda::free(void* memory) const {
  const Current current(driver_, context_);
  if (current) (void)driver_.free(reinterpret_cast<uintptr_t>(memory));
}

int Cuda::download(void* to, const void* from, size_t bytes) const {
  const Current current(driver_, context_);
  return current && !driver_.download(to, reinterpret_cast<uintptr_t>(from), bytes) ? 0 : -EIO;
}

}  // namespace compat

int vmaf_cuda_state_init(VmafCudaState** cu_state, VmafCudaConfiguration cfg) {
  if (!cu_state) return -EINVAL;
  *cu_state = nullptr;
  return compat::guarded([&] {
    if (!compat::CudaDriver::get()) return -EINVAL;
    *cu_state = static_cast<VmafCudaState*>(std::malloc(sizeof(VmafCudaState)));
    if (!*cu_state) return -ENOMEM;
    (*cu_state)->context = cfg.cu_ctx;
    return 0;
  });
}

int vmaf_cuda_import_state(VmafContext* vmaf, VmafCudaState* cu_state) {
  if (!vmaf || !cu_state) return -EINVAL;
  return compat::guarded([&] {
    const std::lock_guard lock(vmaf->mutex);
    return compat::Cuda::open(cu_state->context, &vmaf->cuda);
  });
}

int vmaf_cuda_preallocate_pictures(VmafContext* vmaf, VmafCudaPictureConfiguration cfg) {
  if (!vmaf) return -EINVAL;
  return compat::guarded([&] {
    const std::lock_guard lock(vmaf->mutex);
    const bool on_device = cfg.pic_prealloc_method == VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_DEVICE;
    if (cfg.pic_prealloc_method > VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST_PINNED)
      return COMPAT_INVALID("vmaf_cuda_preallocate_pictures(): method %u of allocating is not known: use 0 to 3",
                            unsigned{cfg.pic_prealloc_method});
    if (on_device && !vmaf->cuda)
      return COMPAT_INVALID("pictures in CUDA's memory need vmaf_cuda_import_state() before");
    vmaf->cuda_pool.reset();
    if (cfg.pic_prealloc_method == VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_NONE) return 0;
    return compat::PicturePool::make({cfg.pic_params, 2}, on_device ? vmaf->cuda : nullptr, &vmaf->cuda_pool);
  });
}

int vmaf_cuda_fetch_preallocated_picture(VmafContext* vmaf, VmafPicture* pic) {
  if (!vmaf || !pic) return -EINVAL;
  return compat::guarded([&] {
    const std::lock_guard lock(vmaf->mutex);
    return vmaf->cuda_pool ? vmaf->cuda_pool->fetch(pic) : -EINVAL;
  });
}
