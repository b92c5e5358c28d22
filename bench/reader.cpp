#include "bench/reader.h"

namespace bench {

Reader::Reader(const Clip& clip, bool copies) : clip_(clip), copies_(copies) {
  constexpr int kPictures = 16;
  for (int i = 0; copies_ && i < kPictures; i++) {
    buffers_.push_back(std::make_unique<Buffer>(Buffer{this, {}}));
    clip_.copy(0, buffers_.back()->bytes);
    free_.push_back(buffers_.back().get());
  }
}

VmafxPicture Reader::read(int frame) {
  if (!copies_) {
    VmafxPicture picture = clip_.picture(frame);
    picture.release = [](void*) {};
    return picture;
  }
  Buffer* buffer = take();
  VmafxPicture picture = clip_.copy(frame, buffer->bytes);
  picture.opaque = buffer;
  picture.release = give_back;
  return picture;
}

Reader::Buffer* Reader::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    buffers_.push_back(std::make_unique<Buffer>(Buffer{this, {}}));
    return buffers_.back().get();
  }
  Buffer* buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void Reader::give_back(void* opaque) {
  Buffer* buffer = static_cast<Buffer*>(opaque);
  const std::lock_guard lock(buffer->owner->mutex_);
  buffer->owner->free_.push_back(buffer);
}

}  // namespace bench
