#include "compat/libvmaf/pictures.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "compat/libvmaf/log.h"

namespace compat {
namespace {

constexpr unsigned kLargestSide = 1 << 16;  // as vmafx

size_t aligned(size_t bytes) {
  constexpr auto kBytes = static_cast<size_t>(kAlignment);
  return (bytes + kBytes - 1) / kBytes * kBytes;
}

/* Zeros; on a GPU any bytes. Null: there is no memory. */
Memory allocate(size_t bytes, const std::shared_ptr<const Cuda>& cuda = nullptr) {
  if (cuda) return {cuda->allocate(bytes), {cuda}};
  Memory memory(::operator new(bytes, kAlignment, std::nothrow), {});
  if (memory) std::memset(memory.get(), 0, bytes);
  return memory;
}

/* A member of a picture that has the longer layout. */
template <class Member>
Member member_of_later(const VmafPicture& picture, size_t offset) {
  Member member;
  constexpr size_t kBytes = sizeof(Member);  // NOLINT(bugprone-sizeof-expression): some members are pointers
  std::memcpy(static_cast<void*>(&member), reinterpret_cast<const std::byte*>(&picture) + offset, kBytes);
  return member;
}

/* The references that pictures hold, by the address of the first plane, which several wrapped ones may share. */
class References {
 public:
  void add(VmafRef* ref) {
    const std::lock_guard lock(mutex_);
    by_plane_.emplace(ref->first_plane, ref);
  }
  void remove(const VmafRef* ref);
  bool has_allocated(const void* first_plane);
  VmafRef* find(const VmafPicture& picture);

 private:
  using Map = std::unordered_multimap<const void*, VmafRef*>;

  std::mutex mutex_;
  Map by_plane_;
};

void References::remove(const VmafRef* ref) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = by_plane_.equal_range(ref->first_plane);
  for (auto it = begin; it != end; ++it)
    if (it->second == ref) {
      by_plane_.erase(it);
      return;
    }
}

bool References::has_allocated(const void* first_plane) {
  const std::lock_guard lock(mutex_);
  const auto found = by_plane_.find(first_plane);
  return found != by_plane_.end() && !found->second->wrapped;
}

/* Null: the picture has none. Only one with a wrapped plane is known to have the longer layout. */
VmafRef* References::find(const VmafPicture& picture) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = by_plane_.equal_range(picture.data[0]);
  if (begin == end || !begin->second->wrapped) return begin == end ? nullptr : begin->second;
  const auto said = member_of_later<VmafRef*>(picture, offsetof(VmafLaterPicture, ref));
  for (auto it = begin; it != end; ++it)
    if (it->second == said) return it->second;
  return nullptr;
}

/* Never destroyed: programs let go of pictures until they end. */
References& references() {
  static auto& all = *new References;
  return all;
}

/* Zeros as much as the program's picture is known to have. */
void clear(const VmafRef* ref, VmafPicture* picture) {
  std::memset(static_cast<void*>(picture), 0, ref && ref->wrapped ? sizeof(VmafLaterPicture) : sizeof(VmafPicture));
}

/* The color of a picture. Where `ref` is not what vmaf_picture_alloc() wrote, a program with a later header has written
 * its color. */
VmafColor color_of(const VmafRef* ref, const VmafPicture& picture) {
  if (!ref || (!ref->wrapped && picture.ref == ref && picture.priv == ref)) return {};
  const auto color = member_of_later<VmafColor>(picture, offsetof(VmafLaterPicture, color));
  const bool known = color.range <= VMAF_COLOR_RANGE_FULL && color.primaries <= VMAF_COLOR_PRIMARIES_SMPTE432 &&
                     color.trc <= VMAF_COLOR_TRC_SMPTE2084 && color.matrix <= VMAF_COLOR_MATRIX_ICTCP;
  return known ? color : VmafColor{};
}

void place(const PictureLayout& layout, Memory memory, std::shared_ptr<PicturePool> pool, VmafPicture* picture) {
  auto ref = std::make_unique<VmafRef>();
  *picture = layout.picture;
  for (int p = 0; p < 3; p++)
    if (picture->h[p]) picture->data[p] = static_cast<uint8_t*>(memory.get()) + layout.offset[p];
  ref->first_plane = picture->data[0];
  ref->memory = std::move(memory);
  ref->luma_stride = picture->stride[0];
  ref->luma_bytes = static_cast<size_t>(picture->stride[0]) * picture->h[0];
  ref->pool = std::move(pool);
  references().add(ref.get());
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

Taken take(VmafPicture* picture) {
  VmafRef* const ref = references().find(*picture);
  Taken taken{*picture, color_of(ref, *picture)};
  taken.picture.ref = ref;
  taken.picture.priv = ref;
  clear(ref, picture);
  return taken;
}

int drop(VmafRef* ref) {
  if (ref->count.fetch_sub(1) > 1) return 0;
  return guarded([ref] {
    const std::unique_ptr<VmafRef> last(ref);
    references().remove(ref);
    if (last->pool) last->pool->give_back(std::move(last->memory));
    return 0;
  });
}

int PicturePool::make(const VmafPictureConfiguration& configuration, std::shared_ptr<const Cuda> cuda,
                      std::shared_ptr<PicturePool>* pool) {
  if (!configuration.pic_cnt) return -EINVAL;
  auto made = std::make_shared<PicturePool>();
  if (const int ret = PictureLayout::make(configuration.pic_params, &made->layout_)) return ret;
  made->cuda_ = std::move(cuda);
  for (unsigned i = 0; i < configuration.pic_cnt; i++) {
    made->free_.push_back(allocate(made->layout_.bytes, made->cuda_));
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
  if (!memory) memory = allocate(layout_.bytes, cuda_);
  if (!memory) return -ENOMEM;
  place(layout_, std::move(memory), shared_from_this(), picture);
  return 0;
}

void PicturePool::give_back(Memory memory) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(memory));
}

namespace {

/* Puts a picture on planes of the program. */
int wrap(const VmafLaterPictureWrapped& given, VmafLaterPicture* picture) {
  PictureLayout layout;
  if (const int ret = PictureLayout::make({given.w, given.h, given.bpc, given.pix_fmt}, &layout)) return ret;
  for (int p = 0; p < 3; p++)
    if (layout.picture.h[p] && !given.data[p]) return COMPAT_INVALID("vmaf_picture_wrap(): plane %d is null", p);
  if (references().has_allocated(given.data[0]))
    return COMPAT_INVALID(
        "vmaf_picture_wrap(): the planes are those of a picture that vmaf_picture_alloc() made: hand over that one");
  auto ref = std::make_unique<VmafRef>();
  ref->wrapped = true;
  ref->first_plane = given.data[0];
  *picture = {};
  picture->pix_fmt = given.pix_fmt;
  picture->bpc = given.bpc;
  for (int p = 0; p < 3; p++) {
    picture->w[p] = layout.picture.w[p];
    picture->h[p] = layout.picture.h[p];
    picture->data[p] = given.data[p];
    picture->stride[p] = given.stride[p];
  }
  references().add(ref.get());
  picture->ref = ref.release();
  picture->priv = picture->ref;
  return 0;
}

/* As libvmaf is without zimg, which it does not need either. */
int no_conversion(const char* call) {
  log(VMAF_LOG_LEVEL_ERROR, "%s: this library does not convert pictures: hand over those that are to be scored", call);
  return -ENOTSUP;
}

}  // namespace
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
  if (!pic) return -EINVAL;
  return compat::guarded([&] {
    VmafRef* const ref = compat::take(pic).picture.ref;
    return ref ? compat::drop(ref) : -EINVAL;
  });
}

int vmaf_picture_wrap(VmafLaterPicture* pic, VmafLaterPictureWrapped pic_wrapped) {
  if (!pic) return -EINVAL;
  if (pic_wrapped.release[0] || pic_wrapped.release[1])
    return COMPAT_INVALID(
        "vmaf_picture_wrap(): a picture with release_picture or cookie is not taken, as no release of libvmaf says in "
        "which order they come: leave both null, and keep the planes until vmaf_close()");
  return compat::guarded([&] { return compat::wrap(pic_wrapped, pic); });
}

int vmaf_picture_convert_context_init(VmafPictureConvertContext**, const VmafLaterPicture*,
                                      const VmafPictureConvertTarget*) {
  return compat::no_conversion("vmaf_picture_convert_context_init()");
}

int vmaf_picture_convert(VmafPictureConvertContext*, VmafLaterPicture*, const VmafLaterPicture*) {
  return compat::no_conversion("vmaf_picture_convert()");
}

int vmaf_picture_convert_context_close(VmafPictureConvertContext*) {
  return compat::no_conversion("vmaf_picture_convert_context_close()");
}
