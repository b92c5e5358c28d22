/* Memory beyond what the standard library asks of the system. */
#ifndef VMAFX_BASE_SYSTEM_MEMORY_H
#define VMAFX_BASE_SYSTEM_MEMORY_H

#include <cstddef>

namespace vmafx::system {

/* A system that gives huge pages to those who ask does so now (madvise(2)); on others nothing changes. `memory` begins
 * at a huge page. */
void ask_for_huge_pages(void* memory, size_t bytes);

}  // namespace vmafx::system

#endif
