#include "hip/launch.h"

#include <check.h>

#include <cerrno>
#include <cstring>

#include "hip/frame_planes.h"
#include "hip/module.h"
#include "tests/hip/fake.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::hip;
using vmafx::test::fake_context;
using vmafx::test::fake_state;
using vmafx::test::FakeState;

namespace {

/* -- What does not compile ------------------------------------------------------------------------------------- */

struct Sizes {
  int w, h;
  float taps[4];
  DevicePtr<const uint8_t> data;
};
struct Nested {
  Sizes sizes;
  BatchPlanes planes;
};
struct WithPointer {
  int w;
  float taps[4];
  const uint8_t* data;
};
struct NestedPointer {
  int w;
  struct {
    int* data;
  } inner;
};
struct WithDestructor {
  ~WithDestructor() {}
  int w;
};

static_assert(KernelParameter<int> && KernelParameter<double> && KernelParameter<DevicePtr<uint64_t>>);
static_assert(KernelParameter<Sizes> && KernelParameter<Nested> && KernelParameter<BatchPlanes>);
static_assert(!KernelParameter<int*> && !KernelParameter<const void*> && !KernelParameter<std::nullptr_t>);
static_assert(!KernelParameter<WithPointer> && !KernelParameter<NestedPointer> && !KernelParameter<int * Sizes::*>);
static_assert(!KernelParameter<int&> && !KernelParameter<int[4]> && !KernelParameter<const int>);
static_assert(!KernelParameter<WithDestructor> && !KernelParameter<std::string>);

template <class... Arguments>
constexpr bool launches = requires(Stream& stream, const Kernel<DevicePtr<const uint8_t>, int, size_t>& kernel,
                                   Arguments... arguments) { launch(stream, kernel, Dim{1}, Dim{1}, 0, arguments...); };

static_assert(launches<DevicePtr<const uint8_t>, int, size_t>);
static_assert(launches<DevicePtr<uint8_t>, int, int>);  // converted to what the kernel takes
static_assert(!launches<const uint8_t*, int, size_t>);
static_assert(!launches<uint8_t*, int, size_t>);
static_assert(!launches<std::nullptr_t, int, size_t>);
static_assert(!launches<DevicePtr<const uint16_t>, int, size_t>);
static_assert(!launches<uint64_t, int, size_t>);
static_assert(!launches<DevicePtr<const uint8_t>, int>);
static_assert(!launches<DevicePtr<const uint8_t>, int, size_t, int>);
static_assert(!std::is_convertible_v<DevicePtr<const uint8_t>, DevicePtr<uint8_t>>);
static_assert(!std::is_convertible_v<DevicePtr<uint8_t>, const uint8_t*>);
static_assert(!std::is_constructible_v<DevicePtr<uint8_t>, uint8_t*>);
static_assert(sizeof(DevicePtr<int>) == 8 && std::is_trivially_copyable_v<DevicePtr<int>>);

/* -- What runs -------------------------------------------------------------------------------------------------- */

using TestKernel = Kernel<DevicePtr<const uint8_t>, int, size_t>;

struct Fixture {
  Fixture() : module(Module::load(context, "code")), stream(Stream::create(context)) {
    ck_assert(module.ok() && stream.ok());
    kernel = module.value().kernel<DevicePtr<const uint8_t>, int, size_t>("vmafx_test").value();
  }
  Status start(Dim grid, Dim block, size_t shared_bytes = 0) {
    return launch(stream.value(), kernel, grid, block, shared_bytes, pointer, -5, 7);
  }
  FakeState& state = fake_state();
  ContextPtr context = fake_context();
  StatusOr<Module> module;
  StatusOr<Stream> stream;
  TestKernel kernel;
  DevicePtr<uint8_t> pointer = DevicePtr<uint8_t>::from_address(0x1234567890);
};

template <class T>
T read(const FakeState& state, size_t offset) {
  T value;
  std::memcpy(&value, state.argument_bytes + offset, sizeof value);
  return value;
}

}  // namespace

START_TEST(arguments_arrive) {
  Fixture f;
  f.state.argument_sizes[0] = 8, f.state.argument_sizes[1] = 4, f.state.argument_sizes[2] = 8;
  const Status status = f.start({3, 4, 5}, {32, 2, 1}, 1024);
  ck_assert_msg(status.ok(), "%s", status.message().c_str());
  ck_assert_int_eq(f.state.arguments, 3);
  ck_assert_uint_eq(read<uint64_t>(f.state, 0), 0x1234567890);
  ck_assert_int_eq(read<int>(f.state, 8), -5);
  ck_assert_uint_eq(read<uint64_t>(f.state, 12), 7);
  ck_assert(f.state.grid[0] == 3 && f.state.grid[1] == 4 && f.state.grid[2] == 5);
  ck_assert(f.state.block[0] == 32 && f.state.block[1] == 2 && f.state.block[2] == 1);
  ck_assert_uint_eq(f.state.shared_bytes, 1024);
}
END_TEST

START_TEST(limits_are_checked) {
  Fixture f;
  const auto complaint = [&](Dim grid, Dim block, size_t shared_bytes = 0) {
    f.state.calls = 0;
    const Status status = f.start(grid, block, shared_bytes);
    ck_assert_int_eq(status.code(), EINVAL);
    ck_assert_int_eq(f.state.calls, 0);
    return status.message();
  };
  assert_contains(complaint({0}, {64}), "kernel vmafx_test: a grid of 0 x 1 x 1 blocks");
  assert_contains(complaint({1}, {64, 0}), "out of range");
  assert_contains(complaint({1}, {2048}), "2048 threads in a block, Fake takes 1024");
  assert_contains(complaint({1}, {64, 64}), "4096 threads");
  assert_contains(complaint({1, 70000}, {1}), "out of range");
  assert_contains(complaint({1, 1, 70000}, {1}), "out of range");
  assert_contains(complaint({0x4000000}, {64}), "out of range");
  assert_contains(complaint({1}, {64}, 65537), "65537 bytes of shared memory in a block, Fake has 65536");
  ck_assert(f.start({1, 65535}, {1024}, 65536).ok());
}
END_TEST

START_TEST(failures_name_the_kernel) {
  Fixture f;
  f.state.fail_at = f.state.calls + 2;  // after the one that binds the device
  f.state.fail_code = 719;
  const Status status = f.start({1}, {64});
  assert_contains(status.message(), "kernel vmafx_test: hipModuleLaunchKernel failed: it failed (719)");
  ck_assert(f.context->lost());

  Fixture g;
  const auto missing = g.module.value().kernel<int>("no_such");
  assert_contains(missing.status().message(), "kernel no_such: hipModuleGetFunction failed");
  ck_assert_int_eq(launch(g.stream.value(), Kernel<int>(), {1}, {1}, 0, 1).code(), EINVAL);
}
END_TEST

START_TEST(blocks_cover_all_items) {
  ck_assert_uint_eq(blocks_for(1, 64), 1);
  ck_assert_uint_eq(blocks_for(64, 64), 1);
  ck_assert_uint_eq(blocks_for(65, 64), 2);
  ck_assert_uint_eq(blocks_for(0, 64), 0);
}
END_TEST

int main() {
  return vmafx::test::run_suite("launch", {{"arguments", arguments_arrive},
                                           {"limits", limits_are_checked},
                                           {"failures", failures_name_the_kernel},
                                           {"blocks", blocks_cover_all_items}});
}
