#include "hip/launch.h"

#include <cerrno>

namespace vmafx::hip {
namespace {

/* AMD counts threads of the grid in 32 bits per dimension; NVIDIA allows 65535 blocks in y and z. */
constexpr uint64_t kMostThreads = 0xffffffffu;
constexpr unsigned kMostBlocksYZ = 65535;

bool fits(unsigned blocks, unsigned threads, uint64_t most_blocks) {
  return blocks >= 1 && threads >= 1 && blocks <= most_blocks &&
         static_cast<uint64_t>(blocks) * threads <= kMostThreads;
}

}  // namespace

Status check_launch(const Device& device, const char* kernel, NativeFunction function, Dim grid, Dim block,
                    size_t shared_bytes) {
  if (!function) return error(EINVAL, "a kernel was launched before it was loaded");
  const uint64_t threads = static_cast<uint64_t>(block.x) * block.y * block.z;
  if (!fits(grid.x, block.x, kMostThreads / 2) || !fits(grid.y, block.y, kMostBlocksYZ) ||
      !fits(grid.z, block.z, kMostBlocksYZ))
    return error(EINVAL, "kernel %s: a grid of %u x %u x %u blocks of %u x %u x %u threads is out of range", kernel,
                 grid.x, grid.y, grid.z, block.x, block.y, block.z);
  if (threads > static_cast<uint64_t>(device.max_threads))
    return error(EINVAL, "kernel %s: %llu threads in a block, %s takes %d", kernel,
                 static_cast<unsigned long long>(threads), device.name.c_str(), device.max_threads);
  if (shared_bytes > device.max_shared_bytes)
    return error(EINVAL, "kernel %s: %zu bytes of shared memory in a block, %s has %zu", kernel, shared_bytes,
                 device.name.c_str(), device.max_shared_bytes);
  return {};
}

Status launch_native(Stream& stream, const char* kernel, NativeFunction function, Dim grid, Dim block,
                     size_t shared_bytes, void** arguments) {
  VMAFX_TRY(check_launch(stream.context().device(), kernel, function, grid, block, shared_bytes));
  const Status status = stream.context().call("ModuleLaunchKernel", [&](const Functions& f) {
    return f.ModuleLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                static_cast<unsigned>(shared_bytes), stream.native(), arguments, nullptr);
  });
  if (!status.ok()) return error(status.code(), "kernel %s: %s", kernel, status.message().c_str());
  return {};
}

}  // namespace vmafx::hip
