/* Pictures in a GPU's memory, read where they lie: which ones that is possible for, and how their planes become what kernels take. */
#ifndef VMAFX_ENGINE_DEVICE_PICTURES_H
#define VMAFX_ENGINE_DEVICE_PICTURES_H

#include <memory>

#include "base/reuse.h"
#include "base/status.h"
#include "engine/device/dispatch.h"
#include "engine/input_format.h"
#include "hip/device.h"
#include "hip/frame_planes.h"
#include "hip/import.h"
#include "hip/stream.h"
#include "kernels/steps/unpack_work.h"
#include "vmafx/vmafx.h"

namespace vmafx {

inline constexpr int kMostObjects = 4;  // of VmafxPicture

struct DevicePicture {
  /* Of each plane that is read: where and how its samples lie (`to` is left open), and whether kernels take them as they are. */
  UnpackPlane plane[3];
  bool as_is[3] = {};

  std::shared_ptr<const hip::Event> ready;  // the samples are there when it is done; null: they are
  std::shared_ptr<const hip::Import> imports[kMostObjects];
};

/* One input of a session. Used by one thread at a time. */
class DeviceIntake {
 public:
  /* `given`: the context of vmafx_options_set_device_context(), which may be one of another device. ENOTSUP, with the
   * reason: no picture of this format can be read where it lies. */
  static StatusOr<std::unique_ptr<DeviceIntake>> create(const InputFormat& format, const hip::OpenedDevice& device,
                                                        const GivenContext& given);

  /* Waits until the producer of a DRM PRIME object is done; of other pictures the device will wait for it. Any failure means that
   * this picture cannot be read where it lies. */
  StatusOr<DevicePicture> take(const VmafxPicture& picture);

  /* Whether the device sees what `host`, the same picture downloaded, holds: EBADMSG if not. Waits for the device. */
  Status compare(const DevicePicture& picture, const VmafxPicture& host);

  bool is_lost() const { return device_.context->lost(); }

 private:
  DeviceIntake(const InputFormat& format, const hip::OpenedDevice& device)
      : format_(format), device_(device), importer_(device.context) {}

  Status import_objects(const VmafxPicture& picture, DevicePicture& taken);
  StatusOr<hip::Address> plane_address(const VmafxPicture& picture, const DevicePicture& taken, int source,
                                       size_t bytes) const;
  Status take_plane(const VmafxPicture& picture, int plane, DevicePicture& taken) const;
  StatusOr<std::shared_ptr<const hip::Event>> mark(void* stream);

  InputFormat format_;
  hip::OpenedDevice device_;
  hip::ContextPtr producer_;  // of device addresses
  std::string owner_;         // PCI address of the device that DRM PRIME objects are of; "" if unknown
  hip::Importer importer_;
  Reuse<hip::Event> events_;
};

}  // namespace vmafx

#endif
