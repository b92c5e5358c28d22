/* The primitives of gpu.h for the host's compiler: declared here, defined by the runtime that runs the kernels there
 * (emulator). A kernel registers itself under its name when its library is loaded. */
#ifndef VMAFX_KERNELS_GPU_GPU_HOST_H
#define VMAFX_KERNELS_GPU_GPU_HOST_H

#include <cstddef>
#include <type_traits>
#include <utility>

#define VMAFX_DEVICE inline
#define VMAFX_KERNEL(name, threads, parameters)                      \
  static void name parameters;                                       \
  static const ::vmafx::gpu::host::Registration name##_registration( \
      ::vmafx::gpu::host::kernel<&name>(#name, threads));            \
  static void name parameters
#define VMAFX_DENSE_KERNEL(name, threads, blocks, parameters) VMAFX_KERNEL(name, threads, parameters)
#define VMAFX_SHARED(type, name, dims)                                               \
  typedef type name##_array dims;                                                    \
  name##_array& name = *static_cast<name##_array*>(::vmafx::gpu::host::shared_array( \
      [] {                                                                           \
        static const char key = 0;                                                   \
        return &key;                                                                 \
      }(),                                                                           \
      #name, sizeof(name##_array)))
#define VMAFX_ROLLED _Pragma("GCC unroll 1")

namespace vmafx::gpu {

/* Constant within one thread of a kernel, as far as that thread can see. */
[[gnu::const]] Dim3 thread_id();
[[gnu::const]] Dim3 block_id();
[[gnu::const]] Dim3 block_size();
[[gnu::const]] Dim3 grid_size();
[[gnu::const]] unsigned wave_size();
[[gnu::const]] unsigned lane_id();
void block_sync();
uint32_t shuffle_xor(uint32_t value, unsigned mask);
uint64_t shuffle_xor(uint64_t value, unsigned mask);
void atomic_add(uint64_t* address, uint64_t value);
void add_shared(uint32_t* address, uint32_t value);
inline uint32_t add_bytes(uint32_t four, uint32_t sum) {
  return sum + (four & 255) + (four >> 8 & 255) + (four >> 16 & 255) + (four >> 24);
}
inline uint32_t add_bytes_of(uint32_t four, uint32_t mask, uint32_t sum) { return add_bytes(four & mask, sum); }

/* An inverse as wrong as it may be. */
inline float near_inverse(float x) { return 1 / x * (1 - 0x1p-22f); }

inline float multiply_add(float a, float b, float c) { return a * b + c; }
inline double multiply_add(double a, double b, double c) { return a * b + c; }
inline double divide(double a, double b) { return a / b; }
inline float float_toward_zero(uint32_t value) { return cut_to_float(value); }
inline float float_toward_zero(uint64_t value) { return cut_to_float(value); }
inline bool scalars_are_many() { return false; }
inline bool shared_memory_is_scarce() { return wave_size() == 64; }
inline bool double_is_fast() { return wave_size() == 64; }
inline uint32_t forget_range(uint32_t value) { return value; }
template <class T>
T* kept_shared(T* pointer) {
  return pointer;
}
inline unsigned anew(unsigned value) { return value; }
inline unsigned anew_of_block(unsigned value) { return value; }

/* Stops a kernel whose address is not a multiple of `alignment`, as NVIDIA's hardware does. */
void check_alignment(const void* address, size_t alignment);

namespace host {

struct Parameter {
  size_t size;
  bool is_pointer;
};

/* A kernel as the runtime sees it. */
struct Kernel {
  const char* name;
  unsigned max_threads;
  void (*call)(void* const* arguments);  // the address of each argument, as in hipModuleLaunchKernel
  const Parameter* parameters;
  size_t n_parameters;
};

/* Adds a kernel to the runtime's list. */
struct Registration {
  explicit Registration(const Kernel& kernel);
};

/* The block's array behind VMAFX_SHARED, told apart from others by `key`. */
void* shared_array(const void* key, const char* name, size_t size);

template <auto function>
struct Entry;

template <class... Args, void (*function)(Args...)>
struct Entry<function> {
  static_assert((std::is_trivially_copyable_v<Args> && ...), "a kernel takes plain values");
  static constexpr size_t n_parameters = sizeof...(Args);
  static constexpr Parameter parameters[n_parameters + 1] = {{sizeof(Args), std::is_pointer_v<Args>}..., {}};

  /* Outside the kernel: these accesses are not its own, and not checked. */
  __attribute__((no_sanitize("kernel-address"))) static void call(void* const* arguments) {
    call_with(arguments, std::index_sequence_for<Args...>());
  }

 private:
  template <size_t... i>
  __attribute__((no_sanitize("kernel-address"))) static void call_with([[maybe_unused]] void* const* arguments,
                                                                       std::index_sequence<i...>) {
    function(*static_cast<const Args*>(arguments[i])...);
  }
};

template <auto function>
constexpr Kernel kernel(const char* name, unsigned max_threads) {
  using E = Entry<function>;
  return {name, max_threads, E::call, E::parameters, E::n_parameters};
}

}  // namespace host
}  // namespace vmafx::gpu

#endif
