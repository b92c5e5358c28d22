#include "bench/device_frames.h"

#include <algorithm>
#include <cstring>
#include <future>

#include "base/rounding.h"
#include "bench/clip.h"
#include "bench/die.h"

namespace bench {
namespace {

using namespace vmafx;

constexpr hip::Side kSides[] = {hip::Side::kRef, hip::Side::kDist};

/* Several times any GPU's last cache. */
constexpr size_t kBytes = 256 << 20;
constexpr int kFewestFrames = 4, kMostFrames = 64;

/* Frame n is what one large picture shows n steps further right and down, so that only that one is made. */
constexpr int kStepX = 4, kStepY = 2;

}  // namespace

DeviceFrames::DeviceFrames(hip::ContextPtr context, const VideoFormat& format) : format_(format) {
  for (int p = 0; p < format.planes(); p++) picture_bytes_ += plane_bytes(p);
  count_ = static_cast<int>(std::clamp<size_t>(kBytes / (2 * picture_bytes_), kFewestFrames, kMostFrames));
  const size_t bytes = 2 * picture_bytes_ * count_;
  pinned_ = take(hip::PinnedBuffer<std::byte>::create(context, bytes));
  device_ = take(hip::DeviceBuffer<std::byte>::create(context, bytes));
  std::memset(pinned_.data(), 0, bytes);  // the padding of rows is uploaded, too
  auto ref = std::async(std::launch::async, [this] { fill(hip::Side::kRef); });
  fill(hip::Side::kDist);
  ref.get();
  hip::Stream stream = take(hip::Stream::create(context));
  check(stream.upload(device_.ptr(), static_cast<const std::byte*>(pinned_.data()), bytes));
  check(stream.drain());
}

/* As the pool lays rows out, so that a plane is uploaded in one piece. */
size_t DeviceFrames::stride(int plane) const { return round_up(row_bytes(plane), 64); }

size_t DeviceFrames::plane_bytes(int plane) const { return round_up(stride(plane) * format_.plane_h(plane), 256); }

size_t DeviceFrames::offset(hip::Side side, int64_t frame, int plane) const {
  size_t bytes = (2 * (frame % count_) + (side == hip::Side::kDist)) * picture_bytes_;
  for (int p = 0; p < plane; p++) bytes += plane_bytes(p);
  return bytes;
}

void DeviceFrames::fill(hip::Side side) {
  const ClipFormat large = {format_.w + kStepX * count_, format_.h + kStepY * count_, format_.bpc, 1};
  const Clip clip = side == hip::Side::kRef ? Clip::reference(large) : Clip::distorted(large);
  const VmafxPicture from = clip.picture(0);
  for (int frame = 0; frame < count_; frame++)
    for (int p = 0; p < format_.planes(); p++) {
      const int x = kStepX * frame / (p ? 2 : 1), y = kStepY * frame / (p ? 2 : 1);
      for (int row = 0; row < format_.plane_h(p); row++)
        std::memcpy(pinned_.data() + offset(side, frame, p) + row * stride(p),
                    from.data[p] + (y + row) * from.stride[p] + x * sample_bytes(), row_bytes(p));
    }
}

Picture DeviceFrames::picture(hip::Side side, int64_t frame) const {
  Picture picture;
  picture.bpc = format_.bpc;
  for (int p = 0; p < format_.planes(); p++)
    picture.plane[p] = {pinned_.data() + offset(side, frame, p), static_cast<ptrdiff_t>(stride(p)), format_.plane_w(p),
                        format_.plane_h(p)};
  return picture;
}

hip::DevicePlane DeviceFrames::device_plane(hip::Side side, int64_t frame, int plane) const {
  return {device_.ptr().as<const uint8_t>(static_cast<ptrdiff_t>(offset(side, frame, plane))),
          static_cast<int64_t>(stride(plane))};
}

void DeviceFrames::use_pinned(hip::PoolFrame& pool_frame, int64_t frame) const {
  for (const hip::Side side : kSides)
    for (int p = 0; p < format_.planes(); p++)
      pool_frame.use_pinned(side, p, pinned_.data() + offset(side, frame, p), stride(p));
}

void DeviceFrames::use_device(hip::PoolFrame& pool_frame, int64_t frame) const {
  for (const hip::Side side : kSides)
    for (int p = 0; p < format_.planes(); p++) pool_frame.use_device(side, p, device_plane(side, frame, p));
}

}  // namespace bench
