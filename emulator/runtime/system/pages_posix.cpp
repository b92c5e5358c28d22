#include "emulator/runtime/system/pages.h"

#include <sys/mman.h>

#include "emulator/runtime/report.h"

namespace vmafx::emulator {
namespace {

constexpr int kOwn = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void* map(size_t size, int protection) {
  void* pages = mmap(nullptr, size, protection, kOwn, -1, 0);
  if (pages == MAP_FAILED) die("no room for %zu bytes of addresses", size);
  return pages;
}

}  // namespace

void* take_pages(size_t size) { return map(size, PROT_READ | PROT_WRITE); }

void give_back_pages(void* pages, size_t size) { munmap(pages, size); }

void* take_zeros(size_t size) { return map(size, PROT_READ | PROT_WRITE); }

void clear_zeros(void* pages, size_t size) { madvise(pages, size, MADV_DONTNEED); }

void* reserve_pages(size_t size) { return map(size, PROT_NONE); }

void drop_pages(void* pages, size_t size) {
  madvise(pages, size, MADV_DONTNEED);
  set_reach(pages, size, Reach::kNone);
}

void set_reach(void* pages, size_t size, Reach reach) {
  const int protection = reach == Reach::kNone ? PROT_NONE : reach == Reach::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  if (mprotect(pages, size, protection)) die("mprotect failed");
}

bool put_file(void* pages, size_t size, int descriptor, size_t offset) {
  return mmap(pages, size, PROT_NONE, MAP_SHARED | MAP_FIXED, descriptor, static_cast<off_t>(offset)) != MAP_FAILED;
}

void take_file_away(void* pages, size_t size) { mmap(pages, size, PROT_NONE, kOwn | MAP_FIXED, -1, 0); }

}  // namespace vmafx::emulator
