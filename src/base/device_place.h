/* Places: the places that a device (a GPU) has for the processes of this machine, so that no more of them use it than
 * it has room for.
 *
 * A place is a file, locked by the process that has it. The system gives it back when that process ends, however it
 * ends. */
#ifndef VMAFX_BASE_DEVICE_PLACE_H
#define VMAFX_BASE_DEVICE_PLACE_H

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace vmafx {

/* A place that is taken, as long as it lives. */
class DevicePlace {
 public:
  DevicePlace(int fd, size_t device, int number) : device_(device), number_(number), fd_(fd) {}
  ~DevicePlace();
  DevicePlace(const DevicePlace&) = delete;
  DevicePlace& operator=(const DevicePlace&) = delete;

  size_t device() const { return device_; }  // index into the names that were given
  int number() const { return number_; }     // of the place on that device, from 0

 private:
  const size_t device_;
  const int number_;
  const int fd_;  // -1: there is no folder to share places in, so there is no bound
};

/* The folder of the files: the environment variable VMAFX_DEVICE_PLACE_DIR, else a folder of this user,
 * which is made: in XDG_RUNTIME_DIR or /tmp, on Windows in LOCALAPPDATA. "" if there can be none. */
std::string device_place_folder();

/* How many places a GPU with so much memory has: the environment variable VMAFX_DEVICE_PLACES, else one for each GiB,
 * at most 16. EINVAL: the variable is not a number. */
StatusOr<int> device_places_of(size_t memory_bytes);

/* Takes one of the `most` places of one of these devices, of the one where fewest are taken, of equal ones the first.
 * EBUSY: all are taken. */
StatusOr<std::shared_ptr<const DevicePlace>> take_device_place(const std::string& folder,
                                                               std::span<const std::string> devices, int most);

/* How many of the `most` places of a device are taken, as far as that can be seen. */
int count_taken_places(const std::string& folder, const std::string& device, int most);

}  // namespace vmafx

#endif
