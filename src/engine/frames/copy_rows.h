#ifndef VMAFX_ENGINE_FRAMES_COPY_ROWS_H
#define VMAFX_ENGINE_FRAMES_COPY_ROWS_H

#include <cstddef>

namespace vmafx {

/* Copies rows of so many bytes to where no processor reads them next, but a device does: the stores go past the caches,
 * which would otherwise read from memory what they are about to overwrite. They are done when it returns. The rows of
 * `to` begin at multiples of 64 bytes; strides are in bytes. */
void copy_rows_past_caches(std::byte* to, size_t to_stride, const std::byte* from, ptrdiff_t from_stride,
                           size_t row_bytes, size_t rows);

}  // namespace vmafx

#endif
