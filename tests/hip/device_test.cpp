#include "hip/device.h"

#include <check.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "hip/code_objects.h"
#include "tests/hip/fake.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::hip;
using vmafx::test::fake_state;
using vmafx::test::FakeState;

namespace {

Device device(const char* address, const char* arch, bool integrated = false) {
  Device d;
  d.name = "GPU";
  d.pci_address = address;
  d.arch = arch;
  d.integrated = integrated;
  return d;
}

bool runs(const std::string& arch) { return arch == "gfx1100" || arch == "gfx1036"; }

std::string chosen(const std::vector<Device>& devices, const std::string& choice) {
  const Device* d = choose_device(devices, choice, runs);
  return d ? d->pci_address : "none";
}

struct Variable {
  Variable(const char* name, const std::string& value) : name(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name); }
  const char* name;
};

Status open_failure(const std::string& choice = "auto") { return open_device(choice).status(); }

constexpr std::byte kNothing[1] = {};

}  // namespace

START_TEST(auto_prefers_discrete_then_code) {
  const std::vector<Device> all = {device("0000:0a:00.0", "gfx1036", true), device("0000:03:00.0", "gfx803"),
                                   device("0000:04:00.0", "gfx1100")};
  assert_text_eq(chosen(all, "auto"), "0000:04:00.0");
  assert_text_eq(chosen(all, ""), "0000:04:00.0");
  assert_text_eq(chosen({all[0], all[1]}, "auto"),
                 "0000:03:00.0");  // told about, rather than the integrated one used silently
  assert_text_eq(chosen({all[0]}, "auto"), "0000:0a:00.0");
  assert_text_eq(chosen({}, "auto"), "none");
}
END_TEST

START_TEST(named_devices_are_taken) {
  const std::vector<Device> all = {device("0000:0a:00.0", "gfx1036", true), device("0001:03:00.0", "gfx803")};
  assert_text_eq(chosen(all, "0"), "0000:0a:00.0");
  assert_text_eq(chosen(all, "1"), "0001:03:00.0");
  assert_text_eq(chosen(all, "2"), "none");
  assert_text_eq(chosen(all, "-1"), "none");
  assert_text_eq(chosen(all, "0000:0A:00.0"), "0000:0a:00.0");
  assert_text_eq(chosen(all, "0a:00.0"), "0000:0a:00.0");
  assert_text_eq(chosen(all, "03:00.0"), "none");  // another domain
  assert_text_eq(chosen(all, "radeon"), "none");
  assert_text_eq(chosen(all, "0a:00.0z"), "none");
}
END_TEST

START_TEST(code_fits_its_architecture) {
  const CodeObject objects[] = {{"gfx1100", kNothing}, {"gfx90a", kNothing},     {"compute_75", kNothing},
                                {"sm_80", kNothing},   {"compute_90", kNothing}, {"sm_90", kNothing}};
  const auto found = [&](const char* arch) {
    const CodeObject* object = find_code_object(objects, arch);
    return std::string(object ? object->arch : "none");
  };
  assert_text_eq(found("gfx1100"), "gfx1100");
  assert_text_eq(found("gfx1101"), "none");
  assert_text_eq(found("gfx90"), "none");
  assert_text_eq(found(""), "none");
  assert_text_eq(found("sm_90"), "sm_90");
  assert_text_eq(found("sm_86"), "sm_80");
  assert_text_eq(found("sm_75"), "compute_75");
  assert_text_eq(found("sm_120"), "compute_90");
  assert_text_eq(found("sm_70"), "none");
  const CodeObject families[] = {{"gfx11-generic", kNothing},  {"gfx1100", kNothing},
                                 {"gfx9-4-generic", kNothing}, {"gfx10-3-generic", kNothing},
                                 {"gfx9-generic", kNothing},   {"gfx12-generic", kNothing}};
  const auto found_with_families = [&](const char* arch) {
    const CodeObject* object = find_code_object(families, arch);
    return std::string(object ? object->arch : "none");
  };
  assert_text_eq(found_with_families("gfx1100"), "gfx1100");
  assert_text_eq(found_with_families("gfx1103"), "gfx11-generic");
  assert_text_eq(found_with_families("gfx1153"), "gfx11-generic");
  assert_text_eq(found_with_families("gfx950"), "gfx9-4-generic");
  assert_text_eq(found_with_families("gfx90c"), "gfx9-generic");
  assert_text_eq(found_with_families("gfx1035"), "gfx10-3-generic");
  assert_text_eq(found_with_families("gfx1200"), "gfx12-generic");
  for (const char* alone : {"gfx908", "gfx90a", "gfx1010", "gfx1250", "gfx1300", ""})
    assert_text_eq(found_with_families(alone), "none");
  assert_text_eq(list_architectures({}), "none");
  assert_text_eq(list_architectures(std::span(objects).first(2)), "gfx1100, gfx90a");
}
END_TEST

START_TEST(a_missing_library_is_told) {
  const Variable runtime("VMAFX_HIP_RUNTIME", "libno_such_runtime.so.1");
  const Status status = open_failure();
  ck_assert_int_eq(status.code(), ENOENT);
  assert_contains(status.message(), "there is no libno_such_runtime.so.1");
}
END_TEST

START_TEST(a_library_that_does_not_load_is_told) {
  const Variable runtime("VMAFX_HIP_RUNTIME", "/dev/null");
  const Status status = open_failure();
  ck_assert_int_eq(status.code(), ELIBACC);
  assert_contains(status.message(), "the HIP runtime library cannot be loaded: /dev/null: ");
}
END_TEST

START_TEST(a_library_of_another_kind_is_told) {
  const Variable runtime("VMAFX_HIP_RUNTIME", "libm.so.6");
  const Status status = open_failure();
  ck_assert_int_eq(status.code(), ENOSYS);
  assert_contains(status.message(), "libm.so.6 has no function hipInit");
}
END_TEST

START_TEST(a_missing_device_is_told) {
  fake_state().n_devices = 0;
  const Variable runtime("VMAFX_HIP_RUNTIME", FAKE_RUNTIME);
  const Status status = open_failure();
  const bool has_driver = access("/dev/kfd", F_OK) == 0;
  ck_assert_int_eq(status.code(), !has_driver ? ENXIO : access("/dev/kfd", R_OK | W_OK) ? EACCES : ENODEV);
  if (!has_driver) assert_contains(status.message(), "no AMD GPU driver (is amdgpu loaded?): /dev/kfd is missing");
}
END_TEST

/* Unless VMAFX_HIP_RUNTIME names it. */
START_TEST(without_a_driver_no_runtime_is_started) {
  const FakeState& state = fake_state();
  const bool has_driver = access("/dev/kfd", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
  unsetenv("VMAFX_HIP_RUNTIME");
  ck_assert_int_eq(list_devices(vmafx::test::fake_runtime()).status().code(), has_driver ? 0 : ENXIO);
  ck_assert_int_eq(state.starts, has_driver);
  const Variable runtime("VMAFX_HIP_RUNTIME", FAKE_RUNTIME);
  ck_assert_int_eq(static_cast<int>(list_devices(vmafx::test::fake_runtime()).value().size()), 1);
  ck_assert_int_eq(state.starts, has_driver + 1);
}
END_TEST

START_TEST(driver_nodes_are_told_apart) {
  ck_assert_int_eq(explain_no_device({"/dev/null", "driver", "hint"}).code(), ENODEV);
  ck_assert_int_eq(explain_no_device({"/dev/no_such_node", "driver", "hint"}).code(), ENXIO);
  /* Permissions do not hold for root: ask as somebody else. */
  char path[] = "/tmp/vmafx_node_XXXXXX";
  const int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  close(file);
  ck_assert_int_eq(chmod(path, 0), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && setuid(65534)) _exit(0);
    _exit(explain_no_device({path, "driver", "join the group"}).code());
  }
  int exited = 0;
  ck_assert_int_eq(waitpid(child, &exited, 0), child);
  unlink(path);
  ck_assert_int_eq(WEXITSTATUS(exited), EACCES);
}
END_TEST

START_TEST(an_unknown_device_lists_the_others) {
  FakeState& state = fake_state();
  state.n_devices = 2;
  state.devices[1] = {"Other", "0000:0a:00.0", true};
  const Variable runtime("VMAFX_HIP_RUNTIME", FAKE_RUNTIME), arch("HSA_OVERRIDE_GFX_VERSION", "11.0.0");
  const Status status = open_failure("7");
  ck_assert_int_eq(status.code(), ENODEV);
  assert_text_eq(
      status.message(),
      "there is no device '7'; there are: 0 = Fake (0000:03:00.0, gfx1100), 1 = Other (0000:0a:00.0, gfx1100)");
}
END_TEST

START_TEST(an_architecture_without_code_is_told) {
  fake_state();
  const Variable runtime("VMAFX_HIP_RUNTIME", FAKE_RUNTIME), arch("HSA_OVERRIDE_GFX_VERSION", "8.0.3");
  const Status status = open_failure();
  ck_assert_int_eq(status.code(), ENOTSUP);
  assert_contains(status.message(), "no code object for Fake (0000:03:00.0, gfx803): this build carries ");
  assert_contains(status.message(), embedded_code_objects().empty()
                                        ? "no HIP kernels"
                                        : "code for " + list_architectures(embedded_code_objects()));
}
END_TEST

/* The messages while code of an architecture is loaded, and the number of modules at the first one. */
struct Told {
  std::string text;
  int live = -1;
};
Told told_of(const char* arch) {
  FakeState& state = fake_state();  // takes the kernel and does nothing
  state.argument_sizes[0] = state.argument_sizes[1] = 8, state.argument_sizes[2] = 4;
  Told told;
  ContextOptions options;
  options.tell = [&](const std::string& message) { told = {told.text + message, state.live}; };
  ck_assert_int_eq(load_kernels(test::fake_context(options), {arch, kNothing}).status().code(), EBADMSG);
  return told;
}

/* It takes seconds, so before and not after. */
START_TEST(compiling_is_told_before_it_happens) {
  const Told told = told_of("compute_75");
  assert_contains(told.text, "the driver compiles the kernels for Fake (0000:03:00.0, ");
  assert_contains(told.text,
                  ") from PTX, which takes seconds the first time; then they are in its cache, ~/.nv/ComputeCache");
  ck_assert_int_eq(told.live, 0);
  for (const char* arch : {"sm_90", "gfx1100"}) assert_text_eq(told_of(arch).text, "");
}
END_TEST

START_TEST(the_cache_is_the_drivers) {
  {
    const Variable path("CUDA_CACHE_PATH", "/var/cache/kernels");
    assert_contains(told_of("compute_75").text, "the first time; then they are in its cache, /var/cache/kernels");
  }
  const Variable disabled("CUDA_CACHE_DISABLE", "1");
  assert_contains(told_of("compute_75").text, "which takes seconds each time, since CUDA_CACHE_DISABLE is set");
}
END_TEST

START_TEST(a_wrong_answer_is_told) {
  if (!find_code_object(embedded_code_objects(), "gfx1100")) return;  // nothing to load
  FakeState& state = fake_state();                                    // takes the kernel and does nothing
  state.argument_sizes[0] = state.argument_sizes[1] = 8, state.argument_sizes[2] = 4;
  const Variable runtime("VMAFX_HIP_RUNTIME", FAKE_RUNTIME), arch("HSA_OVERRIDE_GFX_VERSION", "11.0.0");
  const Status status = open_failure();
  ck_assert_int_eq(status.code(), EBADMSG);
  assert_contains(status.message(), "the self-test failed");
  ck_assert_int_eq(state.live, 0);
}
END_TEST

int main() {
  return vmafx::test::run_suite("device", {{"auto", auto_prefers_discrete_then_code},
                                           {"named", named_devices_are_taken},
                                           {"code", code_fits_its_architecture},
                                           {"library", a_missing_library_is_told},
                                           {"broken", a_library_that_does_not_load_is_told},
                                           {"kind", a_library_of_another_kind_is_told},
                                           {"no_device", a_missing_device_is_told},
                                           {"not_started", without_a_driver_no_runtime_is_started},
                                           {"nodes", driver_nodes_are_told_apart},
                                           {"unknown", an_unknown_device_lists_the_others},
                                           {"no_code", an_architecture_without_code_is_told},
                                           {"compiling", compiling_is_told_before_it_happens},
                                           {"cache", the_cache_is_the_drivers},
                                           {"self_test", a_wrong_answer_is_told}});
}
