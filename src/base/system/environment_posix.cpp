#include "base/system/environment.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <unistd.h>

#include <cstdlib>

namespace vmafx {

const char* environment(const char* name) {
#ifdef HAVE_SECURE_GETENV
  return secure_getenv(name);
#else
  return getuid() == geteuid() && getgid() == getegid() ? std::getenv(name) : nullptr;
#endif
}

}  // namespace vmafx
