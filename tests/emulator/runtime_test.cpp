/* That work runs late and in order, and that failures come as planned. */
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "tests/emulator/harness.h"

using namespace vmafx::test;

/* -- Time ---------------------------------------------------------------------------------------------------------- */

START_TEST(work_is_not_done_before_someone_waits) {
  expect_good({}, [] {
    Session hip;
    auto* result = hip.host<int32_t>(256);
    const auto* from = hip.uploaded(numbers());
    hip.must("hipMemcpyDtoHAsync", static_cast<void*>(result), static_cast<const void*>(from), size_t{1024},
             hip.main_stream());
    Hip::expect(std::memcmp(result, numbers().data(), 1024) != 0, "done before anyone waited");
    hip.wait();
    Hip::expect(std::memcmp(result, numbers().data(), 1024) == 0, "not done after waiting");
  });
}
END_TEST

START_TEST(pinned_source_is_read_late) {
  expect_good({}, [] {
    Session hip;
    auto* staging = hip.host<int32_t>(16);
    void* to = hip.device(64);
    std::fill_n(staging, 16, 1);
    hip.must("hipMemcpyHtoDAsync", to, static_cast<const void*>(staging), size_t{64}, hip.main_stream());
    std::fill_n(staging, 16, 2);  // too early
    Hip::expect(hip.downloaded<int32_t>(to, 16)[0] == 2, "the source was read at once");
  });
}
END_TEST

START_TEST(events_order_streams) {
  expect_good({}, [] {
    Session hip;
    void *other = hip.stream(), *event = hip.event();
    void* memory = hip.device(4);
    hip.must("hipMemsetD32Async", memory, 5, size_t{1}, other);
    hip.must("hipEventRecord", event, other);
    hip.must("hipStreamWaitEvent", hip.main_stream(), event, 0u);
    Hip::expect(hip.downloaded<int32_t>(memory, 1)[0] == 5, "the other stream's work was not waited for");
    hip.must("hipEventDestroy", event);
    hip.must("hipStreamDestroy", other);
  });
  expect_stop({}, {"never written"}, [] {  // the same without the event
    Session hip;
    void* memory = hip.device(4);
    hip.must("hipMemsetD32Async", memory, 5, size_t{1}, hip.stream());
    hip.downloaded<int32_t>(memory, 1);
  });
}
END_TEST

START_TEST(polling_comes_to_an_end) {
  expect_good({}, [] {
    Session hip;
    void* event = hip.event();
    const auto* numbers_there = hip.uploaded(numbers());
    auto* sum = hip.zeros<uint64_t>(1);
    for (int i = 0; i < 20; i++) hip.launch("test_sum", 1, 256, numbers_there, sum);
    hip.must("hipEventRecord", event, hip.main_stream());
    Hip::expect(hip.call("hipEventQuery", event) == kNotReady, "ready at once");
    int polls = 0;
    while (hip.call("hipEventQuery", event) == kNotReady && polls < 100) polls++;
    Hip::expect(polls < 100, "never ready");
    hip.must("hipEventDestroy", event);
  });
}
END_TEST

/* -- Planned failures, and the end --------------------------------------------------------------------------------- */

START_TEST(the_kth_call_fails) {
  expect_good({{"FAIL", "2:memory"}}, [] {
    Hip hip;
    void* memory = nullptr;
    hip.must("hipInit", 0u);
    Hip::expect(hip.call("hipMalloc", &memory, size_t{64}) == kOutOfMemory, "call 2 was to fail");
    hip.must("hipMalloc", &memory, size_t{64});
    hip.must("hipFree", memory);
  });
  expect_good({{"FAIL", "2:lost"}}, [] {
    Hip hip;
    int count = 0;
    hip.must("hipInit", 0u);
    for (int i = 0; i < 3; i++)
      Hip::expect(hip.call("hipGetDeviceCount", &count) == kUnknown, "a lost device stays lost");
  });
  expect_good({{"FAIL", "hipGetDeviceCount:801"}}, [] {
    Hip hip;
    int count = 0;
    hip.must("hipInit", 0u);
    for (int i = 0; i < 3; i++) Hip::expect(hip.call("hipGetDeviceCount", &count) == 801, "was to fail by name");
  });
}
END_TEST

START_TEST(the_kth_call_hangs) {
  const Variables from_record = {{"HANG", "hipEventRecord"}};
  const auto queue_work = [](Hip& hip, void** stream, void** event) {
    *stream = hip.stream();
    *event = hip.event();
    hip.must("hipEventRecord", *event, *stream);
  };
  expect_good(from_record, [&] {
    Hip hip;
    void *stream, *event;
    queue_work(hip, &stream, &event);
    for (int i = 0; i < 100; i++) Hip::expect(hip.call("hipEventQuery", event) == kNotReady, "was to hang");
  });
  expect_stop(from_record, {"hipStreamSynchronize", "would never return"}, [&] {
    Hip hip;
    void *stream, *event;
    queue_work(hip, &stream, &event);
    hip.must("hipStreamSynchronize", stream);
  });
}
END_TEST

START_TEST(faults_can_be_reported_as_errors) {
  const Outcome outcome = run({{"REPORT", "1"}}, [] {
    Hip hip;
    void *stream = hip.stream(), *module = nullptr, *function = nullptr, *out = hip.allocate(4096);
    hip.must("hipModuleLoadData", &module, hip.image());
    hip.must("hipModuleGetFunction", &function, module, "test_missing_barrier");
    void* arguments[] = {&out};
    hip.must("hipModuleLaunchKernel", function, 1u, 1u, 1u, 64u, 1u, 1u, 0u, stream, &arguments[0],
             static_cast<void**>(nullptr));
    Hip::expect(hip.call("hipStreamSynchronize", stream) == kIllegalAddress, "the wait was to fail");
    Hip::expect(hip.call("hipStreamSynchronize", stream) == kIllegalAddress, "the error was to last");
  });
  ck_assert_msg(outcome.is_good(), "status %d: %s", outcome.status, outcome.errors.c_str());
  assert_contains(outcome.errors, "kernel test_missing_barrier");
}
END_TEST

START_TEST(leaks_are_told) {
  expect_stop({},
              {"not given back", "device allocation #1 of 64 bytes", "pinned allocation #1 of 32 bytes", "1 stream",
               "2 events"},
              [] {
                Hip hip;
                hip.allocate(64);
                hip.pinned(32);
                hip.stream();
                hip.event();
                hip.event();
              });
}
END_TEST

START_TEST(use_of_a_destroyed_handle_is_caught) {
  expect_stop({}, {"hipEventDestroy", "no event, or one that was destroyed"}, [] {
    Hip hip;
    void* event = hip.event();
    hip.must("hipEventDestroy", event);
    hip.must("hipEventDestroy", event);
  });
}
END_TEST

START_TEST(calls_are_counted) {
  char path[] = "/tmp/vmafx_emulator_callsXXXXXX";
  const int file = mkstemp(path);
  expect_good({{"CALLS", path}}, [] {
    Hip hip;
    hip.must("hipInit", 0u);
    hip.must("hipFree", hip.allocate(8));
  });
  char text[256] = "";
  ck_assert(read(file, text, sizeof text - 1) > 0);
  assert_text_eq(text, "3\n1 hipInit\n2 hipMalloc\n3 hipFree\n");
  close(file);
  unlink(path);
}
END_TEST

START_TEST(devices_and_memory_are_as_told) {
  expect_good({{"DEVICES", "integrated@0000:0a:00.0,discrete@0000:03:00.0"}, {"MEMORY", "1000"}, {"LANES", "32"}}, [] {
    Hip hip;
    int device = -1, value = -1;
    char address[32] = "";
    hip.must("hipDeviceGetByPCIBusId", &device, "0000:03:00.0");
    Hip::expect(device == 1, "wrong device");
    hip.must("hipDeviceGetPCIBusId", &address[0], 32, 0);
    Hip::expect(!std::strcmp(address, "0000:0a:00.0"), "wrong address");
    for (int i : {0, 1}) {
      hip.must("hipDeviceGetAttribute", &value, static_cast<int>(kAttributeIntegrated), i);
      Hip::expect(value == 1 - i, "wrong kind");
    }
    hip.must("hipDeviceGetAttribute", &value, static_cast<int>(kAttributeWaveSize), 0);
    Hip::expect(value == 32, "wrong wave size");
    void *first = hip.allocate(600), *second = nullptr;
    Hip::expect(hip.call("hipMalloc", &second, size_t{500}) == kOutOfMemory, "there was room");
    hip.must("hipFree", first);
  });
  expect_good({{"DEVICES", "none"}}, [] {
    int count = -1;
    Hip hip;
    Hip::expect(hip.call("hipInit", 0u) == kNoDevice && hip.call("hipGetDeviceCount", &count) == kNoDevice,
                "there is none");
  });
}
END_TEST

START_TEST(files_are_imported) {
  expect_good({}, [] {
    const int fd = memfd_create("frame", 0);
    Hip::expect(ftruncate(fd, 8192) == 0 && pwrite(fd, numbers().data(), 256, 4096) == 256, "memfd");
    Session hip;
    ExternalMemory from{kExternalOpaqueFd, {fd}, 8192, 0};
    const ExternalBuffer part{4096, 256, 0};
    void *import = nullptr, *address = nullptr;
    hip.must("hipImportExternalMemory", &import, const_cast<const ExternalMemory*>(&from));
    close(fd);
    hip.must("hipExternalMemoryGetMappedBuffer", &address, import, &part);
    void* out = hip.device(256);
    hip.launch("test_copy", 1, 64, CopyArgs{address, out, 0});
    Hip::expect(hip.downloaded<int32_t>(out, 64) == std::vector(numbers().begin(), numbers().begin() + 64),
                "wrong values");
    hip.must("hipDestroyExternalMemory", import);
    from.size = 8193;
    Hip::expect(hip.call("hipImportExternalMemory", &import, const_cast<const ExternalMemory*>(&from)) != kSuccess,
                "too large");
  });
}
END_TEST

int main() {
  return run_suite("hip_emulator_runtime",
                   {{"work_is_not_done_before_someone_waits", work_is_not_done_before_someone_waits},
                    {"pinned_source_is_read_late", pinned_source_is_read_late},
                    {"events_order_streams", events_order_streams},
                    {"polling_comes_to_an_end", polling_comes_to_an_end},
                    {"the_kth_call_fails", the_kth_call_fails},
                    {"the_kth_call_hangs", the_kth_call_hangs},
                    {"faults_can_be_reported_as_errors", faults_can_be_reported_as_errors},
                    {"leaks_are_told", leaks_are_told},
                    {"use_of_a_destroyed_handle_is_caught", use_of_a_destroyed_handle_is_caught},
                    {"calls_are_counted", calls_are_counted},
                    {"devices_and_memory_are_as_told", devices_and_memory_are_as_told},
                    {"files_are_imported", files_are_imported}});
}
