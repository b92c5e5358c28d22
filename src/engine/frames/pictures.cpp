#include "engine/frames/pictures.h"

#include <cerrno>
#include <cstring>

namespace vmafx {
namespace {

/* Planar, in the low bits of their words. */
template <class T>
SamplePlane copy_plane(const VmafxPicture& picture, const PlaneLayout& layout, std::byte* out) {
  const int w = layout.w, h = layout.h;
  const Plane<const T> from{reinterpret_cast<const T*>(picture.data[layout.source]), picture.stride[layout.source], w,
                            h};
  const Plane<T> to{reinterpret_cast<T*>(out), static_cast<ptrdiff_t>(round_to_lines(w * sizeof(T))), w, h};
  for (int y = 0; y < h; y++) {
    const T* in_row = from.row(y) + layout.first;
    T* out_row = to.row(y);
    if (layout.is_plain()) std::memcpy(out_row, in_row, w * sizeof(T));
    else
      for (int x = 0; x < w; x++) out_row[x] = static_cast<T>(in_row[x * layout.step] >> layout.shift);
  }
  return {to.data, to.stride, w, h};
}

}  // namespace

/* -- In host memory ------------------------------------------------------------------------------------------------ */

void HostPicture::crop_chroma(VideoFormat format) {
  cropped = planes;
  format.whole_chroma = false;
  for (int p = 1; p < 3; p++) {
    if (!planes.plane[p].data) continue;
    cropped.plane[p].w = format.plane_w(p);
    cropped.plane[p].h = format.plane_h(p);
  }
}

HostReader::HostReader(const InputFormat& format, bool copies) : format_(format), copies_(copies) {
  for (int p = 0; p < 3; p++) {
    if (!is_copied(p)) continue;
    const PlaneLayout& layout = format_.plane[p];
    offset_[p] = copied_bytes_;
    copied_bytes_ += round_to_lines(static_cast<size_t>(layout.w) * layout.sample_bytes) * layout.h;
  }
}

StatusOr<HostPicture> HostReader::read(OwnedPicture memory) {
  HostPicture host{.memory = std::move(memory)};
  const VmafxPicture& picture = *host.memory;
  host.planes.bpc = format_.scored.bpc;
  if (copied_bytes_) {
    auto buffer = buffers_.take();
    host.copied = buffers_.lend(buffer ? std::move(*buffer) : allocate_aligned(copied_bytes_));
  }
  for (int p = 0; p < 3; p++) {
    if (!format_.is_read(p)) continue;
    const PlaneLayout& layout = format_.plane[p];
    if (!picture.data[layout.source])
      return error(EINVAL, "a picture came without the data of plane %d", layout.source);
    if (!is_copied(p)) {
      host.planes.plane[p] = {picture.data[p], picture.stride[p], layout.w, layout.h};
      host.pinned[p] = format_.given.memory == VMAFX_MEMORY_PINNED && picture.stride[p] > 0;
    } else {
      const auto copy = layout.sample_bytes == 2 ? copy_plane<uint16_t> : copy_plane<uint8_t>;
      host.planes.plane[p] = copy(picture, layout, host.copied->get() + offset_[p]);
    }
  }
  host.crop_chroma(format_.scored);
  if (copies_) host.memory = OwnedPicture();
  return host;
}

StatusOr<OwnedPicture> HostReader::download(const VmafxPicture& picture) const {
  if (!picture.download)
    return error(EINVAL, "the %s frames cannot be read where they lie, and not be downloaded", format_.role.c_str());
  VmafxPicture copy{};
  if (const int failure = picture.download(picture.opaque, &copy))
    return error(failure < 0 ? -failure : EIO, "a %s frame could not be downloaded from the GPU", format_.role.c_str());
  return OwnedPicture(copy);
}

StatusOr<HostPicture> HostReader::read_download(const VmafxPicture& picture) {
  VMAFX_ASSIGN(OwnedPicture copy, download(picture));
  VMAFX_ASSIGN(HostPicture host, read(std::move(copy)));
  downloaded_++;
  return host;
}

/* -- Held ---------------------------------------------------------------------------------------------------------- */

const HostPicture* HeldPicture::in_host() {
  const MutexLock lock(mutex_);
  return host_ ? &*host_ : nullptr;
}

Status HeldPicture::bring_to_host() {
  const MutexLock lock(mutex_);
  if (host_) return {};
  if (HeldPicture* const from = unconverted()) {
    VMAFX_TRY(from->bring_to_host());
    host_.emplace(unconverted_.convert(*from->in_host()));
    return {};
  }
  VMAFX_ASSIGN(HostPicture host, reader_->read_download(*source_));
  host_.emplace(std::move(host));
  return {};
}

/* -- All of an input ----------------------------------------------------------------------------------------------- */

void PictureReader::start(const InputFormat& format, Log& log) {
  host_ = std::make_shared<HostReader>(format);
  log_ = &log;
}

void PictureReader::import(std::unique_ptr<DeviceIntake> intake, bool may_download) {
  intake_ = std::move(intake);
  may_download_ = may_download;
}

Status PictureReader::stop_importing(const std::string& reason, bool may_download) {
  intake_.reset();
  const std::string frames = "the " + host_->format().role + " frames ";
  if (!may_download)
    return error(EINVAL, "import=device, but %scannot be read where they lie: %s", frames.c_str(), reason.c_str());
  log_->info(frames + "are downloaded from the GPU: " + reason);
  return {};
}

StatusOr<std::shared_ptr<HeldPicture>> PictureReader::read(OwnedPicture source) {
  if (!host_) return Status(EINVAL, "a picture came before its format");
  if (!in_gpu_memory()) {
    VMAFX_ASSIGN(HostPicture host, host_->read(std::move(source)));
    return std::make_shared<HeldPicture>(std::move(host));
  }
  VMAFX_ASSIGN(std::optional<DevicePicture> device, leave_on_device(*source));
  if (device) return std::make_shared<HeldPicture>(std::move(source), std::move(*device), host_);
  VMAFX_ASSIGN(HostPicture host, host_->read_download(*source));
  return std::make_shared<HeldPicture>(std::move(host));
}

/* nullopt: it is to be downloaded, like all that come later. */
StatusOr<std::optional<DevicePicture>> PictureReader::leave_on_device(const VmafxPicture& picture) {
  std::optional<DevicePicture> device;
  if (!intake_) return device;
  auto taken = intake_->take(picture);
  Status status = taken.status();
  if (status.ok()) status = check_first(picture, taken.value());
  if (status.ok()) device = std::move(taken.value());
  else VMAFX_TRY(stop_importing(status.message(), may_download_ || intake_->is_lost()));
  return device;
}

/* Compares the first picture, as the device sees it, with a download, which is not kept. */
Status PictureReader::check_first(const VmafxPicture& picture, const DevicePicture& device) {
  if (checked_ || !picture.download) return {};
  checked_ = true;
  VMAFX_ASSIGN(const OwnedPicture copy, host_->download(picture));
  return intake_->compare(device, *copy);
}

}  // namespace vmafx
