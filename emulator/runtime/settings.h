/* The environment variables that steer the emulator; README.md says what each does. */
#ifndef VMAFX_EMULATOR_RUNTIME_SETTINGS_H
#define VMAFX_EMULATOR_RUNTIME_SETTINGS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vmafx::emulator {

struct DeviceSetting {
  bool integrated;
  std::string pci_address;
};

/* The call that goes wrong: the `number`-th of all (0: none), every one of that name, or the `number`-th of that
 * name. */
struct Target {
  uint64_t number = 0;
  std::string name;

  bool is_set() const { return number || !name.empty(); }
  bool hits(uint64_t call, uint64_t of_its_name, const char* call_name) const {
    return name.empty() ? call == number : name == call_name && (!number || of_its_name == number);
  }
};

struct Settings {
  unsigned lanes = 64;
  unsigned threads = 1;  // the host's, which run blocks
  uint64_t seed = 1;
  size_t memory = size_t{8} << 30;  // bytes per device
  std::vector<DeviceSetting> devices;
  Target fail, hang, block;
  int fail_error = 0;
  bool fail_lasts = false;  // the device is lost from then on
  bool report = false;
  std::string calls_file;
};

/* Read at the first use. A value that makes no sense ends the program. */
const Settings& settings();

/* Settings of an engine's own: the text of VMAFX_HIP_EMULATOR_<name>, "" if it is not set; its number. */
std::string variable(const char* name);
uint64_t number_variable(const char* name, uint64_t fallback);

}  // namespace vmafx::emulator

#endif
