#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/xattr.h>

#include "base/system/file_kernel.h"

namespace vmafx::system {

bool names_only(int flags) { return flags & O_PATH; }

bool allocate(int descriptor, int64_t bytes) { return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, bytes) == 0; }

int64_t copy_some(int from, int to, int64_t at, int64_t bytes) {
  off_t place = at;
  return sendfile(to, from, &place, static_cast<size_t>(bytes));
}

bool has_access_list(const std::string& path) {
  return getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

}  // namespace vmafx::system
