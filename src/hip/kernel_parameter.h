/* Kernel parameters may be plain values, DevicePtr, and structs of these. A host pointer in any of them would be read
 * by the device, so none compiles, as far as C++ can see into a type. */
#ifndef VMAFX_HIP_KERNEL_PARAMETER_H
#define VMAFX_HIP_KERNEL_PARAMETER_H

#include <cstddef>
#include <type_traits>
#include <utility>

#include "hip/device_ptr.h"

namespace vmafx::hip {

inline constexpr size_t kMostParameterBytes = 4096;  // NVIDIA's limit for one kernel

namespace detail {

/* Stands for a member of any type, and for a member that is a raw pointer. Never evaluated. */
struct AnyMember {
  template <class T>
  constexpr operator T() const;
};
struct PointerMember {
  template <class T>
  constexpr operator T*() const;
};
template <size_t>
using AnyMemberAt = AnyMember;

template <class T, size_t... Before>
constexpr bool pointer_at(std::index_sequence<Before...>) {
  return requires { T{AnyMemberAt<Before>{}..., PointerMember{}}; };
}

/* An aggregate has a raw pointer at one of its first members if a pointer initializes it there. (Members of a nested
 * aggregate are seen up to its first one; arrays element by element.) */
template <class T, size_t... Index>
constexpr bool pointer_among(std::index_sequence<Index...>) {
  return (pointer_at<T>(std::make_index_sequence<Index>{}) || ...);
}

inline constexpr size_t kMembersSeen = 32;

template <class T>
constexpr bool holds_raw_pointer() {
  if constexpr (std::is_aggregate_v<T> && !std::is_array_v<T>)
    return pointer_among<T>(std::make_index_sequence<kMembersSeen>{});
  else return false;
}

}  // namespace detail

template <class T>
concept KernelParameter = std::is_trivially_copyable_v<T> && std::is_object_v<T> && !std::is_const_v<T> &&
                          !std::is_array_v<T> && !std::is_pointer_v<T> && !std::is_member_pointer_v<T> &&
                          !std::is_null_pointer_v<T> && !detail::holds_raw_pointer<T>();

}  // namespace vmafx::hip

#endif
