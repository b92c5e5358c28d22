#include "compat/libvmaf/pictures.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "compat/libvmaf/log.h"

namespace compat {
namespace {

constexpr unsigned kLargestSide = 1 << 16;  // as vmafx

size_t aligned(size_t bytes) {
  constexpr auto kBytes = static_cast<size_t>(kAlignment);
  return (bytes + kBytes - 1) / kBytes * kBytes;
}

/* Zeros; null: there is no memory. */
Memory allocate(size_t bytes) {
  Memory memory(::operator new(bytes, kAlignment, std::nothrow));
  if (memory) std::memset(memory.get(), 0, bytes);
  return memory;
}

void place(const PictureLayout& layout, Memory memory, std::shared_ptr<PicturePool> pool, VmafPicture* picture) {
  auto ref = std::make_unique<VmafRef>();
  *picture = layout.picture;
  for (int p = 0; p < 3; p++)
    if (picture->h[p]) picture->data[p] = static_cast<uint8_t*>(memory.get()) + layout.offset[p];
  ref->memory = std::move(memory);
  ref->pool = std::move(pool);
  picture->ref = ref.release();
  picture->priv = picture->ref;
}

}  // namespace

int PictureLayout::make(const VmafPictureParameters& parameters, PictureLayout* layout) {
  const auto [w, h, bpc, pix_fmt] = parameters;
  if (pix_fmt == VMAF_PIX_FMT_UNKNOWN || pix_fmt > VMAF_PIX_FMT_YUV400P || bpc < 8 || bpc > 16) return -EINVAL;
  if (!w || !h || w > kLargestSide || h > kLargestSide) return -EINVAL;
  *layout = {};
  layout->picture.pix_fmt = pix_fmt;
  layout->picture.bpc = bpc;
  for (int p = 0; p < (pix_fmt == VMAF_PIX_FMT_YUV400P ? 1 : 3); p++) {
    const unsigned plane_w = p && pix_fmt != VMAF_PIX_FMT_YUV444P ? w / 2 : w;
    const unsigned plane_h = p && pix_fmt == VMAF_PIX_FMT_YUV420P ? h / 2 : h;
    const size_t stride = aligned(size_t{plane_w} * (bpc > 8 ? 2 : 1));
    layout->picture.w[p] = plane_w;
    layout->picture.h[p] = plane_h;
    layout->picture.stride[p] = static_cast<ptrdiff_t>(stride);
    layout->offset[p] = layout->bytes;
    layout->bytes += stride * plane_h;
  }
  return 0;
}

int PicturePool::make(const VmafPictureConfiguration& configuration, std::shared_ptr<PicturePool>* pool) {
  if (!configuration.pic_cnt) return -EINVAL;
  auto made = std::make_shared<PicturePool>();
  if (const int ret = PictureLayout::make(configuration.pic_params, &made->layout_)) return ret;
  for (unsigned i = 0; i < configuration.pic_cnt; i++) {
    made->free_.push_back(allocate(made->layout_.bytes));
    if (!made->free_.back()) return -ENOMEM;
  }
  *pool = std::move(made);
  return 0;
}

int PicturePool::fetch(VmafPicture* picture) {
  Memory memory;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      memory = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!memory) memory = allocate(layout_.bytes);
  if (!memory) return -ENOMEM;
  place(layout_, std::move(memory), shared_from_this(), picture);
  return 0;
}

void PicturePool::give_back(Memory memory) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(memory));
}

}  // namespace compat

int vmaf_picture_alloc(VmafPicture* pic, VmafPixelFormat pix_fmt, unsigned bpc, unsigned w, unsigned h) {
  if (!pic) return -EINVAL;
  return compat::guarded([&] {
    compat::PictureLayout layout;
    if (const int ret = compat::PictureLayout::make({w, h, bpc, pix_fmt}, &layout)) return ret;
    compat::Memory memory = compat::allocate(layout.bytes);
    if (!memory) return -ENOMEM;
    compat::place(layout, std::move(memory), nullptr, pic);
    return 0;
  });
}

int vmaf_picture_unref(VmafPicture* pic) {
  if (!pic || !pic->ref) return -EINVAL;
  VmafRef* const ref = pic->ref;
  *pic = {};
  if (ref->count.fetch_sub(1) > 1) return 0;
  return compat::guarded([ref] {
    const std::unique_ptr<VmafRef> last(ref);
    if (last->pool) last->pool->give_back(std::move(last->memory));
    return 0;
  });
}
