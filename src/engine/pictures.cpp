#include "engine/pictures.h"

#include <cerrno>

#include "engine/colour.h"

namespace vmafx {
namespace {

constexpr int kLargestSide = 1 << 16;  // keeps every count of samples and every sum below 2^32 per plane

size_t sample_bytes(int bpc) { return bpc > 8 ? 2 : 1; }

}  // namespace

StatusOr<VideoFormat> scored_format(const VmafxFormat& format, const char* role) {
  if (format.width < 1 || format.height < 1 || format.width > kLargestSide || format.height > kLargestSide)
    return error(EINVAL, "the %s input is %dx%d; sizes from 1 to %d can be scored", role, format.width, format.height,
                 kLargestSide);
  if (format.bits < 8 || format.bits > 16)
    return error(EINVAL, "the %s input has %d bits per sample; 8 to 16 can be scored", role, format.bits);
  if (format.shift < 0 || format.shift + format.bits > 16 || (format.bits == 8 && format.shift))
    return error(EINVAL, "the %s input has %d-bit samples shifted by %d, which does not fit its words", role, format.bits,
                 format.shift);
  if (format.memory < VMAFX_MEMORY_HOST || format.memory > VMAFX_MEMORY_DMABUF)
    return error(EINVAL, "the %s input is in memory of an unknown kind (%d)", role, static_cast<int>(format.memory));
  return VideoFormat{format.width, format.height, format.bits, static_cast<Chroma>(format.chroma),
                     described_colour(format.colour)};
}

/* -- A picture ----------------------------------------------------------------------------------------------------- */

HeldPicture::~HeldPicture() {
  drop_download();
  if (source_.release) source_.release(source_.opaque);
}

Picture HeldPicture::planes() const {
  if (!device_) return planes_;
  const std::lock_guard lock(mutex_);
  return planes_;
}

bool HeldPicture::is_pinned(int plane) const {
  return reader_.format_.memory == VMAFX_MEMORY_PINNED && !reader_.needs_unpacking(plane) &&
         planes_.plane[plane].stride > 0;
}

Status HeldPicture::bring_to_host() const {
  const std::lock_guard lock(mutex_);
  if (in_host_) return {};
  VMAFX_TRY(download());
  VMAFX_TRY(reader_.point_at_planes(*this, *downloaded_));
  in_host_ = true;
  reader_.downloaded_++;
  return {};
}

Status HeldPicture::download() const {
  if (downloaded_) return {};
  if (!source_.download)
    return error(EINVAL, "the %s frames cannot be read where they lie, and not be downloaded", reader_.role_);
  VmafxPicture copy{};
  if (const int failure = source_.download(source_.opaque, &copy))
    return error(failure < 0 ? -failure : EIO, "a %s frame could not be downloaded from the GPU", reader_.role_);
  downloaded_ = copy;
  return {};
}

void HeldPicture::drop_download() const {
  if (downloaded_ && downloaded_->release) downloaded_->release(downloaded_->opaque);
  downloaded_.reset();
}

/* -- All of an input ----------------------------------------------------------------------------------------------- */

void PictureReader::start(const VmafxFormat& format, const VideoFormat& scored, unsigned planes_read, const char* role,
                          Log& log) {
  format_ = format;
  scored_ = scored;
  planes_read_ = planes_read;
  role_ = role;
  log_ = &log;
  for (int p = 0; p < scored.planes(); p++) {
    if (!needs_unpacking(p)) continue;
    offset_[p] = unpacked_bytes_;
    unpacked_bytes_ += round_to_lines(scored.plane_w(p) * sample_bytes(scored.bpc)) * scored.plane_h(p);
  }
}

bool PictureReader::needs_unpacking(int plane) const {
  if (!(planes_read_ >> plane & 1)) return false;
  return format_.shift || (plane && format_.layout == VMAFX_LAYOUT_SEMIPLANAR);
}

template <class T>
SamplePlane PictureReader::unpack(const VmafxPicture& picture, int plane, std::byte* out) const {
  const bool interleaved = plane && format_.layout == VMAFX_LAYOUT_SEMIPLANAR;
  const int source = interleaved ? 1 : plane, step = interleaved ? 2 : 1, first = interleaved ? plane - 1 : 0;
  const int w = scored_.plane_w(plane), h = scored_.plane_h(plane);
  const Plane<const T> from{reinterpret_cast<const T*>(picture.data[source]), picture.stride[source], w, h};
  const Plane<T> to{reinterpret_cast<T*>(out), static_cast<ptrdiff_t>(round_to_lines(w * sizeof(T))), w, h};
  for (int y = 0; y < h; y++) {
    const T* in_row = from.row(y) + first;
    T* out_row = to.row(y);
    for (int x = 0; x < w; x++) out_row[x] = static_cast<T>(in_row[x * step] >> format_.shift);
  }
  return {to.data, to.stride, w, h};
}

AlignedBytes PictureReader::take_buffer() const {
  if (!unpacked_bytes_) return nullptr;
  {
    const std::lock_guard lock(pool_->mutex);
    if (!pool_->free.empty()) {
      AlignedBytes buffer = std::move(pool_->free.back());
      pool_->free.pop_back();
      return buffer;
    }
  }
  return allocate_aligned(unpacked_bytes_);
}

StatusOr<std::shared_ptr<const HeldPicture>> PictureReader::read(const VmafxPicture& picture) {
  try {
    const std::shared_ptr<HeldPicture> held = hold(picture);
    if (!in_gpu_memory()) {
      VMAFX_TRY(point_at_planes(*held, picture));
    } else {
      VMAFX_ASSIGN(const bool left, leave_on_device(*held));
      if (!left) VMAFX_TRY(held->bring_to_host());
    }
    return std::shared_ptr<const HeldPicture>(held);
  } catch (const std::bad_alloc&) {  // here, so that the caller can still hand over its other picture
    return error(ENOMEM, "out of memory for a picture");
  }
}

std::shared_ptr<HeldPicture> PictureReader::hold(const VmafxPicture& picture) {
  auto give_back = [pool = pool_](HeldPicture* held) {
    if (held->unpacked_) {
      const std::lock_guard lock(pool->mutex);
      pool->free.push_back(std::move(held->unpacked_));
    }
    delete held;
  };
  HeldPicture* taken = new (std::nothrow) HeldPicture(picture, *this);
  if (!taken) {
    if (picture.release) picture.release(picture.opaque);
    throw std::bad_alloc();
  }
  return {taken, give_back};
}

void PictureReader::import(std::unique_ptr<DeviceIntake> intake, bool may_download) {
  intake_ = std::move(intake);
  may_download_ = may_download;
}

Status PictureReader::stop_importing(const std::string& reason, bool may_download) {
  intake_.reset();
  if (!may_download)
    return error(EINVAL, "import=device, but the %s frames cannot be read where they lie: %s", role_, reason.c_str());
  log_->info(format_text("the %s frames are downloaded from the GPU: %s", role_, reason.c_str()));
  return {};
}

/* False: it is to be downloaded, like all that come later. */
StatusOr<bool> PictureReader::leave_on_device(HeldPicture& held) {
  if (!intake_) return false;
  auto taken = intake_->take(held.source_);
  Status status = taken.status();
  if (status.ok()) {
    held.device_ = std::move(taken.value());
    status = check_first(held);
  }
  if (status.ok()) return true;
  held.device_.reset();
  VMAFX_TRY(stop_importing(status.message(), may_download_ || intake_->is_lost()));
  return false;
}

/* What the device sees of the first picture against what a download gives. That of a picture that passes is not kept. */
Status PictureReader::check_first(HeldPicture& held) {
  if (checked_ || !held.source_.download) return {};
  checked_ = true;
  const std::lock_guard lock(held.mutex_);
  VMAFX_TRY(held.download());
  VMAFX_TRY(intake_->compare(*held.device_, *held.downloaded_));
  held.drop_download();
  return {};
}

Status PictureReader::point_at_planes(const HeldPicture& held, const VmafxPicture& picture) const {
  held.unpacked_ = take_buffer();
  held.planes_.bpc = scored_.bpc;
  for (int p = 0; p < scored_.planes(); p++) {
    if (!(planes_read_ >> p & 1)) continue;
    const int source = p && format_.layout == VMAFX_LAYOUT_SEMIPLANAR ? 1 : p;
    if (!picture.data[source]) return error(EINVAL, "a picture came without the data of plane %d", source);
    SamplePlane& plane = held.planes_.plane[p];
    if (!needs_unpacking(p))
      plane = {picture.data[p], picture.stride[p], scored_.plane_w(p), scored_.plane_h(p)};
    else if (scored_.bpc > 8)
      plane = unpack<uint16_t>(picture, p, held.unpacked_.get() + offset_[p]);
    else
      plane = unpack<uint8_t>(picture, p, held.unpacked_.get() + offset_[p]);
  }
  return {};
}

}  // namespace vmafx
