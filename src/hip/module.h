/* Loaded code and the kernels in it. */
#ifndef VMAFX_HIP_MODULE_H
#define VMAFX_HIP_MODULE_H

#include <string>
#include <utility>

#include "hip/context.h"
#include "hip/launch.h"

namespace vmafx::hip {

class Module {
 public:
  /* `image`: a code object for the context's device; copied by the runtime. */
  static StatusOr<Module> load(ContextPtr context, const void* image);

  Module(Module&& other) noexcept
      : context_(std::move(other.context_)), native_(std::exchange(other.native_, nullptr)) {}
  Module& operator=(Module&&) = delete;
  ~Module();

  /* The kernel `name`, whose parameters are of types Params in this order: what the .hip source says, or the launch
   * is wrong in ways that nothing checks. Valid as long as the module. */
  template <KernelParameter... Params>
  StatusOr<Kernel<Params...>> kernel(const char* name) const {
    VMAFX_ASSIGN(const NativeFunction function, find(name));
    return Kernel<Params...>(function, name);
  }

  const ContextPtr& context() const { return context_; }

 private:
  Module(ContextPtr context, NativeModule native) : context_(std::move(context)), native_(native) {}

  StatusOr<NativeFunction> find(const char* name) const;

  ContextPtr context_;
  NativeModule native_ = nullptr;
};

}  // namespace vmafx::hip

#endif
