#include "emulator/launch.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <thread>

#include "emulator/access.h"
#include "emulator/memory.h"
#include "emulator/report.h"
#include "emulator/settings.h"

namespace vmafx::emulator {
namespace {

std::map<std::string, gpu::host::Kernel>& kernels() {
  static auto& all = *new std::map<std::string, gpu::host::Kernel>;
  return all;
}

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
    return text("argument %zu, 0x%zx, is no device pointer: %s", i, static_cast<size_t>(address),
                memory.describe(address).c_str());
  if (allocation->device != launch.device)
    return text("argument %zu lies on device %d, the launch is for device %d", i, allocation->device, launch.device);
  return "";
}

void run_blocks(Worker& own, Launch& launch) {
  const uint64_t blocks = launch.blocks();
  for (uint64_t block; !launch.failed && (block = launch.next_block++) < blocks;) own.run(launch, block);
}

/* How many workers a launch is worth: one for each 4096 threads, since a thread of the host costs some 20 us. */
size_t worker_count(const Launch& launch) {
  const uint64_t work = launch.blocks() * launch.threads() / 4096 + 1;
  return std::min({uint64_t{settings().threads}, work, launch.blocks()});
}

}  // namespace

const gpu::host::Kernel* find_kernel(const std::string& name) {
  const auto found = kernels().find(name);
  return found == kernels().end() ? nullptr : &found->second;
}

std::string check_launch(const Launch& launch, unsigned shared_bytes) {
  const Dim3 g = launch.grid, b = launch.block;
  const std::string kernel =
      text("launch of kernel %s with %u x %u x %u blocks of %u x %u x %u threads: ", launch.kernel->name, g.x, g.y, g.z,
           b.x, b.y, b.z);
  if (!is_within(b, kMaxBlockX, kMaxBlockY, kMaxBlockZ)) return kernel + "a block's size is beyond the limits";
  if (!is_within(g, kMaxGridX, kMaxGridY, kMaxGridZ)) return kernel + "the grid's size is beyond the limits";
  if (uint64_t{b.x} * b.y * b.z > launch.kernel->max_threads)
    return kernel + text("it is declared for at most %u threads", launch.kernel->max_threads);
  if (uint64_t{g.x} * b.x >> 32 || launch.blocks() >= 0xfffffff0u) return kernel + "too many threads in all";
  if (shared_bytes) return kernel + text("%u bytes of dynamic shared memory, which no kernel has", shared_bytes);
  for (size_t i = 0; i < launch.kernel->n_parameters; i++)
    if (launch.kernel->parameters[i].is_pointer)
      if (const std::string wrong = check_pointer(launch, i); !wrong.empty()) return kernel + wrong;
  return "";
}

bool run_launch(Launch& launch) {
  static std::deque<Worker>& workers = *new std::deque<Worker>;
  begin_launch_accesses(launch.number);
  const size_t n = worker_count(launch);
  while (workers.size() < n) workers.emplace_back();
  std::vector<std::thread> threads;
  for (size_t i = 1; i < n; i++) threads.emplace_back(run_blocks, std::ref(workers[i]), std::ref(launch));
  run_blocks(workers[0], launch);
  for (std::thread& thread : threads) thread.join();
  return !launch.failed;
}

}  // namespace vmafx::emulator

namespace vmafx::gpu::host {

Registration::Registration(const Kernel& kernel) {
  if (!emulator::kernels().emplace(kernel.name, kernel).second)
    emulator::die("there are two kernels named %s", kernel.name);
}

}  // namespace vmafx::gpu::host
