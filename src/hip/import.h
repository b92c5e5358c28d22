/* Memory of another driver as device memory: DRM PRIME objects (dma-bufs) and memory that Vulkan exports as opaque
 * descriptors, read where they lie, never written; and Vulkan's timeline semaphores. */
#ifndef VMAFX_HIP_IMPORT_H
#define VMAFX_HIP_IMPORT_H

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/status.h"
#include "hip/context.h"
#include "hip/device_ptr.h"
#include "hip/stream.h"

namespace vmafx::hip {

inline constexpr uint64_t kModifierLinear = 0;  // DRM_FORMAT_MOD_LINEAR

struct ForeignObject {
  int fd = -1;        // stays the caller's
  uint64_t size = 0;  // bytes; 0: what the descriptor says
  uint64_t modifier = kModifierLinear;
  uint64_t id = 0;  // not 0: an opaque descriptor, of the memory with this number, which is linear

  bool is_opaque() const { return id != 0; }
};

/* The device that objects are of. */
struct ForeignDevice {
  std::string pci_address;     // "" if unknown
  std::optional<Uuid> uuid{};  // nullopt if unknown
};

/* Whether `device` may read such objects where they lie, and if not, why: ENOTSUP. This is the one place that decides
 * it. If nothing of `owner` is known that is known of `device`, the attempt decides. */
Status can_import(const Device& device, const ForeignDevice& owner, std::span<const ForeignObject> objects);

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

  Status open(const ForeignObject& object);

  ContextPtr context_;
  uint64_t size_;
  NativeImport native_ = nullptr;
  Address address_ = 0;
};

/* A timeline semaphore of Vulkan. */
class Semaphore {
 public:
  /* `fd` stays the caller's. ENOTSUP: the runtime cannot wait for one. */
  static StatusOr<std::unique_ptr<Semaphore>> open(ContextPtr context, int fd);
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  /* Makes later work in `stream` start once the semaphore has this value. */
  Status hold(Stream& stream, uint64_t value) const;

 private:
  explicit Semaphore(ContextPtr context) : context_(std::move(context)) {}

  ContextPtr context_;
  NativeSemaphore native_ = nullptr;
};

/* Imports each object once: a producer hands out the same few surfaces again and again, under new descriptors. Used by
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
  StatusOr<std::shared_ptr<const Import>> import(const ForeignObject& object);

 private:
  struct Identity {
    uint64_t device = 0, number = 0;  // st_dev, st_ino
    uint64_t id = 0;                  // or, of an opaque descriptor, this

    bool operator==(const Identity&) const = default;
  };
  /* A duplicate of a dma-buf's descriptor is kept open, so that no other object gets the number of this one. */
  struct Known {
    Identity identity;
    int fd;  // -1: none
    std::shared_ptr<const Import> import;
  };

  /* The identity of an object, and its size in bytes. */
  static StatusOr<std::pair<Identity, uint64_t>> identify(const ForeignObject& object);
  std::shared_ptr<const Import> find(const Identity& identity);
  void forget_oldest();

  ContextPtr context_;
  std::list<Known> known_;  // the one used last first
};

}  // namespace vmafx::hip

#endif
