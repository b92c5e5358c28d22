/* Memory of another driver as device memory: DRM PRIME objects (dma-bufs), read where they lie, never written. */
#ifndef VMAFX_HIP_IMPORT_H
#define VMAFX_HIP_IMPORT_H

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "hip/context.h"
#include "hip/device_ptr.h"

namespace vmafx::hip {

inline constexpr uint64_t kModifierLinear = 0;  // DRM_FORMAT_MOD_LINEAR

struct DmabufObject {
  int fd = -1;        // stays the caller's
  uint64_t size = 0;  // bytes; 0: what the descriptor says
  uint64_t modifier = kModifierLinear;
};

/* Whether `device` may read such objects where they lie, and if not, why: ENOTSUP. This is the one place that decides
 * it. `owner`: PCI address of the device that they are of; "" if unknown, then the attempt decides. */
Status can_import(const Device& device, const std::string& owner, std::span<const DmabufObject> objects);

/* PCI address of the device behind a descriptor of a DRM device node ("/dev/dri/renderD128"); "" if that cannot be
 * told. `numbers`: the folder with a link for each character device. */
std::string drm_pci_address(int fd, const std::string& numbers = "/sys/dev/char");

/* Until whoever writes to a dma-buf is done (its implicit fences). ETIMEDOUT at the deadline. */
Status wait_for_producer(int fd, std::chrono::milliseconds deadline);

/* One object, mapped. */
class Import {
 public:
  ~Import();
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;

  DevicePtr<const uint8_t> data() const { return DevicePtr<const uint8_t>::from_address(address_); }
  uint64_t size() const { return size_; }

 private:
  friend class Importer;
  Import(ContextPtr context, uint64_t size) : context_(std::move(context)), size_(size) {}

  Status open(int fd);

  ContextPtr context_;
  uint64_t size_;
  NativeImport native_ = nullptr;
  Address address_ = 0;
};

/* Imports each object once: a decoder hands out the same few surfaces again and again, under new descriptors. Used by
 * one thread at a time; what it gave out may be let go from any. */
class Importer {
 public:
  static constexpr size_t kMostObjects = 64;  // remembered; more than any decoder's pool

  explicit Importer(ContextPtr context) : context_(std::move(context)) {}
  ~Importer();
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;

  /* ENOTSUP: the runtime cannot import, or the objects cannot be told apart. EINVAL: no such object. Others: the
   * runtime's words. */
  StatusOr<std::shared_ptr<const Import>> import(const DmabufObject& object);

 private:
  /* A duplicate of the descriptor is kept open, so that no other object gets the number of this one. */
  struct Known {
    uint64_t device, number;  // st_dev, st_ino
    int fd;
    std::shared_ptr<const Import> import;
  };
  void forget_oldest();

  ContextPtr context_;
  std::list<Known> known_;  // the one used last first
};

}  // namespace vmafx::hip

#endif
