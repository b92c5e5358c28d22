#include "base/aligned.h"

#include <algorithm>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace vmafx {
namespace {

/* The size of a huge page on x86-64, and on arm64 with small pages of 4 KiB. */
constexpr size_t kHugePage = size_t{2} << 20;

/* Metrics walk down pictures in strips, where each row is on another small page, and the processor keeps the places of
 * few. A system that gives huge pages to those who ask does so now (madvise(2)); on others nothing changes. */
void ask_for_huge_pages([[maybe_unused]] void* p, [[maybe_unused]] size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  static_cast<void>(madvise(p, bytes, MADV_HUGEPAGE));
#endif
}

}  // namespace

AlignedBytes allocate_aligned(size_t bytes) {
  /* A rest of less than half a huge page stays on small ones, so that at most that much is taken in vain. */
  const size_t huge = (bytes + kHugePage / 2) / kHugePage * kHugePage;
  const std::align_val_t alignment{huge > 0 ? kHugePage : kCacheLine};
  AlignedBytes memory(static_cast<std::byte*>(::operator new[](std::max(bytes, huge), alignment)), {alignment});
  if (huge > 0) ask_for_huge_pages(memory.get(), huge);
  return memory;
}

}  // namespace vmafx
