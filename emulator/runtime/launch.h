/* How a launch is checked and run. */
#ifndef VMAFX_EMULATOR_RUNTIME_LAUNCH_H
#define VMAFX_EMULATOR_RUNTIME_LAUNCH_H

#include <atomic>
#include <string>
#include <vector>

#include "emulator/runtime/engine.h"
#include "kernels/gpu/gpu.h"

namespace vmafx::emulator {

using gpu::Dim3;

inline constexpr unsigned kMaxBlockX = 1024, kMaxBlockY = 1024, kMaxBlockZ = 64;
inline constexpr unsigned kMaxGridX = 0x7fffffff, kMaxGridY = 65535, kMaxGridZ = 65535;

/* One launch of a kernel, with its arguments copied. */
struct Launch {
  const Kernel* kernel;
  Dim3 grid, block;
  std::vector<std::vector<std::byte>> arguments;
  std::vector<void*> argument_addresses;
  int device;
  uint32_t number;  // counts from 1

  std::atomic<uint64_t> next_block = 0;
  std::atomic<bool> failed = false;

  uint64_t blocks() const { return uint64_t{grid.x} * grid.y * grid.z; }
  unsigned threads() const { return block.x * block.y * block.z; }
  Dim3 block_id(uint64_t block_number) const {
    return {static_cast<unsigned>(block_number % grid.x), static_cast<unsigned>(block_number / grid.x % grid.y),
            static_cast<unsigned>(block_number / grid.x / grid.y)};
  }
};

/* Describes an error in a launch before it begins: a limit, or a pointer argument that does not point to device memory.
 * "": there is none. */
std::string check_launch(const Launch& launch, unsigned shared_bytes);

/* Runs all blocks, several at a time. Device memory must be open. False: a kernel did wrong, as was reported. */
bool run_launch(Launch& launch);

/* Says what a kernel did wrong at `where` ("thread (1, 2, 3)") of a block, and ends the program or else the launch. */
void fail(Launch& launch, uint64_t block_number, const std::string& where, const std::string& what);

}  // namespace vmafx::emulator

#endif
