/* The version of this library, in logs and reports. */
#ifndef VMAFX_ENGINE_VERSION_H
#define VMAFX_ENGINE_VERSION_H

namespace vmafx {

/* "0.1.0"; of a build from a git checkout "0.1.0-g80c0f90". */
const char* library_version();

}  // namespace vmafx

#endif
