/* Pages of this process' memory. Addresses and sizes are multiples of a page; a part of a file may end inside one. The
 * program ends where there is no room. */
#ifndef VMAFX_EMULATOR_RUNTIME_SYSTEM_PAGES_H
#define VMAFX_EMULATOR_RUNTIME_SYSTEM_PAGES_H

#include <cstddef>

namespace vmafx::emulator {

inline constexpr size_t kPage = 4096;

enum class Reach { kNone, kRead, kWrite };  // kWrite: to read, too

/* Memory that can be written. */
void* take_pages(size_t size);
void give_back_pages(void* pages, size_t size);

/* Zeros that can be written and take memory only where they are touched. */
void* take_zeros(size_t size);
void clear_zeros(void* pages, size_t size);

/* Addresses without memory, out of reach: those that come into reach have memory from then on, which drop_pages()
 * takes away again. */
void* reserve_pages(size_t size);
void drop_pages(void* pages, size_t size);

void set_reach(void* pages, size_t size, Reach reach);

/* Puts a part of a file in the place of reserved pages, out of reach; false: it cannot be put there. The file's
 * descriptor stays its owner's. Windows has no such descriptors. */
bool put_file(void* pages, size_t size, int descriptor, size_t offset);
void take_file_away(void* pages, size_t size);

}  // namespace vmafx::emulator

#endif
