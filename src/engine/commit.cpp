/* The version with the commit that was built. Nothing else knows the commit, so that the next one compiles only
 * this. */
#include "commit/commit.h"
#include "config.h"
#include "engine/version.h"

namespace vmafx {

const char* library_version() { return PACKAGE_VERSION VMAFX_COMMIT; }

}  // namespace vmafx
