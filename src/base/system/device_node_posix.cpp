#include "base/system/device_node.h"

#include <unistd.h>

#include <cerrno>

namespace vmafx::system {

int try_device_node(const char* path) {
  if (access(path, F_OK) != 0) return ENOENT;
  return access(path, R_OK | W_OK) == 0 ? 0 : EACCES;
}

}  // namespace vmafx::system
