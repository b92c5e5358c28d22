/* A HIP runtime of a few hundred lines for the tests of src/hip: any devices, each call can fail, work is done at
 * once or never. (emulator runs kernels and is strict; this one is steered from inside the test.) */
#ifndef VMAFX_TESTS_HIP_FAKE_RUNTIME_H
#define VMAFX_TESTS_HIP_FAKE_RUNTIME_H

#include <cstddef>

namespace vmafx::test {

struct FakeDevice {
  const char* name = "Fake";
  const char* pci_address = "0000:03:00.0";
  bool integrated = false;
  const char* architecture = "";  // in hipDeviceProp_t
};

struct FakeState {
  int n_devices = 1;
  FakeDevice devices[4];
  int fail_at = 0;          // the call that fails, counted from 1; 0: none
  int fail_code = 2;        // with this error
  bool hangs = false;       // nothing that is submitted is ever done
  size_t memory = 1 << 20;  // bytes a device has left
  int starts = 0;           // how often the runtime was started

  void (*while_binding)() = nullptr;  // runs in hipGetDevice()

  int calls = 0;  // made so far, those that only ask for names and texts not counted
  int calls_after_fatal = 0;
  bool fatal = false;      // a fatal error was given out
  int live = 0;            // handles and allocations not given back
  int current_device = 0;  // the calling thread's
  int arguments = 0;       // the last launch's, as many as were set
  unsigned grid[3] = {}, block[3] = {}, shared_bytes = 0;
  unsigned char argument_bytes[64] = {};  // the last launch's, one after the other
  size_t argument_sizes[8] = {};          // to be set before a launch
};

/* Exported by the library as fake_state(). */
using FakeStateFunction = FakeState* (*)();

}  // namespace vmafx::test

#endif
