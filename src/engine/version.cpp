/* The version in programs of tests and benchmarks, which would all be linked again at each commit with that of
 * commit.cpp. */
#include "engine/version.h"

#include <string_view>

#include "config.h"
#include "vmafx/vmafx.h"

#define VMAFX_VERSION_TEXT(major, minor, patch) #major "." #minor "." #patch
#define VMAFX_VERSION_OF(major, minor, patch) VMAFX_VERSION_TEXT(major, minor, patch)
static_assert(VMAFX_VERSION_OF(VMAFX_VERSION_MAJOR, VMAFX_VERSION_MINOR, VMAFX_VERSION_PATCH) ==
                  std::string_view(PACKAGE_VERSION),
              "vmafx.h has another version than configure.ac");

namespace vmafx {

const char* library_version() { return PACKAGE_VERSION; }

}  // namespace vmafx
