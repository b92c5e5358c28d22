#include "base/device_place.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/system/environment.h"
#include "base/system/file.h"

namespace vmafx {
namespace {

constexpr int kMostPlaces = 16;
constexpr size_t kBytesPerPlace = size_t{1} << 30;

std::string file_of_place(const std::string& folder, const std::string& device, int number) {
  return folder + "/" + device + "." + std::to_string(number);
}

enum class Taken { kOurs, kOthers, kUnknown };

/* Locks the file, which is made if it is not there. It may be that of another user, who made it in a folder that both
 * use. */
Taken try_to_take(const std::string& path, int* fd) {
  *fd = system::open_file(path, system::kCreate | system::kNotThroughLink, 0644);
  if (*fd < 0 && errno == EACCES) *fd = system::open_file(path, system::kNotThroughLink);
  if (*fd < 0) return Taken::kUnknown;
  const system::Lock lock = system::try_lock(*fd, system::LockKind::kOne);
  if (lock == system::Lock::kTaken) return Taken::kOurs;
  static_cast<void>(system::close_file(*fd));
  *fd = -1;
  return lock == system::Lock::kBusy ? Taken::kOthers : Taken::kUnknown;
}

}  // namespace

DevicePlace::~DevicePlace() {
  if (fd_ >= 0) static_cast<void>(system::close_file(fd_));
}

std::string device_place_folder() {
  if (const char* chosen = environment("VMAFX_DEVICE_PLACE_DIR"); chosen && *chosen) return chosen;
  return system::users_folder();
}

StatusOr<int> device_places_of(size_t memory_bytes) {
  const char* text = environment("VMAFX_DEVICE_PLACES");
  if (!text) return static_cast<int>(std::clamp<size_t>(memory_bytes / kBytesPerPlace, 1, kMostPlaces));
  int places = 0;
  const char* const end = text + std::strlen(text);
  if (const auto [rest, failure] = std::from_chars(text, end, places);
      failure != std::errc() || rest != end || places < 1)
    return error(EINVAL, "VMAFX_DEVICE_PLACES=%s is not a number of processes, which is 1 or more", text);
  return places;
}

/* DevicePlace by place over all devices, so that they fill evenly. */
StatusOr<std::shared_ptr<const DevicePlace>> take_device_place(const std::string& folder,
                                                               std::span<const std::string> devices, int most) {
  for (int number = 0; number < most; number++)
    for (size_t i = 0; i < devices.size(); i++) {
      int fd = -1;
      const Taken taken =
          folder.empty() ? Taken::kUnknown : try_to_take(file_of_place(folder, devices[i], number), &fd);
      if (taken != Taken::kOthers) return std::make_shared<const DevicePlace>(fd, i, number);
    }
  return error(EBUSY, "other processes use it, as many as it has room for (%d; VMAFX_DEVICE_PLACES changes that)",
               most);
}

/* A shared lock is free for everybody who counts, and shows a place that is taken. */
int count_taken_places(const std::string& folder, const std::string& device, int most) {
  int taken = 0;
  for (int number = 0; number < most && !folder.empty(); number++) {
    const system::Descriptor file{system::open_file(file_of_place(folder, device, number), system::kNotThroughLink)};
    taken += file.fd >= 0 && system::try_lock(file.fd, system::LockKind::kMany) == system::Lock::kBusy;
  }
  return taken;
}

}  // namespace vmafx
