#ifndef VMAFX_ENGINE_FRAMES_COPY_ROWS_H
#define VMAFX_ENGINE_FRAMES_COPY_ROWS_H

#include <cstddef>

namespace vmafx {

/* Rows of a plane, `stride` bytes from one to the next. */
template <class Byte>
struct Rows {
  Byte* first;
  ptrdiff_t stride;
};

/* Copies rows of so many bytes to where no processor reads them next, but a device does: the stores go past the caches,
 * which would otherwise read from memory what they are about to overwrite. They are done when it returns. `to`: rows
 * begin at multiples of 64 bytes. */
void copy_rows_past_caches(Rows<std::byte> to, Rows<const std::byte> from, size_t row_bytes, size_t rows);

}  // namespace vmafx

#endif
