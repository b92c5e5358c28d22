/* Pictures on their way through the engine: the application's planes as they lie, or unpacked once where the metrics
 * could not read them in place. Those in a GPU's memory are left there for the kernels if that is possible, and
 * downloaded otherwise; which of it is decided here, so that no metric meets memory that it cannot read. */
#ifndef VMAFX_ENGINE_FRAMES_PICTURES_H
#define VMAFX_ENGINE_FRAMES_PICTURES_H

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/aligned.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/picture.h"
#include "base/status.h"
#include "engine/frames/device_copies.h"
#include "engine/frames/device_pictures.h"
#include "engine/frames/input_format.h"
#include "engine/frames/reuse.h"
#include "vmafx/vmafx.h"

namespace vmafx {

inline std::optional<double> time_of(const VmafxPicture& picture) {
  return picture.has_time && std::isfinite(picture.time) ? std::optional(picture.time) : std::nullopt;
}

/* The application's picture, or a download of it. Its release callback runs when this object goes. */
class OwnedPicture {
 public:
  explicit OwnedPicture(const VmafxPicture& picture = {}) noexcept : picture_(picture) {}
  /* Leaves the other with nothing to release. */
  OwnedPicture(OwnedPicture&& other) noexcept { take(other); }
  ~OwnedPicture() { release(); }
  OwnedPicture& operator=(OwnedPicture&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  const VmafxPicture& operator*() const { return picture_; }
  const VmafxPicture* operator->() const { return &picture_; }

 private:
  void release() {
    if (picture_.release) picture_.release(picture_.opaque);
  }

  /* A picture moves some ten times on its way, so of its objects, two thirds of its bytes, only what it has is
   * copied. */
  void take(OwnedPicture& other) noexcept {
    constexpr size_t kTail = offsetof(VmafxPicture, plane_object);
    auto* const to = reinterpret_cast<std::byte*>(&picture_);
    const auto* const from = reinterpret_cast<const std::byte*>(&other.picture_);
    std::memcpy(to, from, offsetof(VmafxPicture, object));
    std::memcpy(to + kTail, from + kTail, sizeof picture_ - kTail);
    const int n = std::clamp(picture_.n_objects, 0, static_cast<int>(std::size(picture_.object)));
    std::copy_n(other.picture_.object, n, picture_.object);
    other.picture_.release = nullptr;
  }

  VmafxPicture picture_;
};

/* A picture in host memory, as the CPU's metrics take it. */
struct HostPicture {
  OwnedPicture memory;                           // holds the planes that are used where they lie
  std::shared_ptr<const AlignedBytes> copied{};  // holds the other planes
  Picture planes{};
  Picture cropped{};    // chroma of odd sizes rounded down, as most metrics read it (see Reads::whole_chroma)
  bool pinned[3] = {};  // the runtime can copy this plane from where it lies

  /* Makes `cropped` of `planes`. */
  void crop_chroma(VideoFormat format);
};

/* Makes planar views of the planes that are read. Samples that are interleaved (nv12) or shifted (p010) are copied once
 * into buffers that are reused; all others are used where they lie, unless all are to be copied. Any thread. */
class HostReader {
 public:
  /* `copies`: of all planes, so that a picture is released as soon as it is read. */
  explicit HostReader(const InputFormat& format, bool copies = false);

  const InputFormat& format() const { return format_; }
  size_t copied_bytes() const { return copied_bytes_; }  // bytes per picture

  /* EINVAL when a plane that is read has no data. */
  StatusOr<HostPicture> read(OwnedPicture memory);

  /* Downloads a picture in a GPU's memory. */
  StatusOr<OwnedPicture> download(const VmafxPicture& picture) const;
  StatusOr<HostPicture> read_download(const VmafxPicture& picture);

  int64_t downloaded() const { return downloaded_; }

 private:
  bool is_copied(int p) const {
    const PlaneLayout& layout = format_.plane[p];
    return format_.is_read(p) && layout.has_samples() && (copies_ || !layout.is_plain());
  }

  const InputFormat format_;
  const bool copies_;
  size_t offset_[3] = {};  // offsets of the copied planes in a buffer
  size_t copied_bytes_ = 0;
  Reuse<AlignedBytes> buffers_;
  std::atomic<int64_t> downloaded_ = 0;
};

class HeldPicture;

/* A picture in another color space than the one that is scored, and what makes the scored one of it on the CPU. */
struct UnconvertedPicture {
  std::shared_ptr<HeldPicture> picture;
  std::function<HostPicture(const HostPicture&)> convert;  // any thread
};

/* A picture that somebody still reads. It is in host memory, on the device, or both; or it is still to be converted,
 * which kernels do themselves. */
class HeldPicture {
 public:
  /* With `copies_for`: the kernels' copies of it, within this budget, stay as long as the picture. */
  explicit HeldPicture(HostPicture host, std::shared_ptr<DeviceBudget> copies_for = nullptr) : host_(std::move(host)) {
    if (copies_for) copies_.emplace(std::move(copies_for));
  }
  HeldPicture(OwnedPicture source, DevicePicture device, std::shared_ptr<HostReader> reader)
      : source_(std::move(source)), device_(std::move(device)), reader_(std::move(reader)) {}

  explicit HeldPicture(UnconvertedPicture from) : unconverted_(std::move(from)) {}

  /* The picture of which kernels make this one; null: they read this one. */
  HeldPicture* unconverted() const { return unconverted_.picture.get(); }

  /* Whether it may be missing in host memory. */
  bool comes_to_host() const { return device_ || unconverted_.picture; }

  /* For the kernels; null when it is to be uploaded. */
  const DevicePicture* on_device() const { return device_ ? &*device_ : nullptr; }

  /* The copies that kernels left on devices; null: they leave none of this picture. */
  DeviceCopies* copies() { return copies_ ? &*copies_ : nullptr; }

  /* Null for a picture that comes_to_host(), until bring_to_host(). */
  const HostPicture* in_host();

  /* Downloads or converts it if that was not done yet. Any thread. */
  Status bring_to_host();

 private:
  const OwnedPicture source_;  // the picture in a GPU's memory
  const std::optional<DevicePicture> device_;
  const std::shared_ptr<HostReader> reader_;
  const UnconvertedPicture unconverted_;
  Mutex mutex_;
  std::optional<HostPicture> host_ VMAFX_GUARDED_BY(mutex_);  // stays once it is there
  std::optional<DeviceCopies> copies_;
};

/* Reads the pictures of one input. Used by one thread. */
class PictureReader {
 public:
  /* Before the first picture. */
  void start(const InputFormat& format, Log& log);

  bool in_gpu_memory() const { return host_ && host_->format().in_gpu_memory(); }
  uint64_t spare_pictures() const { return host_->format().given.spare_pictures; }

  /* From now on pictures are left on the device, as long as that is possible. */
  void import(std::unique_ptr<DeviceIntake> intake, bool may_download);
  bool is_importing() const { return intake_ != nullptr; }

  /* From now on they are downloaded, and the log says why; without `may_download` that is an error. */
  Status stop_importing(const std::string& reason, bool may_download);

  /* EINVAL when a plane that is read has no data. */
  StatusOr<std::shared_ptr<HeldPicture>> read(OwnedPicture source);

  int64_t downloaded() const { return host_ ? host_->downloaded() : 0; }

 private:
  StatusOr<std::optional<DevicePicture>> leave_on_device(const VmafxPicture& picture);
  Status check_first(const VmafxPicture& picture, const DevicePicture& device);

  Log* log_ = nullptr;
  std::shared_ptr<HostReader> host_;  // started when present; outlives the pictures
  std::unique_ptr<DeviceIntake> intake_;
  bool may_download_ = true;
  bool checked_ = false;  // the first picture was compared with its download
};

}  // namespace vmafx

#endif
