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

void copy_rows(Rows<std::byte> to, Rows<const std::byte> from, size_t row_bytes, size_t rows) {
  const hn::ScalableTag<uint8_t> d8;
  const size_t lanes = hn::Lanes(d8);
  for (size_t y = 0; y < rows; y++) {
    std::byte* const row_to = to.first + static_cast<ptrdiff_t>(y) * to.stride;
    const std::byte* const row_from = from.first + static_cast<ptrdiff_t>(y) * from.stride;
    auto* const bytes_to = reinterpret_cast<uint8_t*>(row_to);
    const auto* const bytes_from = reinterpret_cast<const uint8_t*>(row_from);
    size_t x = 0;
    for (; x + lanes <= row_bytes; x += lanes) hn::Stream(hn::LoadU(d8, bytes_from + x), d8, bytes_to + x);
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

void copy_rows_past_caches(Rows<std::byte> to, Rows<const std::byte> from, size_t row_bytes, size_t rows) {
  HWY_DYNAMIC_DISPATCH(copy_rows)(to, from, row_bytes, rows);
}

}  // namespace vmafx
#endif
