/* The fake runtime, loaded and reset for a test. */
#ifndef VMAFX_TESTS_HIP_FAKE_H
#define VMAFX_TESTS_HIP_FAKE_H

#include <check.h>
#include <dlfcn.h>

#include "hip/context.h"
#include "hip/runtime.h"
#include "tests/hip/fake_runtime.h"
#include "tests/support/paths.h"

namespace vmafx::test {

inline const hip::Runtime& fake_runtime() {
  static const auto loaded = hip::Runtime::load({{FAKE_RUNTIME}});
  ck_assert_msg(loaded.ok(), "%s", loaded.status().message().c_str());
  return *loaded.value();
}

/* As new: one device, nothing fails. */
inline FakeState& fake_state() {
  (void)fake_runtime();
  static FakeState* state = [] {
    void* library = dlopen(FAKE_RUNTIME, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<FakeStateFunction>(dlsym(library, "fake_state"))();
  }();
  *state = FakeState();
  return *state;
}

inline hip::Device fake_device(int ordinal = 0) {
  auto device = hip::describe_device(fake_runtime(), ordinal);
  ck_assert_msg(device.ok(), "%s", device.status().message().c_str());
  return device.value();
}

inline hip::ContextPtr fake_context(hip::ContextOptions options = {}, int ordinal = 0) {
  auto context = hip::Context::open(fake_device(ordinal), std::move(options));
  ck_assert_msg(context.ok(), "%s", context.status().message().c_str());
  return context.value();
}

}  // namespace vmafx::test

#endif
