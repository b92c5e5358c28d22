#include "base/aligned.h"

#include <algorithm>

#include "base/system/memory.h"

namespace vmafx {
namespace {

/* The size of a huge page on x86-64, and on arm64 with small pages of 4 KiB. */
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

/* Metrics walk down pictures in strips, where each row is on another small page, and the processor keeps the places of
 * few: large memory asks for huge pages. */
AlignedBytes allocate_aligned(size_t bytes) {
  /* A rest of less than half a huge page stays on small ones, so that at most that much is taken in vain. */
  const size_t huge = (bytes + kHugePage / 2) / kHugePage * kHugePage;
  const std::align_val_t alignment{huge > 0 ? kHugePage : kCacheLine};
  AlignedBytes memory(static_cast<std::byte*>(::operator new[](std::max(bytes, huge), alignment)), {alignment});
  if (huge > 0) system::ask_for_huge_pages(memory.get(), huge);
  return memory;
}

}  // namespace vmafx
