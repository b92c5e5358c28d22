#include "engine/frames/device_copies.h"

#include <cerrno>

namespace vmafx {
namespace {

/* Kernels read 16 bytes at a time; rows that begin with a cache line are read fastest. */
constexpr size_t kRowAlignment = 128;

}  // namespace

bool DeviceBudget::take(const std::string& gpu, uint64_t bytes) {
  const MutexLock lock(mutex_);
  uint64_t& taken = taken_[gpu];
  if (bytes > of_each_ - taken) return false;
  taken += bytes;
  return true;
}

void DeviceBudget::give_back(const std::string& gpu, uint64_t bytes) {
  const MutexLock lock(mutex_);
  taken_[gpu] -= bytes;
}

uint64_t DeviceBudget::taken() const {
  const MutexLock lock(mutex_);
  uint64_t sum = 0;
  for (const auto& [gpu, bytes] : taken_) sum += bytes;
  return sum;
}

StatusOr<std::unique_ptr<DeviceCopy>> DeviceCopy::make(std::shared_ptr<DeviceBudget> budget,
                                                       const hip::OpenedDevice& device, size_t row_bytes, size_t rows) {
  const size_t stride = (row_bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment, bytes = stride * rows;
  if (!budget->take(device.pci_address, bytes)) return error(ENOMEM, "the budget has no room");
  auto memory = hip::DeviceBuffer<uint8_t>::create(device.context, bytes);
  if (!memory.ok()) {
    budget->give_back(device.pci_address, bytes);
    return memory.status();
  }
  std::unique_ptr<DeviceCopy> copy(new DeviceCopy(std::move(budget), device, static_cast<int64_t>(stride)));
  copy->memory_ = std::move(memory.value());
  return copy;
}

DeviceCopy::~DeviceCopy() { budget_->give_back(gpu(), memory_.size()); }

/* Ignores copies on a GPU that was lost: if it is open again, they are gone. */
hip::DevicePlane DeviceCopies::find(const hip::Device& gpu, int plane) const {
  const MutexLock lock(mutex_);
  const auto found = copies_.find({gpu.pci_address, plane});
  if (found == copies_.end() || found->second->is_lost()) return {};
  const DeviceCopy& copy = *found->second;
  return {copy.data(), copy.stride()};
}

void DeviceCopies::add(int plane, std::unique_ptr<DeviceCopy> copy) {
  const MutexLock lock(mutex_);
  std::unique_ptr<DeviceCopy>& place = copies_[{copy->gpu(), plane}];
  if (!place || place->is_lost()) place = std::move(copy);
}

}  // namespace vmafx
