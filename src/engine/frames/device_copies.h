/* Planes of a reference that stays, copied into the memory of GPUs, where later sessions read them instead of uploading
 * them again. */
#ifndef VMAFX_ENGINE_FRAMES_DEVICE_COPIES_H
#define VMAFX_ENGINE_FRAMES_DEVICE_COPIES_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/device_place.h"
#include "base/mutex.h"
#include "base/status.h"
#include "hip/device.h"
#include "hip/frame_planes.h"
#include "hip/memory.h"

namespace vmafx {

/* The memory of each GPU that all pictures of a reference may take. Any thread. */
class DeviceBudget {
 public:
  explicit DeviceBudget(uint64_t of_each) : of_each_(of_each) {}

  bool take(const std::string& gpu, uint64_t bytes);  // false: so much is not left
  void give_back(const std::string& gpu, uint64_t bytes);
  uint64_t taken() const;  // on all GPUs together

 private:
  const uint64_t of_each_;
  mutable Mutex mutex_;
  std::map<std::string, uint64_t> taken_ VMAFX_GUARDED_BY(mutex_);  // by PCI address
};

/* A plane in a GPU's memory. It keeps the GPU open. */
class DeviceCopy {
 public:
  /* Not written yet. ENOMEM: neither the budget nor the GPU has to have room; others: a call failed. */
  static StatusOr<std::unique_ptr<DeviceCopy>> make(std::shared_ptr<DeviceBudget> budget,
                                                    const hip::OpenedDevice& device, size_t row_bytes, size_t rows);
  ~DeviceCopy();
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  const std::string& gpu() const { return context_->device().pci_address; }
  hip::DevicePtr<uint8_t> data() const { return memory_.ptr(); }
  int64_t stride() const { return stride_; }
  bool is_lost() const { return context_->lost(); }

 private:
  DeviceCopy(std::shared_ptr<DeviceBudget> budget, const hip::OpenedDevice& device, int64_t stride)
      : budget_(std::move(budget)), stride_(stride), place_(device.place), context_(device.context) {}

  const std::shared_ptr<DeviceBudget> budget_;
  const int64_t stride_;
  const std::shared_ptr<const DevicePlace> place_;
  const hip::ContextPtr context_;
  hip::DeviceBuffer<uint8_t> memory_;
};

/* The copies of one picture. Any thread. */
class DeviceCopies {
 public:
  explicit DeviceCopies(std::shared_ptr<DeviceBudget> budget) : budget_(std::move(budget)) {}

  const std::shared_ptr<DeviceBudget>& budget() const { return budget_; }

  /* Stays as long as this; null: there is none. */
  hip::DevicePlane find(const hip::Device& gpu, int plane) const;

  /* Adds a copy, once it is written. If there is one already, that one stays. */
  void add(int plane, std::unique_ptr<DeviceCopy> copy);

 private:
  const std::shared_ptr<DeviceBudget> budget_;
  mutable Mutex mutex_;
  std::map<std::pair<std::string, int>, std::unique_ptr<DeviceCopy>> copies_ VMAFX_GUARDED_BY(mutex_);
};

}  // namespace vmafx

#endif
