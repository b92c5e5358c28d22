#include "emulator/runtime/launch.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include "emulator/runtime/abi.h"
#include "emulator/runtime/device_access.h"
#include "emulator/runtime/memory.h"
#include "emulator/runtime/report.h"
#include "emulator/runtime/settings.h"

namespace vmafx::emulator {
namespace {

bool is_within(Dim3 size, unsigned x, unsigned y, unsigned z) {
  return size.x && size.y && size.z && size.x <= x && size.y <= y && size.z <= z;
}

std::string check_pointer(const Launch& launch, size_t i) {
  uintptr_t address = 0;
  std::memcpy(&address, launch.argument_addresses[i], sizeof address);
  if (!address) return "";
  const DeviceMemory& memory = DeviceMemory::get();
  const Allocation* allocation = memory.find(address, 0);
  if (!allocation)
    return text("argument %zu, 0x%zx, is not a device pointer: %s", i, static_cast<size_t>(address),
                memory.describe(address).c_str());
  if (allocation->device != launch.device)
    return text("argument %zu lies on device %d, the launch is for device %d", i, allocation->device, launch.device);
  return "";
}

/* Blocks run in any order: with SEED=1 in that of their numbers. */
class Order {
 public:
  explicit Order(const Launch& launch) : blocks_(launch.blocks()) {
    if (settings().seed == 1) return;
    std::mt19937_64 random(settings().seed + launch.number);
    first_ = random() % blocks_;
    do step_ = random() % blocks_;
    while (std::gcd(step_, blocks_) != 1);
  }
  uint64_t operator()(uint64_t turn) const { return (first_ + turn * step_) % blocks_; }

 private:
  uint64_t blocks_, first_ = 0, step_ = 1;
};

void run_blocks(BlockRunner& own, Launch& launch, const Order& order) {
  const uint64_t blocks = launch.blocks();
  for (uint64_t turn; !launch.failed && (turn = launch.next_block++) < blocks;) own.run(launch, order(turn));
}

/* How many workers a launch is worth: one for each 4096 threads, since a thread of the host costs some 20 us. */
size_t worker_count(const Launch& launch) {
  const uint64_t work = launch.blocks() * launch.threads() / 4096 + 1;
  return std::min({uint64_t{settings().threads}, work, launch.blocks()});
}

}  // namespace

std::string check_launch(const Launch& launch, unsigned shared_bytes) {
  const Dim3 g = launch.grid, b = launch.block;
  const std::string kernel =
      text("launch of kernel %s with %u x %u x %u blocks of %u x %u x %u threads: ", launch.kernel->name.c_str(), g.x,
           g.y, g.z, b.x, b.y, b.z);
  if (!is_within(b, kMaxBlockX, kMaxBlockY, kMaxBlockZ)) return kernel + "a block's size is beyond the limits";
  if (!is_within(g, kMaxGridX, kMaxGridY, kMaxGridZ)) return kernel + "the grid's size is beyond the limits";
  if (uint64_t{b.x} * b.y * b.z > launch.kernel->max_threads)
    return kernel + text("it is declared for at most %u threads", launch.kernel->max_threads);
  if (uint64_t{g.x} * b.x >> 32 || launch.blocks() >= 0xfffffff0u) return kernel + "too many threads in all";
  if (shared_bytes) return kernel + text("%u bytes of dynamic shared memory, which no kernel has", shared_bytes);
  for (size_t i = 0; i < launch.kernel->parameters.size(); i++)
    if (launch.kernel->parameters[i].is_pointer)
      if (const std::string wrong = check_pointer(launch, i); !wrong.empty()) return kernel + wrong;
  return "";
}

bool run_launch(Launch& launch) {
  static auto& runners = *new std::vector<std::unique_ptr<BlockRunner>>;
  begin_launch_accesses(launch.number);
  const Order order(launch);
  const size_t n = worker_count(launch);
  while (runners.size() < n) runners.push_back(engine().make_runner());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < n; i++)
    threads.emplace_back(run_blocks, std::ref(*runners[i]), std::ref(launch), std::cref(order));
  run_blocks(*runners[0], launch, order);
  for (std::thread& thread : threads) thread.join();
  return !launch.failed;
}

void fail(Launch& launch, uint64_t block_number, const std::string& where, const std::string& what) {
  const Dim3 b = launch.block_id(block_number);
  launch.failed = true;
  complain(
      kIllegalAddress,
      text("kernel %s, block (%u, %u, %u), %s: ", launch.kernel->name.c_str(), b.x, b.y, b.z, where.c_str()) + what);
}

}  // namespace vmafx::emulator
