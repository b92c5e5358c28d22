#include "base/device_place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/environment.h"

namespace vmafx {
namespace {

constexpr int kMostPlaces = 16;
constexpr size_t kBytesPerPlace = size_t{1} << 30;

/* Whether nobody else can put something into this folder. */
bool is_ours(const std::string& folder) {
  struct stat info;
  return lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string file_of_place(const std::string& folder, const std::string& device, int number) {
  return folder + "/" + device + "." + std::to_string(number);
}

enum class Taken { kOurs, kOthers, kUnknown };

/* Locks the file, which is made if it is not there. It may be that of another user, who made it in a folder that both
 * use. */
Taken try_to_take(const std::string& path, int* fd) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
  *fd = open(path.c_str(), kFlags | O_CREAT, 0644);
  if (*fd < 0 && errno == EACCES) *fd = open(path.c_str(), kFlags);
  if (*fd < 0) return Taken::kUnknown;
  if (flock(*fd, LOCK_EX | LOCK_NB) == 0) return Taken::kOurs;
  const bool busy = errno == EWOULDBLOCK;
  close(*fd);
  *fd = -1;
  return busy ? Taken::kOthers : Taken::kUnknown;
}

}  // namespace

DevicePlace::~DevicePlace() {
  if (fd_ >= 0) close(fd_);
}

std::string device_place_folder() {
  if (const char* chosen = environment("VMAFX_DEVICE_PLACE_DIR"); chosen && *chosen) return chosen;
  const char* run_time = environment("XDG_RUNTIME_DIR");
  const std::string folder =
      run_time && *run_time == '/' ? std::string(run_time) + "/vmafx" : "/tmp/vmafx-" + std::to_string(geteuid());
  mkdir(folder.c_str(), 0700);  // may be there
  return is_ours(folder) ? folder : "";
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
      if (taken != Taken::kOthers) return std::make_shared<const DevicePlace>(fd, i);
    }
  return error(EBUSY, "other processes use it, as many as it has room for (%d; VMAFX_DEVICE_PLACES changes that)",
               most);
}

/* A shared lock is free for everybody who counts, and shows a place that is taken. */
int count_taken_places(const std::string& folder, const std::string& device, int most) {
  int taken = 0;
  for (int number = 0; number < most && !folder.empty(); number++) {
    const int fd = open(file_of_place(folder, device, number).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    taken += flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
  }
  return taken;
}

}  // namespace vmafx
