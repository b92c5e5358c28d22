#include "hip/context.h"

#include <check.h>

#include <cerrno>
#include <thread>

#include "hip/memory.h"
#include "hip/module.h"
#include "hip/stream.h"
#include "tests/hip/fake.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::hip;
using vmafx::test::fake_context;
using vmafx::test::fake_runtime;
using vmafx::test::fake_state;
using vmafx::test::FakeState;

namespace {

constexpr int kIllegalAddress = 700;

NativeContext native_context(int ordinal) {
  return reinterpret_cast<NativeContext>(static_cast<uintptr_t>(ordinal) + 1);
}

/* One of each, used once. */
Status use_everything(const ContextPtr& context) {
  VMAFX_ASSIGN(Module module, Module::load(context, "code"));
  VMAFX_ASSIGN(const auto kernel, module.kernel<int>("kernel"));
  VMAFX_ASSIGN(auto on_device, DeviceBuffer<int>::create(context, 8));
  VMAFX_ASSIGN(auto on_host, PinnedBuffer<int>::create(context, 8));
  VMAFX_ASSIGN(Event start, Event::create(context, Timing::kOn));
  VMAFX_ASSIGN(Event end, Event::create(context, Timing::kOn));
  VMAFX_ASSIGN(Stream stream, Stream::create(context));
  VMAFX_TRY(start.record(stream));
  VMAFX_TRY(stream.wait_for(start));
  VMAFX_TRY(stream.clear(on_device.ptr().as<std::byte>(), 32));
  VMAFX_TRY(stream.upload(on_device.ptr(), on_host.data(), 8));
  VMAFX_TRY(launch(stream, kernel, {1}, {1}, 0, 1));
  VMAFX_TRY(stream.download(on_host.data(), DevicePtr<const int>(on_device.ptr()), 8));
  VMAFX_TRY(end.record(stream));
  VMAFX_TRY(end.wait());
  return end.microseconds_since(start).status();
}

struct Notes {
  std::string text;
  ContextOptions options() {
    return {std::chrono::milliseconds(30), [this](const std::string& note) { text += note + "\n"; }};
  }
};

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) n++;
  return n;
}

}  // namespace

START_TEST(all_is_given_back) {
  FakeState& state = fake_state();
  const Status status = use_everything(fake_context());
  ck_assert_msg(status.ok(), "%s", status.message().c_str());
  ck_assert_int_eq(state.live, 0);
}
END_TEST

START_TEST(any_failed_call_leaks_nothing) {
  int failures = 0;
  for (int k = 1;; k++) {
    FakeState& state = fake_state();
    {
      const ContextPtr context = fake_context();
      state.calls = 0;
      state.fail_at = k;
      const Status status = use_everything(context);
      if (state.calls < k) break;
      if (!status.ok()) {
        failures++;
        ck_assert_int_eq(status.code(), ENOMEM);
        assert_contains(status.message(), "failed: out of memory (2) at ");
      }
      ck_assert(!context->lost());
      ck_assert_msg(state.live == 0, "call %d: %d left", k, state.live);
    }
  }
  ck_assert_int_ge(failures, 20);
}
END_TEST

START_TEST(a_fatal_error_stops_all_calls) {
  for (int k = 1; k < 60; k++) {
    FakeState& state = fake_state();
    Notes notes;
    {
      const ContextPtr context = fake_context(notes.options());
      state.calls = 0;
      state.fail_at = k;
      state.fail_code = kIllegalAddress;
      (void)use_everything(context);
      if (!state.fatal) break;
      ck_assert(context->lost());
      const Status status = use_everything(context);
      ck_assert_int_eq(status.code(), ENODEV);
      assert_contains(status.message(), "the device Fake is lost: hip");
    }
    ck_assert_int_eq(state.calls_after_fatal, 0);
    ck_assert_uint_le(count(notes.text, "is not freed"), 1);
    ck_assert_uint_eq(count(notes.text, "the device Fake is lost"), 1);
  }
}
END_TEST

START_TEST(a_wait_ends_at_the_deadline) {
  FakeState& state = fake_state();
  Notes notes;
  {
    const ContextPtr context = fake_context(notes.options());
    auto buffer = DeviceBuffer<int>::create(context, 8);
    auto stream = Stream::create(context);
    auto event = Event::create(context);
    ck_assert(buffer.ok() && stream.ok() && event.ok());
    state.hangs = true;
    ck_assert(event.value().record(stream.value()).ok());
    ck_assert(!event.value().done().value());
    const auto start = std::chrono::steady_clock::now();
    const Status status = event.value().wait();
    const auto waited = std::chrono::steady_clock::now() - start;
    ck_assert_int_eq(status.code(), ETIMEDOUT);
    assert_contains(status.message(), "did not answer within 30 ms");
    ck_assert(waited >= std::chrono::milliseconds(30) && waited < std::chrono::seconds(5));
    ck_assert(context->lost());
    state.calls = 0;
    ck_assert_int_eq(event.value().wait().code(), ENODEV);
  }
  ck_assert_int_eq(state.calls, 0);  // neither waited nor freed
  ck_assert_int_gt(state.live, 0);
  ck_assert_uint_eq(count(notes.text, "is not freed"), 1);
}
END_TEST

START_TEST(a_hung_stream_is_left_at_its_end) {
  FakeState& state = fake_state();
  Notes notes;
  const ContextPtr context = fake_context(notes.options());
  {
    auto stream = Stream::create(context);
    ck_assert(stream.ok());
    state.hangs = true;
  }
  ck_assert(context->lost());
  assert_contains(notes.text, "did not answer");
}
END_TEST

START_TEST(no_memory_is_no_loss) {
  fake_state();
  const ContextPtr context = fake_context();
  const auto buffer = DeviceBuffer<std::byte>::create(context, size_t{1} << 30);
  ck_assert_int_eq(buffer.status().code(), ENOMEM);
  ck_assert(!context->lost());
  ck_assert(DeviceBuffer<std::byte>::create(context, 16).ok());
  ck_assert(DeviceBuffer<std::byte>::create(context, 0).ok());
}
END_TEST

START_TEST(the_threads_device_comes_back) {
  FakeState& state = fake_state();
  state.n_devices = 3;
  const ContextPtr one = fake_context({}, 1), two = fake_context({}, 2);
  state.current_device = 0;
  {
    const Context::Scope outer(*one);
    ck_assert_int_eq(state.current_device, 1);
    {
      const Context::Scope again(*one);
      const Context::Scope inner(*two);
      ck_assert_int_eq(state.current_device, 2);
      const Context::Scope back(*one);
      ck_assert_int_eq(state.current_device, 1);
    }
    ck_assert_int_eq(state.current_device, 1);
  }
  ck_assert_int_eq(state.current_device, 0);
  ck_assert(DeviceBuffer<int>::create(two, 1).ok());
  ck_assert_int_eq(state.current_device, 0);
}
END_TEST

START_TEST(an_adopted_device_stays_the_applications) {
  FakeState& state = fake_state();
  state.n_devices = 2;
  void* foreign_stream = nullptr;
  {
    auto first = Context::adopt(fake_runtime(), native_context(1)),
         second = Context::adopt(fake_runtime(), native_context(1));
    ck_assert(first.ok() && second.ok());
    ck_assert_int_eq(first.value()->device().ordinal, 1);
    ck_assert(!first.value()->owned());
    ck_assert_int_eq(state.current_device, 0);
    foreign_stream = &foreign_stream;
    auto stream = Stream::adopt(second.value(), reinterpret_cast<NativeStream>(foreign_stream));
    ck_assert(stream.ok() && stream.value().drain().ok());
  }
  ck_assert_int_eq(state.live, 0);  // its own event was given back, and the foreign stream not
  ck_assert_int_eq(Context::adopt(fake_runtime(), nullptr).status().code(), EINVAL);
  ck_assert_int_eq(Stream::adopt(fake_context(), nullptr).status().code(), EINVAL);
  ck_assert(!Context::adopt(fake_runtime(), native_context(5)).ok());
}
END_TEST

/* The call that binds the device to a thread is watched, too, wherever it is made. */
START_TEST(a_binding_that_does_not_return_is_seen) {
  static ContextPtr context;
  static bool seen;
  FakeState& state = fake_state();
  context = fake_context({.deadline = std::chrono::milliseconds(5)});
  seen = false;
  state.while_binding = [] {
    ck_assert(!context->is_stuck());
    std::this_thread::sleep_for(kCallDeadlines * context->deadline() + std::chrono::milliseconds(1));
    seen = context->is_stuck();
  };
  { const Context::Scope scope(*context); }
  state.while_binding = nullptr;
  ck_assert(seen && context->lost());
  assert_contains(context->lost_status().message(), "SetDevice has not come back for 30 ms");
  context = nullptr;
}
END_TEST

int main() {
  return vmafx::test::run_suite("context", {{"given_back", all_is_given_back},
                                            {"failures", any_failed_call_leaks_nothing},
                                            {"fatal", a_fatal_error_stops_all_calls},
                                            {"deadline", a_wait_ends_at_the_deadline},
                                            {"hung_stream", a_hung_stream_is_left_at_its_end},
                                            {"binding", a_binding_that_does_not_return_is_seen},
                                            {"no_memory", no_memory_is_no_loss},
                                            {"scope", the_threads_device_comes_back},
                                            {"adopt", an_adopted_device_stays_the_applications}});
}
