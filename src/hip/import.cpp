#include "hip/import.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "hip/architecture.h"

namespace vmafx::hip {
namespace {

bool offers_import(const Functions& f) {
  return f.ImportExternalMemory && f.ExternalMemoryGetMappedBuffer && f.DestroyExternalMemory;
}

Status check_objects(std::span<const DmabufObject> objects) {
  if (objects.empty()) return error(ENOTSUP, "they cannot be had as DRM PRIME objects");
  for (const DmabufObject& object : objects)
    if (object.modifier != kModifierLinear)
      return error(ENOTSUP, "they are not linear (format modifier 0x%llx)",
                   static_cast<unsigned long long>(object.modifier));
  return {};
}

}  // namespace

Status can_import(const Device& device, const std::string& owner, std::span<const DmabufObject> objects) {
  if (!offers_import(device.runtime->functions()))
    return error(ENOTSUP, "the runtime %s cannot import memory", device.runtime->library().c_str());
  const auto theirs = PciAddress::parse(owner), ours = PciAddress::parse(device.pci_address);
  if (theirs && ours && theirs != ours)
    return error(ENOTSUP, "they are on another device (%s, the metrics run on %s)", owner.c_str(),
                 device.pci_address.c_str());
  return check_objects(objects);
}

std::string drm_pci_address(int fd, const std::string& numbers) {
  struct stat file;
  if (fstat(fd, &file) || !S_ISCHR(file.st_mode)) return "";
  char target[PATH_MAX] = "";
  const std::string link = format_text("%s/%u:%u/device", numbers.c_str(), major(file.st_rdev), minor(file.st_rdev));
  if (readlink(link.c_str(), target, sizeof target - 1) < 0) return "";
  const char* slash = std::strrchr(target, '/');
  const std::string name = slash ? slash + 1 : target;
  return PciAddress::parse(name) ? name : "";
}

Status wait_for_producer(int fd, std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd file{fd, POLLIN, 0};
    const int ready = poll(&file, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready > 0 && file.revents & POLLIN) return {};
    if (ready > 0) return error(EINVAL, "a DRM PRIME object of theirs is not an open file");
    if (ready == 0)
      return error(ETIMEDOUT, "their producer did not finish within %lld ms", static_cast<long long>(deadline.count()));
    if (errno != EINTR) return error(errno, "waiting for their producer failed: %s", std::strerror(errno));
  }
}

/* -- One object ---------------------------------------------------------------------------------------------------- */

Status Import::open(int fd) {
  const Functions& f = context_->device().runtime->functions();
  ImportSource source{};
  source.type = f.import_type;
  source.size = size_;
  source.handle.fd = f.import_keeps_fd ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : fd;
  if (source.handle.fd < 0) return error(errno, "no descriptor is left: %s", std::strerror(errno));
  const Status status = context_->call(
      "ImportExternalMemory", [&](const Functions& calls) { return calls.ImportExternalMemory(&native_, &source); });
  if (!status.ok() && f.import_keeps_fd) close(source.handle.fd);
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

/* -- All of them --------------------------------------------------------------------------------------------------- */

Importer::~Importer() {
  while (!known_.empty()) forget_oldest();
}

void Importer::forget_oldest() {
  close(known_.back().fd);
  known_.pop_back();
}

StatusOr<std::shared_ptr<const Import>> Importer::import(const DmabufObject& object) {
  if (!offers_import(context_->device().runtime->functions()))
    return error(ENOTSUP, "the runtime %s cannot import memory", context_->device().runtime->library().c_str());
  struct stat file;
  if (fstat(object.fd, &file)) return error(EINVAL, "a DRM PRIME object of theirs is not an open file");
  const auto found = std::ranges::find_if(
      known_, [&](const Known& known) { return known.device == file.st_dev && known.number == file.st_ino; });
  if (found != known_.end()) {
    known_.splice(known_.begin(), known_, found);
    return found->import;
  }
  /* Kernels before 5.3 give all dma-bufs one number, and no size. */
  if (file.st_size <= 0 || static_cast<uint64_t>(file.st_size) < object.size)
    return error(ENOTSUP, "the kernel does not tell DRM PRIME objects apart");

  std::shared_ptr<Import> import(new Import(context_, object.size ? object.size : static_cast<uint64_t>(file.st_size)));
  VMAFX_TRY(import->open(object.fd));
  const int kept = fcntl(object.fd, F_DUPFD_CLOEXEC, 0);
  if (kept < 0) return error(errno, "no descriptor is left: %s", std::strerror(errno));
  if (known_.size() >= kMostObjects) forget_oldest();
  known_.push_front({file.st_dev, file.st_ino, kept, import});
  return std::shared_ptr<const Import>(import);
}

}  // namespace vmafx::hip
