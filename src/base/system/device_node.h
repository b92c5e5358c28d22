/* Files that stand for drivers of devices. */
#ifndef VMAFX_BASE_SYSTEM_DEVICE_NODE_H
#define VMAFX_BASE_SYSTEM_DEVICE_NODE_H

namespace vmafx::system {

/* Whether a program may open such a file for reading and writing: 0; ENOENT: it is missing; EACCES: it may not. Windows
 * has no such files, and drivers are there or not by their libraries: 0. */
int try_device_node(const char* path);

}  // namespace vmafx::system

#endif
