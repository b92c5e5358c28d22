/* How the device's context is taken on CUDA, with a driver that this program is: it exports the driver's functions. */
#include <check.h>
#include <dlfcn.h>

#include "hip/runtime.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::hip;

namespace {

/* The driver's state. */
struct Driver {
  bool active = false;  // the primary context
  int retain_code = 0, limit_code = 0, state_code = 0;
  unsigned flags = 0;
  size_t stack = 1024;
  int pushed = 0;
};
Driver driver;

const auto kContext = reinterpret_cast<NativeContext>(&driver);

}  // namespace

/* -- The driver: what the platform must have, and what retain() uses ----------------------------------------------- */

#pragma GCC visibility push(default)
extern "C" {

#define UNUSED(name) \
  int name(void) { return 1; }
UNUSED(cuInit)
UNUSED(cuDriverGetVersion)
UNUSED(cuDeviceGetCount)
UNUSED(cuDeviceGet)
UNUSED(cuDeviceGetName)
UNUSED(cuDeviceGetPCIBusId)
UNUSED(cuDeviceTotalMem_v2)
UNUSED(cuMemAlloc_v2)
UNUSED(cuMemFree_v2)
UNUSED(cuMemHostAlloc)
UNUSED(cuMemFreeHost)
UNUSED(cuMemcpyHtoDAsync_v2)
UNUSED(cuMemcpyDtoHAsync_v2)
UNUSED(cuMemsetD32Async)
UNUSED(cuStreamCreate)
UNUSED(cuStreamDestroy_v2)
UNUSED(cuStreamWaitEvent)
UNUSED(cuEventCreate)
UNUSED(cuEventDestroy_v2)
UNUSED(cuEventRecord)
UNUSED(cuEventQuery)
UNUSED(cuEventElapsedTime)
UNUSED(cuModuleLoadData)
UNUSED(cuModuleUnload)
UNUSED(cuModuleGetFunction)
UNUSED(cuLaunchKernel)
UNUSED(cuGetErrorString)
UNUSED(cuDeviceGetAttribute)
UNUSED(cuDevicePrimaryCtxRelease_v2)
UNUSED(cuCtxGetDevice)
UNUSED(cuMemcpy2DAsync_v2)

int cuDevicePrimaryCtxRetain(NativeContext* context, int) {
  if (driver.retain_code) return driver.retain_code;
  *context = kContext;
  driver.active = true;
  return 0;
}

int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  *flags = driver.flags;
  *active = driver.active;
  return driver.state_code;
}

int cuDevicePrimaryCtxSetFlags_v2(int, unsigned flags) {
  driver.flags = flags;
  return 0;
}

int cuCtxPushCurrent_v2(NativeContext context) {
  ck_assert_ptr_eq(context, kContext);
  driver.pushed++;
  return 0;
}

int cuCtxPopCurrent_v2(NativeContext* context) {
  *context = kContext;
  driver.pushed--;
  return 0;
}

int cuDeviceGetUuid_v2(Uuid* uuid, int) {
  uuid->fill(7);
  return 0;
}

int cuImportExternalSemaphore(NativeSemaphore*, const SemaphoreSource* source) { return source->type == 9 ? 0 : 1; }
int cuWaitExternalSemaphoresAsync(const NativeSemaphore*, const SemaphoreWait* wait, unsigned, NativeStream) {
  return static_cast<int>(wait->value);
}
int cuDestroyExternalSemaphore(NativeSemaphore) { return 0; }

int cuCtxSetLimit(int limit, size_t value) {
  ck_assert_int_eq(limit, 0);  // CU_LIMIT_STACK_SIZE
  ck_assert_int_eq(driver.pushed, 1);
  if (!driver.limit_code) driver.stack = value;
  return driver.limit_code;
}
}
#pragma GCC visibility pop

namespace {

/* The result of retain(), after which nothing may be left current. */
Error retain() {
  Functions functions{};
  Symbols symbols(dlopen(nullptr, RTLD_NOW));
  fill_from_cuda(symbols, &functions);
  assert_text_eq(symbols.missing(), "");
  NativeContext context = nullptr;
  const Error code = functions.retain(functions, 0, &context);
  ck_assert_ptr_eq(context, code ? nullptr : kContext);
  ck_assert_int_eq(driver.pushed, 0);
  return code;
}

}  // namespace

START_TEST(a_new_context_keeps_little_for_stacks_and_sleeps) {
  driver = {};
  ck_assert_int_eq(retain(), 0);
  ck_assert_uint_lt(driver.stack, 1024);
  ck_assert_uint_eq(driver.flags, 4);  // CU_CTX_SCHED_BLOCKING_SYNC
}
END_TEST

START_TEST(a_context_of_others_stays_as_it_is) {
  driver = {.active = true};
  ck_assert_int_eq(retain(), 0);
  ck_assert_uint_eq(driver.stack, 1024);
  ck_assert_uint_eq(driver.flags, 0);
}
END_TEST

START_TEST(what_the_driver_refuses_is_done_without) {
  driver = {.limit_code = 1};
  ck_assert_int_eq(retain(), 0);
  driver = {.state_code = 1};
  ck_assert_int_eq(retain(), 0);
  ck_assert_uint_eq(driver.stack, 1024);
  driver = {.retain_code = 2};
  ck_assert_int_eq(retain(), 2);
  ck_assert_uint_eq(driver.stack, 1024);
}
END_TEST

START_TEST(semaphores_and_the_uuid_are_the_drivers) {
  Functions functions{};
  Symbols symbols(dlopen(nullptr, RTLD_NOW));
  fill_from_cuda(symbols, &functions);
  Uuid uuid{};
  ck_assert_int_eq(functions.DeviceGetUuid(&uuid, 0), 0);
  ck_assert_uint_eq(uuid[15], 7);
  const SemaphoreSource timeline{.type = kImportTimelineFd, .handle = {}, .flags = 0, .reserved = {}};
  ck_assert_int_eq(functions.ImportExternalSemaphore(nullptr, &timeline), 0);
  SemaphoreWait wait{};
  wait.value = 42;
  ck_assert_int_eq(functions.WaitExternalSemaphoresAsync(nullptr, &wait, 1, nullptr), 42);
  ck_assert_int_eq(functions.DestroyExternalSemaphore(nullptr), 0);
}
END_TEST

int main() {
  return vmafx::test::run_suite("cuda_platform", {{"new", a_new_context_keeps_little_for_stacks_and_sleeps},
                                                  {"others", a_context_of_others_stays_as_it_is},
                                                  {"refused", what_the_driver_refuses_is_done_without},
                                                  {"semaphores", semaphores_and_the_uuid_are_the_drivers}});
}
