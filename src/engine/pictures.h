/* Pictures on their way through the engine: the application's planes as they lie, or unpacked once where the metrics
 * could not read them in place. */
#ifndef VMAFX_ENGINE_PICTURES_H
#define VMAFX_ENGINE_PICTURES_H

#include <memory>
#include <mutex>
#include <vector>

#include "base/aligned.h"
#include "base/picture.h"
#include "base/status.h"
#include "vmafx/vmafx.h"

namespace vmafx {

/* The format as the metrics see it. EINVAL when a field is out of range. */
StatusOr<VideoFormat> scored_format(const VmafxFormat& format, const char* role);

/* A picture that somebody still reads. The application's release callback runs when the last reader lets go. */
class HeldPicture {
 public:
  explicit HeldPicture(const VmafxPicture& picture) : source_(picture) {}
  ~HeldPicture() {
    if (source_.release) source_.release(source_.opaque);
  }
  HeldPicture(const HeldPicture&) = delete;
  HeldPicture& operator=(const HeldPicture&) = delete;

  const Picture& planes() const { return planes_; }

 private:
  friend class PictureReader;
  VmafxPicture source_;
  Picture planes_;
  AlignedBytes unpacked_;
};

/* Turns pictures of one input into planar views of the planes that are read. Samples that are interleaved (nv12) or
 * shifted (p010) are copied once into buffers that are reused; all others are used where they lie. */
class PictureReader {
 public:
  PictureReader() = default;
  PictureReader(const VmafxFormat& format, const VideoFormat& scored, unsigned planes_read);

  /* Takes over picture.release in every case. EINVAL when a plane that is read has no data, ENOMEM. */
  StatusOr<std::shared_ptr<const HeldPicture>> read(const VmafxPicture& picture);

 private:
  struct Pool {  // unpack buffers at rest; outlives the reader as long as pictures are held
    std::mutex mutex;
    std::vector<AlignedBytes> free;
  };

  std::shared_ptr<HeldPicture> hold(const VmafxPicture& picture);
  Status point_at_planes(HeldPicture& held) const;
  bool needs_unpacking(int plane) const;
  template <class T>
  SamplePlane unpack(const VmafxPicture& picture, int plane, std::byte* out) const;
  AlignedBytes take_buffer();

  VmafxFormat format_{};
  VideoFormat scored_;
  unsigned planes_read_ = 0;
  size_t offset_[3] = {};  // of each unpacked plane in the buffer
  size_t unpacked_bytes_ = 0;
  std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
};

}  // namespace vmafx

#endif
