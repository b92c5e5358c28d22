#include <fcntl.h>
#include <sys/acl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/system/file_kernel.h"

namespace vmafx::system {

bool names_only(int) { return false; }

bool allocate(int descriptor, int64_t bytes) {
  fstore_t wanted = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, bytes, 0};
  return fcntl(descriptor, F_PREALLOCATE, &wanted) != -1;
}

int64_t copy_some(int from, int to, int64_t at, int64_t bytes) {
  char data[1 << 16];
  const ssize_t got = pread(from, data, static_cast<size_t>(std::min<int64_t>(bytes, std::ssize(data))), at);
  return got <= 0 ? got : write(to, data, static_cast<size_t>(got));
}

bool has_access_list(const std::string& path) {
  const acl_t list = acl_get_file(path.c_str(), ACL_TYPE_EXTENDED);
  if (list) acl_free(list);
  return list != nullptr;
}

}  // namespace vmafx::system
