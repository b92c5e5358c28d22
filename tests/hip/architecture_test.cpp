#include "hip/architecture.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/system/library.h"
#include "base/system/process.h"
#include "hip/device_list.h"
#include "hip/runtime.h"
#include "tests/hip/fake_runtime.h"
#include "tests/support/check_main.h"
#include "tests/support/paths.h"

using namespace vmafx;
using namespace vmafx::hip;

namespace {

/* A topology folder with a CPU and two GPUs. */
std::string make_topology() {
  const auto folder =
      std::filesystem::temp_directory_path() / ("vmafx_topology_" + std::to_string(system::process_id()));
  const char* nodes[] = {"cpu_cores_count 16\ngfx_target_version 0\nlocation_id 0\ndomain 0\n",
                         "simd_count 192\ngfx_target_version 110000\nlocation_id 768\ndomain 0\n",
                         "gfx_target_version 90010\nlocation_id 2561\ndomain 2\nhive_id 18446744073709551615\n"};
  for (int i = 0; i < 3; i++) {
    const auto node = folder / std::to_string(i);
    std::filesystem::create_directories(node);
    std::ofstream(node / "properties") << nodes[i];
  }
  return folder.string();
}

struct Variable {
  Variable(const char* name, const std::string& value) : name(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name); }
  const char* name;
};

/* The architecture of the fake runtime's device, whose properties hold `name` and `arch`. */
std::string found(const char* name, const char* arch) {
  const auto runtime = Runtime::load({{FAKE_RUNTIME}});
  ck_assert_msg(runtime.ok(), "%s", runtime.status().message().c_str());
  void* const library = system::load_library(FAKE_RUNTIME).handle;
  test::FakeState& state = *reinterpret_cast<test::FakeStateFunction>(system::find_symbol(library, "fake_state"))();
  state = {};
  state.devices[0] = {name, "ffff:ff:1f.7", false, arch};  // at no address of this machine
  const auto device = describe_device(*runtime.value(), 0);
  ck_assert_msg(device.ok(), "%s", device.status().message().c_str());
  return device.value().arch;
}

}  // namespace

START_TEST(architectures_have_amds_names) {
  assert_text_eq(gfx_name(90006), "gfx906");
  assert_text_eq(gfx_name(90010), "gfx90a");
  assert_text_eq(gfx_name(90402), "gfx942");
  assert_text_eq(gfx_name(100306), "gfx1036");
  assert_text_eq(gfx_name(110501), "gfx1151");
  assert_text_eq(gfx_name(120001), "gfx1201");
}
END_TEST

START_TEST(architecture_is_found_by_location) {
  const std::string nodes = make_topology();
  const auto at = [&](const char* address, int ordinal = 0) {
    return amd_architecture(*PciAddress::parse(address), ordinal, nodes);
  };
  assert_text_eq(at("0000:03:00.0"), "gfx1100");
  assert_text_eq(at("0002:0a:00.1"), "gfx90a");
  assert_text_eq(at("0000:0a:00.1"), "");
  {
    const Variable one("HSA_OVERRIDE_GFX_VERSION_1", "9.4.2"), all("HSA_OVERRIDE_GFX_VERSION", "10.3.0");
    assert_text_eq(at("0000:03:00.0", 0), "gfx1030");
    assert_text_eq(at("0000:03:00.0", 1), "gfx942");
  }
  std::filesystem::remove_all(nodes);
  assert_text_eq(at("0000:03:00.0"), "");
}
END_TEST

/* Windows has no topology: the runtime's properties are asked. */
START_TEST(architecture_is_found_in_properties) {
  assert_text_eq(found("AMD Radeon RX 7900 XTX", "gfx1100"), "gfx1100");
  assert_text_eq(found("AMD Instinct MI210", "gfx90a:sramecc+:xnack-"), "gfx90a");
  assert_text_eq(found("gfx1036", "gfx1103"), "gfx1103");
  assert_text_eq(found("gfx1036", ""), "");
  const Variable all("HSA_OVERRIDE_GFX_VERSION", "10.3.0");
  assert_text_eq(found("AMD Radeon RX 6700 XT", "gfx1031"), "gfx1030");
}
END_TEST

START_TEST(properties_of_any_layout_are_searched) {
  std::string properties(4096, '\0');
  properties.replace(256, 6, "gfx942");  // right behind the name
  assert_text_eq(architecture_in_properties(properties), "gfx942");
  properties[255] = 'x', properties.replace(396, 6, "gfx908");
  assert_text_eq(architecture_in_properties(properties), "gfx908");
  assert_text_eq(architecture_in_properties(std::string(4096, 'g')), "");
  assert_text_eq(architecture_in_properties({}), "");
  const std::string last = std::string(300, '\0') + "gfx1201";
  assert_text_eq(architecture_in_properties(last), "gfx1201");
}
END_TEST

int main() {
  return vmafx::test::run_suite("architecture", {{"names", architectures_have_amds_names},
                                                 {"topology", architecture_is_found_by_location},
                                                 {"properties", architecture_is_found_in_properties},
                                                 {"layouts", properties_of_any_layout_are_searched}});
}
