#include "emulator/runtime/settings.h"

#include <cstdlib>
#include <thread>

#include "emulator/runtime/abi.h"
#include "emulator/runtime/report.h"

namespace vmafx::emulator {
std::string variable(const char* name) {
  const char* value = std::getenv(("VMAFX_HIP_EMULATOR_" + std::string(name)).c_str());
  return value ? value : "";
}

uint64_t number_variable(const char* name, uint64_t fallback) {
  const std::string text = variable(name);
  if (text.empty()) return fallback;
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 0);
  if (*end) die("VMAFX_HIP_EMULATOR_%s=%s is not a number", name, text.c_str());
  return value;
}

namespace {

/* "k", "name", "name:k". */
Target target(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string number = colon == text.npos ? text : text.substr(colon + 1);
  char* end = nullptr;
  const uint64_t value = std::strtoull(number.c_str(), &end, 10);
  if (!*end) return {value, colon == text.npos ? "" : text.substr(0, colon)};
  return {0, text};
}

/* "k", "k:error", "name:error". */
void parse_failure(Settings& s) {
  const std::string text = variable("FAIL");
  if (text.empty()) return;
  const size_t colon = text.find(':');
  s.fail = target(text.substr(0, colon));
  const std::string error = colon == std::string::npos ? "launch" : text.substr(colon + 1);
  s.fail_lasts = error == "lost";
  s.fail_error = error == "memory"   ? kOutOfMemory
                 : error == "launch" ? kLaunchFailure
                 : error == "lost"   ? kUnknown
                                     : std::atoi(error.c_str());
  if (!s.fail_error) die("VMAFX_HIP_EMULATOR_FAIL=%s: no such error", text.c_str());
}

/* "discrete@0000:03:00.0,integrated@0000:0a:00.0", or "none". */
std::vector<DeviceSetting> parse_devices() {
  std::string text = variable("DEVICES");
  if (text == "none") return {};
  if (text.empty()) text = "discrete@0000:03:00.0";
  std::vector<DeviceSetting> devices;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string device = text.substr(begin, end - begin);
    const size_t at = device.find('@');
    const std::string kind = device.substr(0, at);
    if (at == std::string::npos || (kind != "discrete" && kind != "integrated"))
      die("VMAFX_HIP_EMULATOR_DEVICES: '%s' is not (discrete|integrated)@PCI-ADDRESS", device.c_str());
    devices.push_back({kind == "integrated", device.substr(at + 1)});
    begin = end + 1;
  }
  return devices;
}

Settings read() {
  Settings s;
  s.lanes = static_cast<unsigned>(number_variable("LANES", 64));
  if (s.lanes != 32 && s.lanes != 64) die("VMAFX_HIP_EMULATOR_LANES=%u: hardware has 32 or 64", s.lanes);
  s.threads = static_cast<unsigned>(number_variable("THREADS", std::thread::hardware_concurrency()));
  if (s.threads == 0) s.threads = 1;
  s.seed = number_variable("SEED", 1);
  s.memory = number_variable("MEMORY", s.memory);
  s.devices = parse_devices();
  parse_failure(s);
  s.hang = target(variable("HANG"));
  s.block = target(variable("BLOCK"));
  s.report = number_variable("REPORT", 0) != 0;
  s.calls_file = variable("CALLS");
  return s;
}

}  // namespace

const Settings& settings() {
  static const Settings& s = *new Settings(read());
  return s;
}

}  // namespace vmafx::emulator
