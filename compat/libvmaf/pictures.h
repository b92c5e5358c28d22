/* Pictures: memory with a count of who refers to it, and a pool that gets it back.
 *
 * A program has VmafPicture as its header has it, release 3.2.1's or a later one's with a color, and does not say
 * which. Both agree in what comes before `ref`. So a picture is found again by its first plane's address, and of a
 * picture of unknown layout nothing beyond the shorter one is read or written. A picture of vmaf_picture_wrap(), which
 * the shorter header does not declare, has the longer one. */
#ifndef COMPAT_LIBVMAF_PICTURES_H
#define COMPAT_LIBVMAF_PICTURES_H

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "compat/libvmaf/abi.h"
#include "compat/libvmaf/cuda.h"

namespace compat {

inline constexpr std::align_val_t kAlignment{64};  // rows begin at multiples of it, in bytes

struct FreeMemory {
  void operator()(void* memory) const {
    if (cuda) cuda->free(memory);
    else ::operator delete(memory, kAlignment);
  }

  std::shared_ptr<const Cuda> cuda;  // of memory on a GPU
};
using Memory = std::unique_ptr<void, FreeMemory>;

class PicturePool;

}  // namespace compat

struct VmafRef {
  std::atomic<int> count{1};
  const void* first_plane = nullptr;
  bool wrapped = false;   // the program keeps the memory
  compat::Memory memory;  // null if wrapped
  size_t luma_bytes = 0;
  ptrdiff_t luma_stride = 0;
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

/* Takes a picture from the program, which has zeros then: with its reference in `ref`, null if it has none, and the
 * color that a program with a later header has set. */
struct Taken {
  VmafPicture picture;
  VmafColor color;
};
Taken take(VmafPicture* picture);

/* Lets go of a reference. */
int drop(VmafRef* ref);

/* The GPU in whose memory a picture is; null: it is in host memory. */
inline const std::shared_ptr<const Cuda>& gpu_of(const VmafRef& ref) { return ref.memory.get_deleter().cuda; }

/* Pictures of one size. Beyond those that it was made with, it makes more while the others are in use: libvmaf waits
 * for one of them instead, which could be for ever where the frames in flight are more than the program has counted
 * on. */
class PicturePool : public std::enable_shared_from_this<PicturePool> {
 public:
  /* `cuda`: the GPU that has them; null: they are in host memory. */
  static int make(const VmafPictureConfiguration& configuration, std::shared_ptr<const Cuda> cuda,
                  std::shared_ptr<PicturePool>* pool);
  int fetch(VmafPicture* picture);
  void give_back(Memory memory);

 private:
  PictureLayout layout_;
  std::shared_ptr<const Cuda> cuda_;
  std::mutex mutex_;
  std::vector<Memory> free_;
};

}  // namespace compat

#endif
