#include "base/system/memory.h"

namespace vmafx::system {

/* Windows gives large pages only to accounts with the right to lock memory, at allocation. */
void ask_for_huge_pages(void*, size_t) {}

}  // namespace vmafx::system
