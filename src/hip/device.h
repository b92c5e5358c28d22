/* Opening the GPU: found, its code loaded, proven to compute, or the cause told apart why not. */
#ifndef VMAFX_HIP_DEVICE_H
#define VMAFX_HIP_DEVICE_H

#include <memory>
#include <string>

#include "base/device_place.h"
#include "base/status.h"
#include "hip/code_objects.h"
#include "hip/context.h"
#include "hip/device_list.h"
#include "hip/module.h"

namespace vmafx::hip {

/* A device that has answered. */
struct OpenedDevice : Device {
  std::shared_ptr<const DevicePlace> place{};  // the place that this process took on it
  ContextPtr context;
  std::shared_ptr<const Module> kernels;  // all metrics' kernels for its architecture
};

/* Whether there is any runtime to open a device with: known at once where there is none. The causes are those of
 * open_device(). */
Status find_runtime();

/* Opens the device that `choice` names: "auto", an index, or a PCI address (see choose_device). If "auto" finds several
 * equally good ones, takes the one that the fewest processes use. Errors: EBUSY other processes fill it; ENOENT no
 * runtime library; system::kUnloadable one that does not load; ENXIO no driver; EACCES no permission on its device
 * node; ENODEV no device, or none like `choice`; ENOTSUP no code object for the device's architecture; EBADMSG the
 * self-test failed; EIO and others: a call failed. AMD's platform is asked first; NVIDIA's when that has no such
 * device. */
StatusOr<OpenedDevice> open_device(const std::string& choice, ContextOptions options = {});

/* Opens this device; the causes are those above from EBUSY on. */
StatusOr<OpenedDevice> open_device(const Device& device, ContextOptions options);

/* Opens a device for an application that has a context: runs in that context when `choice` is "auto" or names its
 * device. The application stays its owner (see Context::adopt). */
StatusOr<OpenedDevice> open_device(const std::string& choice, Platform platform, NativeContext native,
                                   ContextOptions options = {});

/* Loads the kernels of all metrics and has the device prove itself with them (see self_test()). Before the driver
 * compiles PTX, which takes long, the context's user is told. */
StatusOr<OpenedDevice> load_kernels(ContextPtr context, const CodeObject& code);

/* The device that a context of the application belongs to. */
StatusOr<Device> device_of_context(Platform platform, NativeContext native);

/* To be asked between calls that take long: ECANCELED if nobody wants the device any more. If the program ends, the
 * device is given up besides: the program waits, and freeing takes long, too. */
Status still_wanted(const ContextPtr& context);

/* Runs the known-answer kernel: EBADMSG if it answers wrongly. */
Status self_test(const ContextPtr& context, const Module& kernels);

}  // namespace vmafx::hip

#endif
