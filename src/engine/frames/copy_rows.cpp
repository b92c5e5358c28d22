#include "engine/frames/copy_rows.h"

#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/frames/copy_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void copy_rows(std::byte* to, size_t to_stride, const std::byte* from, ptrdiff_t from_stride, size_t row_bytes,
               size_t rows) {
  const hn::ScalableTag<uint8_t> d8;
  const size_t lanes = hn::Lanes(d8);
  for (size_t y = 0; y < rows; y++) {
    auto* const row_to = reinterpret_cast<uint8_t*>(to + y * to_stride);
    const auto* const row_from = reinterpret_cast<const uint8_t*>(from + static_cast<ptrdiff_t>(y) * from_stride);
    size_t x = 0;
    for (; x + lanes <= row_bytes; x += lanes) hn::Stream(hn::LoadU(d8, row_from + x), d8, row_to + x);
    std::memcpy(row_to + x, row_from + x, row_bytes - x);
  }
  hwy::FlushStream();
}

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(copy_rows);

void copy_rows_past_caches(std::byte* to, size_t to_stride, const std::byte* from, ptrdiff_t from_stride,
                           size_t row_bytes, size_t rows) {
  HWY_DYNAMIC_DISPATCH(copy_rows)(to, to_stride, from, from_stride, row_bytes, rows);
}

}  // namespace vmafx
#endif
