/* Pictures: memory with a count of who refers to it, and a pool that gets it back. */
#ifndef COMPAT_LIBVMAF_PICTURES_H
#define COMPAT_LIBVMAF_PICTURES_H

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "compat/libvmaf/abi.h"

namespace compat {

inline constexpr std::align_val_t kAlignment{64};  // rows begin at multiples of it, in bytes

struct FreeMemory {
  void operator()(void* memory) const { ::operator delete(memory, kAlignment); }
};
using Memory = std::unique_ptr<void, FreeMemory>;

class PicturePool;

}  // namespace compat

struct VmafRef {
  std::atomic<int> count{1};
  compat::Memory memory;
  std::shared_ptr<compat::PicturePool> pool;  // the pool that the memory returns to; null: it is freed
};

namespace compat {

/* The places of a picture's planes in its memory. */
struct PictureLayout {
  VmafPicture picture{};  // without memory
  size_t offset[3] = {};
  size_t bytes = 0;

  /* EINVAL: there is no such picture. */
  static int make(const VmafPictureParameters& parameters, PictureLayout* layout);
};

/* Pictures of one size. Beyond those that it was made with, it makes more while the others are in use: libvmaf waits
 * for one of them instead, which could be for ever where the frames in flight are more than the program has counted
 * on. */
class PicturePool : public std::enable_shared_from_this<PicturePool> {
 public:
  static int make(const VmafPictureConfiguration& configuration, std::shared_ptr<PicturePool>* pool);
  int fetch(VmafPicture* picture);
  void give_back(Memory memory);

 private:
  PictureLayout layout_;
  std::mutex mutex_;
  std::vector<Memory> free_;
};

}  // namespace compat

#endif
