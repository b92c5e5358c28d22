/* Pictures on their way through the engine: the application's planes as they lie, or unpacked once where the metrics
 * could not read them in place. Those in a GPU's memory are left there for the kernels if that is possible, and downloaded
 * otherwise; which of it is decided here, so that no metric meets memory that it cannot read. */
#ifndef VMAFX_ENGINE_PICTURES_H
#define VMAFX_ENGINE_PICTURES_H

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/picture.h"
#include "base/status.h"
#include "engine/device_pictures.h"
#include "base/log.h"
#include "vmafx/vmafx.h"

namespace vmafx {

/* The format as the metrics see it. EINVAL when a field is out of range. */
StatusOr<VideoFormat> scored_format(const VmafxFormat& format, const char* role);

class PictureReader;

/* A picture that somebody still reads. The application's release callback runs when the last reader lets go. */
class HeldPicture {
 public:
  HeldPicture(const VmafxPicture& picture, PictureReader& reader) : source_(picture), reader_(reader) {}
  ~HeldPicture();
  HeldPicture(const HeldPicture&) = delete;
  HeldPicture& operator=(const HeldPicture&) = delete;

  /* In host memory. Empty for a picture that was left on the device, until bring_to_host(). */
  Picture planes() const;

  /* For the kernels; null when it is to be uploaded. */
  const DevicePicture* on_device() const { return device_ ? &*device_ : nullptr; }

  /* Whether the runtime copies rows of plane `plane` from where they lie. */
  bool is_pinned(int plane) const;

  /* Downloads it if that was not done yet. Any thread. */
  Status bring_to_host() const;

 private:
  friend class PictureReader;
  Status download() const;
  void drop_download() const;

  VmafxPicture source_;
  PictureReader& reader_;
  std::optional<DevicePicture> device_;
  mutable std::mutex mutex_;  // of what follows, in a picture of the device
  mutable bool in_host_ = false;
  mutable std::optional<VmafxPicture> downloaded_;
  mutable Picture planes_;
  mutable AlignedBytes unpacked_;
};

/* Turns pictures of one input into planar views of the planes that are read. Samples that are interleaved (nv12) or
 * shifted (p010) are copied once into buffers that are reused; all others are used where they lie. It outlives the pictures and
 * stays where it is while there are any. */
class PictureReader {
 public:
  PictureReader() = default;
  PictureReader(PictureReader&&) = delete;

  /* Before the first picture. `role`: "reference", for messages. */
  void start(const VmafxFormat& format, const VideoFormat& scored, unsigned planes_read, const char* role, Log& log);

  bool in_gpu_memory() const {
    return format_.memory == VMAFX_MEMORY_DEVICE || format_.memory == VMAFX_MEMORY_DMABUF;
  }

  /* From now on pictures are left on the device, as long as that is possible. */
  void import(std::unique_ptr<DeviceIntake> intake, bool may_download);
  bool is_importing() const { return intake_ != nullptr; }

  /* From now on they are downloaded, and the log says why; without `may_download` that is an error. */
  Status stop_importing(const std::string& reason, bool may_download);

  /* Takes over picture.release in every case. EINVAL when a plane that is read has no data, ENOMEM. */
  StatusOr<std::shared_ptr<const HeldPicture>> read(const VmafxPicture& picture);

  int64_t downloaded() const { return downloaded_; }

 private:
  friend class HeldPicture;
  struct Pool {  // unpack buffers at rest; outlives the reader as long as pictures are held
    std::mutex mutex;
    std::vector<AlignedBytes> free;
  };

  std::shared_ptr<HeldPicture> hold(const VmafxPicture& picture);
  StatusOr<bool> leave_on_device(HeldPicture& held);
  Status check_first(HeldPicture& held);
  Status point_at_planes(const HeldPicture& held, const VmafxPicture& host) const;
  bool needs_unpacking(int plane) const;
  template <class T>
  SamplePlane unpack(const VmafxPicture& picture, int plane, std::byte* out) const;
  AlignedBytes take_buffer() const;

  const char* role_ = "";
  Log* log_ = nullptr;
  std::unique_ptr<DeviceIntake> intake_;
  bool may_download_ = true;
  bool checked_ = false;  // the first picture, against its download
  std::atomic<int64_t> downloaded_ = 0;

  VmafxFormat format_{};
  VideoFormat scored_;
  unsigned planes_read_ = 0;
  size_t offset_[3] = {};  // of each unpacked plane in the buffer
  size_t unpacked_bytes_ = 0;
  std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
};

}  // namespace vmafx

#endif
