#include "hip/import.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/system/foreign_memory.h"
#include "hip/architecture.h"

namespace vmafx::hip {
namespace {

bool offers_import(const Functions& f) {
  return f.ImportExternalMemory && f.ExternalMemoryGetMappedBuffer && f.DestroyExternalMemory;
}

bool offers_semaphores(const Functions& f) {
  return f.ImportExternalSemaphore && f.WaitExternalSemaphoresAsync && f.DestroyExternalSemaphore;
}

StatusOr<int> duplicate(int fd) {
  int copy = -1;
  if (const int cause = system::duplicate_foreign(fd, &copy))
    return error(cause, "no descriptor is left: %s", std::strerror(cause));
  return copy;
}

/* A descriptor for a call that keeps it if it succeeds, on some platforms. */
StatusOr<int> descriptor_to_give(const Functions& f, int fd) { return f.import_keeps_fd ? duplicate(fd) : fd; }

std::string text_of(const Uuid& uuid) {
  std::string text;
  for (size_t i = 0; i < uuid.size(); i++)
    text += format_text(i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
  return text;
}

Status check_objects(std::span<const ForeignObject> objects) {
  if (objects.empty()) return error(ENOTSUP, "they cannot be had as DRM PRIME objects");
  for (const ForeignObject& object : objects)
    if (!object.is_opaque() && object.modifier != kModifierLinear)
      return error(ENOTSUP, "they are not linear (format modifier 0x%llx)",
                   static_cast<unsigned long long>(object.modifier));
  return {};
}

}  // namespace

Status can_import(const Device& device, const ForeignDevice& owner, std::span<const ForeignObject> objects) {
  if (const char* why = system::why_no_foreign_memory()) return error(ENOTSUP, "%s", why);
  if (!offers_import(device.runtime->functions()))
    return error(ENOTSUP, "the runtime %s cannot import memory", device.runtime->library().c_str());
  const auto theirs = PciAddress::parse(owner.pci_address), ours = PciAddress::parse(device.pci_address);
  if (theirs && ours && theirs != ours)
    return error(ENOTSUP, "they are on another device (%s, the metrics run on %s)", owner.pci_address.c_str(),
                 device.pci_address.c_str());
  if (owner.uuid && device.uuid && owner.uuid != device.uuid)
    return error(ENOTSUP, "they are on another device (UUID %s, the metrics run on %s)", text_of(*owner.uuid).c_str(),
                 text_of(*device.uuid).c_str());
  return check_objects(objects);
}

std::string drm_pci_address(int fd, const std::string& numbers) {
  const std::string name = system::bus_name_of_device(fd, numbers);
  return PciAddress::parse(name) ? name : "";
}

Status wait_for_producer(int fd, std::chrono::milliseconds deadline) {
  switch (const int cause = system::wait_for_foreign(fd, deadline)) {
    case 0: return {};
    case EINVAL: return error(EINVAL, "a DRM PRIME object of theirs is not an open file");
    case ETIMEDOUT:
      return error(ETIMEDOUT, "their producer did not finish within %lld ms", static_cast<long long>(deadline.count()));
    default: return error(cause, "waiting for their producer failed: %s", std::strerror(cause));
  }
}

/* -- One object ---------------------------------------------------------------------------------------------------- */

Status Import::open(const ForeignObject& object) {
  const Functions& f = context_->device().runtime->functions();
  ImportSource source{};
  source.type = object.is_opaque() ? kImportOpaqueFd : f.import_type;
  source.size = size_;
  VMAFX_ASSIGN(source.handle.fd, descriptor_to_give(f, object.fd));
  const Status status = context_->call(
      "ImportExternalMemory", [&](const Functions& calls) { return calls.ImportExternalMemory(&native_, &source); });
  if (!status.ok() && f.import_keeps_fd) system::close_foreign(source.handle.fd);
  VMAFX_TRY(status);
  ImportPart part{};
  part.size = size_;
  return context_->call("ExternalMemoryGetMappedBuffer", [&](const Functions& calls) {
    return calls.ExternalMemoryGetMappedBuffer(&address_, native_, &part);
  });
}

Import::~Import() {
  if (address_) context_->dispose("Free", [&](const Functions& f) { return f.Free(address_); });
  if (native_)
    context_->dispose("DestroyExternalMemory", [&](const Functions& f) { return f.DestroyExternalMemory(native_); });
}

/* -- Semaphores ---------------------------------------------------------------------------------------------------- */

StatusOr<std::unique_ptr<Semaphore>> Semaphore::open(ContextPtr context, int fd) {
  const Functions& f = context->device().runtime->functions();
  if (!offers_semaphores(f))
    return error(ENOTSUP, "the runtime %s cannot wait for semaphores", context->device().runtime->library().c_str());
  std::unique_ptr<Semaphore> semaphore(new Semaphore(std::move(context)));
  SemaphoreSource source{};
  source.type = kImportTimelineFd;
  VMAFX_ASSIGN(source.handle.fd, descriptor_to_give(f, fd));
  const Status status = semaphore->context_->call("ImportExternalSemaphore", [&](const Functions& calls) {
    return calls.ImportExternalSemaphore(&semaphore->native_, &source);
  });
  if (!status.ok() && f.import_keeps_fd) system::close_foreign(source.handle.fd);
  VMAFX_TRY(status);
  return semaphore;
}

Semaphore::~Semaphore() {
  if (native_)
    context_->dispose("DestroyExternalSemaphore",
                      [&](const Functions& f) { return f.DestroyExternalSemaphore(native_); });
}

Status Semaphore::hold(Stream& stream, uint64_t value) const {
  SemaphoreWait wait{};
  wait.value = value;
  return context_->call("WaitExternalSemaphoresAsync", [&](const Functions& f) {
    return f.WaitExternalSemaphoresAsync(&native_, &wait, 1, stream.native());
  });
}

/* -- All of them --------------------------------------------------------------------------------------------------- */

Importer::~Importer() {
  while (!known_.empty()) forget_oldest();
}

void Importer::forget_oldest() {
  if (known_.back().fd >= 0) system::close_foreign(known_.back().fd);
  known_.pop_back();
}

StatusOr<std::pair<Importer::Identity, uint64_t>> Importer::identify(const ForeignObject& object) {
  if (object.is_opaque()) return std::pair(Identity{.id = object.id}, object.size);
  system::ForeignIdentity file;
  if (system::identify_foreign(object.fd, &file))
    return error(EINVAL, "a DRM PRIME object of theirs is not an open file");
  /* Kernels before 5.3 give all dma-bufs one number, and no size. */
  if (file.bytes <= 0 || static_cast<uint64_t>(file.bytes) < object.size)
    return error(ENOTSUP, "the kernel does not tell DRM PRIME objects apart");
  return std::pair(Identity{.device = file.device, .number = file.number},
                   object.size ? object.size : static_cast<uint64_t>(file.bytes));
}

std::shared_ptr<const Import> Importer::find(const Identity& identity) {
  const auto found = std::ranges::find(known_, identity, &Known::identity);
  if (found == known_.end()) return nullptr;
  known_.splice(known_.begin(), known_, found);
  return found->import;
}

StatusOr<std::shared_ptr<const Import>> Importer::import(const ForeignObject& object) {
  if (!offers_import(context_->device().runtime->functions()))
    return error(ENOTSUP, "the runtime %s cannot import memory", context_->device().runtime->library().c_str());
  VMAFX_ASSIGN(const auto identified, identify(object));
  const auto [identity, size] = identified;
  if (auto known = find(identity)) return known;
  if (size == 0) return error(EINVAL, "the size of their memory is not known");

  std::shared_ptr<Import> import(new Import(context_, size));
  VMAFX_TRY(import->open(object));
  int kept = -1;
  if (!object.is_opaque()) {
    VMAFX_ASSIGN(kept, duplicate(object.fd));
  }
  if (known_.size() >= kMostObjects) forget_oldest();
  known_.push_front({identity, kept, import});
  return std::shared_ptr<const Import>(import);
}

}  // namespace vmafx::hip
