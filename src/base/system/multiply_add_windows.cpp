/* fmaf() in place of mingw-w64's, which rounds the product, too: a quarter of its results differ from those of a fused
 * multiply-add, which plain definitions and vectors take for one operation. */
#include <bit>
#include <cmath>
#include <cstdint>

/* The product of two floats is exact in double precision. The sum is rounded to odd there: of the two neighbors of the
 * exact sum, the one with an odd last bit, so that rounding it to float is like rounding the exact sum. */
extern "C" float fmaf(float a, float b, float c) {
  const double product = static_cast<double>(a) * b, sum = product + c;
  if (!std::isfinite(sum)) return static_cast<float>(sum);
  const double added = sum - product, lost = (product - (sum - added)) + (c - added);
  auto bits = std::bit_cast<uint64_t>(sum);
  if (lost != 0 && bits % 2 == 0) bits += (lost > 0) == (sum > 0) ? 1 : -1;
  return static_cast<float>(std::bit_cast<double>(bits));
}
