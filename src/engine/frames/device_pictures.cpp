#include "engine/frames/device_pictures.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "hip/memory.h"

namespace vmafx {
namespace {

constexpr int kAsIsAlignment = 16;  // bytes; see DeviceBatch

/* The row of a plane with the lowest address: the last one, if rows lie bottom up. */
hip::DevicePtr<const std::byte> lowest(const UnpackPlane& plane) {
  return plane.from.as<const std::byte>(plane.from_stride < 0 ? (plane.h - 1) * plane.from_stride : 0);
}

/* The context of the addresses. It need not be that of the metrics, only on the same device: contexts share addresses,
 * and one context can wait for another's event. */
StatusOr<hip::ContextPtr> producer_context(const VmafxFormat& format, const hip::OpenedDevice& device,
                                           const GivenContext& given) {
  if (given.platform == VMAFX_PLATFORM_NONE) return error(ENOTSUP, "no device context was handed in");
  const auto native = static_cast<hip::NativeContext>(format.device_context ? format.device_context : given.context);
  VMAFX_ASSIGN(const hip::Device theirs, hip::device_of_context(hip_platform(given.platform), native));
  if (theirs.runtime != device.runtime || theirs.ordinal != device.ordinal)
    return error(ENOTSUP, "they are on another device (%s, the metrics run on %s)", theirs.pci_address.c_str(),
                 device.pci_address.c_str());
  if (native == device.context->native()) return device.context;
  return hip::Context::adopt(*device.runtime, native);
}

/* The device that objects are of, as far as the application tells. */
hip::ForeignDevice owner_of(const InputFormat& format) {
  if (format.given.memory == VMAFX_MEMORY_DMABUF) return {hip::drm_pci_address(format.given.drm_fd)};
  return {format.pci_address, format.device_uuid};
}

}  // namespace

hip::Platform hip_platform(VmafxPlatform platform) {
  return platform == VMAFX_PLATFORM_CUDA ? hip::Platform::kCuda : hip::Platform::kHip;
}

StatusOr<std::unique_ptr<DeviceIntake>> DeviceIntake::create(const InputFormat& format, const hip::OpenedDevice& device,
                                                             const GivenContext& given) {
  std::unique_ptr<DeviceIntake> intake(new DeviceIntake(format, device));
  if (format.given.memory == VMAFX_MEMORY_DEVICE) {
    VMAFX_ASSIGN(intake->producer_, producer_context(format.given, device, given));
  } else {
    intake->owner_ = owner_of(format);
    intake->producer_ = device.context;
    const hip::ForeignObject any;  // the objects of each picture are looked at when it comes
    VMAFX_TRY(hip::can_import(device, intake->owner_, {&any, 1}));
  }
  return intake;
}

StatusOr<DevicePicture> DeviceIntake::take(const VmafxPicture& picture) {
  DevicePicture taken;
  if (format_.given.memory != VMAFX_MEMORY_DEVICE) VMAFX_TRY(import_objects(picture, taken));
  for (int p = 0; p < 3; p++)
    if (format_.is_read(p)) VMAFX_TRY(take_plane(picture, p, taken));
  if (format_.given.memory == VMAFX_MEMORY_DEVICE) {
    VMAFX_ASSIGN(taken.ready, mark(picture.stream));
  }
  if (format_.given.memory == VMAFX_MEMORY_OPAQUE) VMAFX_TRY(await(picture, taken));
  return taken;
}

Status DeviceIntake::import_objects(const VmafxPicture& picture, DevicePicture& taken) {
  const bool opaque = format_.given.memory == VMAFX_MEMORY_OPAQUE;
  hip::ForeignObject objects[kMostObjects];
  const int n = std::clamp(picture.n_objects, 0, kMostObjects);
  if (opaque && n == 0) return error(ENOTSUP, "Vulkan could not copy them");
  for (int i = 0; i < n; i++) {
    const VmafxObject& given = picture.object[i];
    if (opaque && !given.id) return error(EINVAL, "an object of theirs has no number");
    objects[i] = {given.fd, given.size, given.modifier, opaque ? given.id : 0};
  }
  VMAFX_TRY(hip::can_import(device_, owner_, {objects, static_cast<size_t>(n)}));
  for (int i = 0; i < n; i++) {
    if (!opaque) VMAFX_TRY(hip::wait_for_producer(objects[i].fd, device_.context->deadline()));
    VMAFX_ASSIGN(taken.imports[i], importer_.import(objects[i]));
  }
  return {};
}

/* Has the device wait for opaque memory, or waits here if it cannot. */
Status DeviceIntake::await(const VmafxPicture& picture, DevicePicture& taken) {
  if (picture.semaphore && can_hold_) {
    auto ready = mark_after(*picture.semaphore);
    if (ready.ok()) {
      taken.ready = std::move(ready.value());
      return {};
    }
    if (is_lost()) return ready.status();
    can_hold_ = false;
  }
  if (!picture.wait) return {};
  const int64_t deadline = std::min<int64_t>(device_.context->deadline().count(), INT_MAX);
  const int failure = picture.wait(picture.opaque, static_cast<int>(deadline));
  if (!failure) return {};
  return error(failure < 0 ? -failure : EIO, "waiting for their producer failed: %s",
               std::strerror(failure < 0 ? -failure : EIO));
}

/* An event that occurs once the semaphore has its value. */
StatusOr<std::shared_ptr<const hip::Event>> DeviceIntake::mark_after(const VmafxSemaphore& given) {
  if (!semaphore_ || semaphore_id_ != given.id) {
    if (arrivals_) VMAFX_TRY(arrivals_->drain());
    VMAFX_ASSIGN(semaphore_, hip::Semaphore::open(device_.context, given.fd));
    semaphore_id_ = given.id;
  }
  if (!arrivals_) {
    VMAFX_ASSIGN(hip::Stream stream, hip::Stream::create(device_.context));
    arrivals_.emplace(std::move(stream));
  }
  VMAFX_TRY(semaphore_->hold(*arrivals_, given.value));
  return mark(arrivals_->native());
}

/* The address of raw plane `source`, which has this many bytes. */
StatusOr<hip::Address> DeviceIntake::plane_address(const VmafxPicture& picture, const DevicePicture& taken, int source,
                                                   size_t bytes) const {
  if (format_.given.memory == VMAFX_MEMORY_DEVICE) {
    if (!picture.data[source]) return error(EINVAL, "a picture came without the address of plane %d", source);
    return reinterpret_cast<hip::Address>(picture.data[source]);
  }
  const int object = picture.plane_object[source];
  const int64_t offset = picture.plane_offset[source];
  if (object < 0 || object >= picture.n_objects || offset < 0 || picture.stride[source] < 0)
    return error(EINVAL, "the description of plane %d is wrong: its object, offset or stride is out of range", source);
  const hip::Import& import = *taken.imports[object];
  if (static_cast<uint64_t>(offset) + bytes > import.size())
    return error(EINVAL, "plane %d reaches past the end of its object", source);
  return import.data().address() + static_cast<uint64_t>(offset);
}

Status DeviceIntake::take_plane(const VmafxPicture& picture, int p, DevicePicture& taken) const {
  const PlaneLayout& layout = format_.plane[p];
  const int source = layout.source;
  UnpackPlane& plane = taken.plane[p];
  plane.w = layout.w;
  plane.h = layout.h;
  plane.sample_bytes = static_cast<uint8_t>(layout.sample_bytes);
  plane.step = static_cast<uint8_t>(layout.step);
  plane.first = static_cast<uint8_t>(layout.first);
  plane.shift = static_cast<uint8_t>(layout.shift);
  plane.from_stride = picture.stride[source];
  const size_t span = static_cast<size_t>(plane.h - 1) * std::abs(plane.from_stride) + layout.row_bytes();
  VMAFX_ASSIGN(const hip::Address address, plane_address(picture, taken, source, span));
  plane.from = hip::DevicePtr<const uint8_t>::from_address(address);
  const auto is_multiple = [&](int of) { return address % of == 0 && plane.from_stride % of == 0; };
  if (!is_multiple(plane.sample_bytes)) return error(ENOTSUP, "plane %d is at an odd address", source);
  taken.as_is[p] = layout.is_plain() && plane.from_stride > 0 && is_multiple(kAsIsAlignment);
  return {};
}

StatusOr<std::shared_ptr<const hip::Event>> DeviceIntake::mark(void* stream) {
  auto event = events_.take();
  if (!event) {
    VMAFX_ASSIGN(event, hip::Event::create(producer_));
  }
  VMAFX_TRY(event->record(static_cast<hip::NativeStream>(stream)));
  return events_.lend(std::move(*event));
}

Status DeviceIntake::compare(const DevicePicture& picture, const VmafxPicture& host) {
  VMAFX_ASSIGN(hip::Stream stream, hip::Stream::create(device_.context));
  if (picture.ready) VMAFX_TRY(stream.wait_for(*picture.ready));
  for (int p = 0; p < 3; p++) {
    const int source = format_.plane[p].source;
    if (!format_.is_read(p) || !host.data[source]) continue;
    const UnpackPlane& plane = picture.plane[p];
    const size_t bytes = format_.plane[p].row_bytes();
    VMAFX_ASSIGN(const auto seen, hip::PinnedBuffer<std::byte>::create(device_.context, bytes * plane.h));
    VMAFX_TRY(stream.download_rows(seen.data(), bytes, lowest(plane), std::abs(plane.from_stride), bytes, plane.h));
    VMAFX_TRY(stream.drain());
    for (int y = 0; y < plane.h; y++)
      if (std::memcmp(seen.data() + (plane.from_stride < 0 ? plane.h - 1 - y : y) * bytes,
                      host.data[source] + y * host.stride[source], bytes) != 0)
        return error(EBADMSG, "the GPU reads other samples in them than a download gives (plane %d, row %d)", source,
                     y);
  }
  return {};
}

}  // namespace vmafx
