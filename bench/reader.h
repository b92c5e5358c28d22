/* The frames of a clip. Either copied, as a decoder hands them over, into pictures that are used again, the last one
 * given back first, so that they lie in the cache as far as it holds them. Or where they lie in memory, which takes no
 * time. */
#ifndef VMAFX_BENCH_READER_H
#define VMAFX_BENCH_READER_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "bench/clip.h"

namespace bench {

class Reader {
 public:
  /* Makes as many pictures as a thread ever has in flight, so that none is made while the clock runs. */
  Reader(const Clip& clip, bool copies);
  Reader(const Reader&) = delete;  // pictures point here until they are released

  VmafxPicture read(int frame);

 private:
  struct Buffer {
    Reader* owner;
    std::vector<uint8_t> bytes;
  };
  static void give_back(void* buffer);
  Buffer* take();

  const Clip& clip_;
  const bool copies_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer>> buffers_;  // all there are
  std::vector<Buffer*> free_;
};

}  // namespace bench

#endif
