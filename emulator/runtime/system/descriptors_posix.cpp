#include "emulator/runtime/system/descriptors.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace vmafx::emulator {
namespace {

/* The place in its file where exported memory begins: llvmpipe, Mesa's Vulkan on the CPU, writes a header before it,
 * the sizes of the file and of the header first. */
size_t offset_in_file(int fd) {
  char path[64] = "", name[64] = "";
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  size_t header[2] = {};
  if (readlink(path, name, sizeof name - 1) < 0 || !std::strstr(name, "memfd:llvmpipe memory fd") ||
      pread(fd, header, sizeof header, 0) != sizeof header)
    return 0;
  return header[1];
}

}  // namespace

bool find_memory(int descriptor, size_t size, size_t* offset) {
  struct stat file;
  *offset = offset_in_file(descriptor);
  return !fstat(descriptor, &file) && static_cast<size_t>(file.st_size) >= size + *offset;
}

std::shared_ptr<const std::atomic<uint64_t>> watch_first_word(int descriptor) {
  using Word = const std::atomic<uint64_t>;
  void* page = mmap(nullptr, sizeof(Word), PROT_READ, MAP_SHARED, descriptor, 0);
  if (page == MAP_FAILED) return nullptr;
  const auto unmap = [](Word* word) { munmap(const_cast<std::atomic<uint64_t>*>(word), sizeof(Word)); };
  return std::shared_ptr<Word>(static_cast<Word*>(page), unmap);
}

}  // namespace vmafx::emulator
