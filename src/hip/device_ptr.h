/* A pointer into device memory, for host code and kernels alike.
 *
 * A type of its own: host code cannot dereference it or make one from a host pointer, and launch() takes nothing
 * else as a pointer. In a kernel, as an argument or as a member of one, it converts to the T* that it is: a file is
 * kernel code when it is compiled as HIP or CUDA, or defines VMAFX_KERNEL_CODE. */
#ifndef VMAFX_HIP_DEVICE_PTR_H
#define VMAFX_HIP_DEVICE_PTR_H

#include <stddef.h>
#include <stdint.h>

namespace vmafx::hip {

template <class T>
class DevicePtr {
 public:
  DevicePtr() = default;

#if defined(VMAFX_KERNEL_CODE) || defined(__HIP__) || defined(__CUDACC__)
#ifdef __AMDGCN__
  /* A pointer to global memory by way of its address space: the compiler does not know that of a pointer read from a
   * table, and would make flat accesses, which wait for shared memory, too. */
  constexpr T* get() const { return (T*)(__attribute__((address_space(1))) T*)(uint64_t)pointer_; }
#else
  constexpr T* get() const { return pointer_; }
#endif
  constexpr operator T*() const { return get(); }
#else
  /* Makes a pointer from the address that the runtime gave out. Only the owners of memory and the import of frames have
   * a use for it. */
  static DevicePtr from_address(uint64_t address) {
    DevicePtr pointer;
    pointer.pointer_ = reinterpret_cast<T*>(address);
    return pointer;
  }

  uint64_t address() const { return reinterpret_cast<uint64_t>(pointer_); }
  explicit operator bool() const { return pointer_ != nullptr; }
  operator DevicePtr<const T>() const { return DevicePtr<const T>::from_address(address()); }
  bool operator==(const DevicePtr&) const = default;

  DevicePtr operator+(ptrdiff_t count) const {
    return from_address(address() + static_cast<uint64_t>(count * static_cast<ptrdiff_t>(sizeof(T))));
  }

  /* The address `bytes` further on, as a pointer to another type. */
  template <class U>
  DevicePtr<U> as(ptrdiff_t bytes = 0) const {
    return DevicePtr<U>::from_address(address() + static_cast<uint64_t>(bytes));
  }
#endif

 private:
  T* pointer_ = nullptr;
};

}  // namespace vmafx::hip

#endif
