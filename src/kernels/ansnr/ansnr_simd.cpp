/* The SIMD twin of float_ansnr, equal to ansnr_ref.cpp.
 *
 * Row by row: the vertical halves of both windows go into four rows of 32-bit numbers, whose borders are reflected there; then
 * they are added up sideways. Floor of 1920x1080: 50 instructions for 16 samples on AVX-512, of which 13 multiply: some 2 ms. */
#include "kernels/ansnr/ansnr.h"
#include "kernels/ansnr/ansnr_math.h"

#include "base/aligned.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ansnr/ansnr_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* No vectors here: the definition does it. */
AnsnrSums ansnr(const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte* scratch) {
  return ansnr_ref(ref, dist, bpc, scratch);
}

#else

namespace hn = hwy::HWY_NAMESPACE;
using D32 = hn::ScalableTag<int32_t>;
using DU32 = hn::RebindToUnsigned<D32>;
using DU64 = hn::RepartitionToWide<DU32>;
using V32 = hn::Vec<D32>;
using VU64 = hn::Vec<DU64>;

constexpr D32 d32;
constexpr DU64 du64;

/* Column sums of one row of windows, with room for the borders: valid from index -2 to w + 1. */
struct Columns {
  int32_t* ref;      // of a column beside the centre; the centre column is twice that
  int32_t* dist[3];  // by the distance from the centre
};

constexpr int kBorder = 16;  // keeps rows aligned

Columns place(std::byte* scratch, int w) {
  const size_t row_bytes = ansnr_scratch_bytes(w) / 4;
  const auto row = [&](int i) { return reinterpret_cast<int32_t*>(scratch + i * row_bytes) + kBorder; };
  return {row(0), {row(1), row(2), row(3)}};
}

template <class T>
HWY_INLINE V32 load(const T* from) {
  const hn::Rebind<T, D32> narrow;
  return hn::PromoteTo(d32, hn::LoadU(narrow, from));
}

HWY_INLINE V32 times(int32_t factor, V32 v) { return hn::Mul(hn::Set(d32, factor), v); }

/* The columns from x on, as many as a vector has. */
template <class T>
HWY_INLINE void column_sums(const T* const (&ref)[3], const T* const (&dist)[5], int x, const Columns& out) {
  const V32 ref_near = hn::Add(load(ref[0] + x), load(ref[2] + x));
  hn::StoreU(hn::Add(hn::ShiftLeft<1>(load(ref[1] + x)), ref_near), d32, out.ref + x);
  const V32 centre = load(dist[2] + x);
  const V32 near = hn::Add(load(dist[1] + x), load(dist[3] + x));
  const V32 far = hn::Add(load(dist[0] + x), load(dist[4] + x));
  for (int distance = 0; distance < 3; distance++) {
    const V32 sum = hn::Add(hn::Add(times(ansnr_dist_column(distance, 1, 0, 0), centre),
                                    times(ansnr_dist_column(distance, 0, 1, 0), near)),
                            times(ansnr_dist_column(distance, 0, 0, 1), far));
    hn::StoreU(sum, d32, out.dist[distance] + x);
  }
}

void reflect_borders(int32_t* row, int w, int radius) {
  for (int i = 1; i <= radius; i++) {
    row[-i] = row[ansnr_reflect(-i, w)];
    row[w - 1 + i] = row[ansnr_reflect(w - 1 + i, w)];
  }
}

template <class T>
void fill_columns(const Plane<const T>& ref, const Plane<const T>& dist, int y, const Columns& out) {
  const int lanes = static_cast<int>(hn::Lanes(d32)), w = ref.w;
  const T *ref_rows[3], *dist_rows[5];
  for (int i = 0; i < 3; i++) ref_rows[i] = ref.row(ansnr_reflect(y - kAnsnrRefRadius + i, ref.h));
  for (int i = 0; i < 5; i++) dist_rows[i] = dist.row(ansnr_reflect(y - kAnsnrDistRadius + i, dist.h));
  for (int x = 0; x + lanes <= w; x += lanes) column_sums(ref_rows, dist_rows, x, out);
  column_sums(ref_rows, dist_rows, w - lanes, out);  // those that are left, and some again
  reflect_borders(out.ref, w, kAnsnrRefRadius);
  for (int32_t* row : out.dist) reflect_borders(row, w, kAnsnrDistRadius);
}

class Sums {
 public:
  HWY_INLINE Sums() : signal_(hn::Zero(du64)), noise_low_(signal_), noise_high_(signal_) {}

  HWY_INLINE void add(V32 signal, V32 noise) {
    add_squares(hn::BitCast(DU32(), hn::Abs(signal)), hn::BitCast(DU32(), hn::Abs(noise)));
  }
  HWY_INLINE AnsnrSums total() const { return {lane_sum(signal_), lane_sum(noise_low_), lane_sum(noise_high_)}; }

 private:
  using VU32 = hn::Vec<DU32>;
  static HWY_INLINE VU32 odd(VU32 v) { return hn::BitCast(DU32(), hn::ShiftRight<32>(hn::BitCast(du64, v))); }
  static HWY_INLINE uint64_t lane_sum(VU64 v) { return hn::GetLane(hn::SumOfLanes(du64, v)); }

  HWY_INLINE void add_squares(VU32 signal, VU32 noise) {
    const VU32 odd_signal = odd(signal), odd_noise = odd(noise);
    signal_ = hn::Add(signal_, hn::Add(hn::MulEven(signal, signal), hn::MulEven(odd_signal, odd_signal)));
    add_noise(hn::MulEven(noise, noise));
    add_noise(hn::MulEven(odd_noise, odd_noise));
  }
  HWY_INLINE void add_noise(VU64 square) {
    noise_low_ = hn::Add(noise_low_, hn::And(square, hn::Set(du64, 0xFFFFFFFFu)));
    noise_high_ = hn::Add(noise_high_, hn::ShiftRight<32>(square));
  }

  VU64 signal_, noise_low_, noise_high_;
};

HWY_INLINE V32 sides(const int32_t* row, int x, int distance) {
  return hn::Add(hn::LoadU(d32, row + x - distance), hn::LoadU(d32, row + x + distance));
}

void add_row(const Columns& columns, int w, V32 middle, Sums* sums) {
  const int lanes = static_cast<int>(hn::Lanes(d32));
  for (int x = 0; x < w; x += lanes) {
    const V32 ref = hn::Add(hn::ShiftLeft<1>(hn::LoadU(d32, columns.ref + x)), sides(columns.ref, x, 1));
    const V32 dist = hn::Add(hn::Add(hn::LoadU(d32, columns.dist[0] + x), sides(columns.dist[1], x, 1)),
                             sides(columns.dist[2], x, 2));
    V32 signal = hn::Sub(ref, middle);
    V32 noise = hn::Sub(times(kAnsnrDistSum, ref), times(kAnsnrRefSum, dist));
    if (x + lanes > w) {
      const auto inside = hn::FirstN(d32, w - x);
      signal = hn::IfThenElseZero(inside, signal);
      noise = hn::IfThenElseZero(inside, noise);
    }
    sums->add(signal, noise);
  }
}

template <class T>
AnsnrSums sums_of(const Plane<const T>& ref, const Plane<const T>& dist, int bpc, std::byte* scratch) {
  const Columns columns = place(scratch, ref.w);
  const V32 middle = hn::Set(d32, ansnr_middle(bpc));
  Sums sums;
  for (int y = 0; y < ref.h; y++) {
    fill_columns(ref, dist, y, columns);
    add_row(columns, ref.w, middle, &sums);
  }
  return sums.total();
}

AnsnrSums ansnr(const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte* scratch) {
  if (ref.w < static_cast<int>(hn::Lanes(d32))) return ansnr_ref(ref, dist, bpc, scratch);
  return bpc == 8 ? sums_of(ref.as<uint8_t>(), dist.as<uint8_t>(), bpc, scratch)
                  : sums_of(ref.as<uint16_t>(), dist.as<uint16_t>(), bpc, scratch);
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(ansnr);

/* Four rows; vectors of up to 64 bytes may begin at the last sample and at two to its right. */
size_t ansnr_scratch_bytes(int w) { return 4 * round_to_lines((static_cast<size_t>(w) + 64) * sizeof(int32_t)); }

AnsnrSums ansnr_simd(const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte* scratch) {
  return HWY_DYNAMIC_DISPATCH(ansnr)(ref, dist, bpc, scratch);
}

}  // namespace vmafx
#endif
