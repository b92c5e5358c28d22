/* Pictures in a GPU's memory that kernels read where they lie. */
#ifndef VMAFX_ENGINE_FRAMES_DEVICE_PICTURES_H
#define VMAFX_ENGINE_FRAMES_DEVICE_PICTURES_H

#include <memory>
#include <optional>

#include "base/status.h"
#include "engine/frames/input_format.h"
#include "engine/frames/reuse.h"
#include "hip/device.h"
#include "hip/frame_planes.h"
#include "hip/import.h"
#include "hip/stream.h"
#include "kernels/steps/unpack_work.h"
#include "vmafx/vmafx.h"

namespace vmafx {

inline constexpr int kMostObjects = 4;  // in a VmafxPicture

/* The application's device context. */
struct GivenContext {
  VmafxPlatform platform = VMAFX_PLATFORM_NONE;  // NONE: there is none
  void* context = nullptr;
};

/* `platform`: not VMAFX_PLATFORM_NONE. */
hip::Platform hip_platform(VmafxPlatform platform);

struct DevicePicture {
  /* Each plane that is read: the place and layout of its samples (`to` is left open), and whether kernels can read them
   * as they are. */
  UnpackPlane plane[3];
  bool as_is[3] = {};

  std::shared_ptr<const hip::Event> ready;  // occurs when the samples are there; null: they are
  std::shared_ptr<const hip::Import> imports[kMostObjects];
};

/* Takes the pictures of one input. Used by one thread at a time. */
class DeviceIntake {
 public:
  /* `given`: the context of vmafx_options_set_device_context(), which may be one of another device. ENOTSUP, with the
   * reason: no picture of this format can be read where it lies. */
  static StatusOr<std::unique_ptr<DeviceIntake>> create(const InputFormat& format, const hip::OpenedDevice& device,
                                                        const GivenContext& given);

  /* Waits until the producer of a DRM PRIME object is done, and that of opaque memory if the runtime takes no
   * semaphore; for other producers the device will wait. Any failure means that this picture cannot be read where it
   * lies. */
  StatusOr<DevicePicture> take(const VmafxPicture& picture);

  /* Compares the picture, as the device sees it, with `host`, a download of it. Waits for the device. EBADMSG: they
   * differ. */
  Status compare(const DevicePicture& picture, const VmafxPicture& host);

  bool is_lost() const { return device_.context->lost(); }

 private:
  DeviceIntake(const InputFormat& format, const hip::OpenedDevice& device)
      : format_(format), device_(device), importer_(device.context) {}

  Status import_objects(const VmafxPicture& picture, DevicePicture& taken);
  StatusOr<hip::Address> plane_address(const VmafxPicture& picture, const DevicePicture& taken, int source,
                                       size_t bytes) const;
  Status take_plane(const VmafxPicture& picture, int plane, DevicePicture& taken) const;
  Status await(const VmafxPicture& picture, DevicePicture& taken);
  StatusOr<std::shared_ptr<const hip::Event>> mark_after(const VmafxSemaphore& semaphore);
  StatusOr<std::shared_ptr<const hip::Event>> mark(void* stream);

  InputFormat format_;
  hip::OpenedDevice device_;
  hip::ContextPtr producer_;  // the context of device addresses, and of streams that write pictures
  hip::ForeignDevice owner_;  // the device that objects are of
  hip::Importer importer_;
  Reuse<hip::Event> events_;
  bool can_hold_ = true;  // the runtime takes the producer's semaphore, as far as is known
  std::unique_ptr<hip::Semaphore> semaphore_;
  uint64_t semaphore_id_ = 0;
  std::optional<hip::Stream> arrivals_;  // work that waits for the semaphore
};

}  // namespace vmafx

#endif
