/* Launching a kernel with checked types, limits and result. */
#ifndef VMAFX_HIP_LAUNCH_H
#define VMAFX_HIP_LAUNCH_H

#include <string>
#include <type_traits>

#include "hip/device_ptr.h"
#include "hip/kernel_parameter.h"
#include "hip/stream.h"

namespace vmafx::hip {

/* A kernel that takes Params. Made by Module::kernel(). */
template <KernelParameter... Params>
class Kernel {
 public:
  static_assert((sizeof(Params) + ... + 0) <= kMostParameterBytes);

  Kernel() = default;  // no kernel; launching it is an error
  Kernel(NativeFunction function, const char* name) : function_(function), name_(name) {}

  NativeFunction native() const { return function_; }
  const char* name() const { return name_; }  // the literal that Module::kernel() was given

 private:
  NativeFunction function_ = nullptr;
  const char* name_ = "";
};

/* Blocks in the grid, threads in a block. */
struct Dim {
  unsigned x = 1, y = 1, z = 1;
};

/* Blocks that cover `items`, `per_block` each. */
constexpr unsigned blocks_for(size_t items, size_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

/* For launch(): EINVAL names the kernel and the limit that it breaks. */
Status check_launch(const Device& device, const char* kernel, NativeFunction function, Dim grid, Dim block,
                    size_t shared_bytes);
Status launch_native(Stream& stream, const char* kernel, NativeFunction function, Dim grid, Dim block,
                     size_t shared_bytes, void** arguments);

/* Starts `grid` blocks of `block` threads with `shared_bytes` of dynamic shared memory each. Arguments are converted
 * to the kernel's parameter types and passed by value. */
template <KernelParameter... Params>
Status launch(Stream& stream, const Kernel<Params...>& kernel, Dim grid, Dim block, size_t shared_bytes,
              const std::type_identity_t<Params>&... arguments) {
  /* The runtime takes the address of each argument, and copies what lies there. */
  void* addresses[] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
  return launch_native(stream, kernel.name(), kernel.native(), grid, block, shared_bytes, addresses);
}

}  // namespace vmafx::hip

#endif
