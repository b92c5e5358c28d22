/* Opening the GPU: found, its code loaded, proven to compute, or the cause told apart why not. */
#ifndef VMAFX_HIP_DEVICE_H
#define VMAFX_HIP_DEVICE_H

#include <memory>
#include <string>

#include "base/status.h"
#include "hip/context.h"
#include "hip/device_list.h"
#include "hip/module.h"

namespace vmafx::hip {

/* A device that has answered. */
struct OpenedDevice : Device {
  ContextPtr context;
  std::shared_ptr<const Module> kernels;  // all metrics' kernels for its architecture
};

/* Opens the device that `choice` names: "auto", an index, or a PCI address (see choose_device). What can fail, and
 * how it is told: ENOENT no runtime library; ENXIO no driver; EACCES no permission on its device node; ENODEV no
 * device, or none like `choice`; ENOTSUP no code object for the device's architecture; EBADMSG self-test failed; EIO
 * and others: a call failed. AMD's platform is asked first; NVIDIA's when that has no such device. */
StatusOr<OpenedDevice> open_device(const std::string& choice, ContextOptions options = {});

/* The same on a device of the application, which stays its owner (see Context::adopt). */
StatusOr<OpenedDevice> open_adopted(const Runtime& runtime, NativeContext native, ContextOptions options = {});

/* The same with the runtime of that platform. */
StatusOr<OpenedDevice> open_adopted(Platform platform, NativeContext native, ContextOptions options = {});

/* Runs the known-answer kernel: EBADMSG if it answers wrongly. */
Status self_test(const ContextPtr& context, const Module& kernels);

}  // namespace vmafx::hip

#endif
