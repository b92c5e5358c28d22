/* The SIMD twin of Prescaler: one source for every instruction set. The rows under the taps of an output row lie as
 * floats in a ring, and the columns under those of a vector of samples are gathered. */
#include "kernels/steps/prescale.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/steps/prescale_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/steps/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {
namespace {

/* Rows of the source as floats, each converted once. The taps of a row are neighbors, no more than there are slots. */
template <class T>
class FloatRows {
 public:
  FloatRows(const PrescaleSource& in, float* memory, size_t pitch)
      : in_(in), scale_(scale_to_8_bits(in.bpc)), memory_(memory), pitch_(pitch) {
    for (int& y : held_) y = -1;
  }

  const float* row(int y) {
    const int slot = y % kPrescaleMaxTaps;
    float* const row = memory_ + slot * pitch_;
    if (held_[slot] != y) convert(y, row);
    held_[slot] = y;
    return row;
  }

 private:
  void convert(int y, float* out) const {
    const T* const row = in_.plane.as<T>().row(y);
    const int w = in_.plane.w;
    if (!in_.less.data) return samples_to_floats(row, w, scale_, in_.offset, out);
    const T* const less = in_.less.as<T>().row(y);
    int x = 0;
    for (; x + lanes() <= w; x += lanes())
      store((load_samples(row + x) - load_samples(less + x)) * Real(scale_) + Real(in_.offset), out + x);
    for (; x < w; x++) out[x] = (static_cast<float>(row[x]) - static_cast<float>(less[x])) * scale_ + in_.offset;
  }

  const PrescaleSource in_;
  const float scale_;
  float* const memory_;
  const size_t pitch_;
  int held_[kPrescaleMaxTaps];
};

/* The columns under the taps of samples x …, of a row of the source. */
template <int kTaps>
class Columns {
 public:
  HWY_INLINE Columns(const Prescaler& p, size_t x) : p_(p), x_(x), first_(p.column_indices(0)[x]) {}

  /* Whether all columns lie in the two vectors from the first one on, which a row has room for. True where a plane is
   * scaled to half its width or more, but at its edges. */
  HWY_INLINE bool are_near() const {
    const DI d;
    if (static_cast<size_t>(first_ + 2 * lanes()) > p_.row_floats()) return false;
    auto all = offset(0);
    for (int i = 1; i < kTaps; i++) all = hn::Or(all, offset(i));
    const auto beyond = hn::And(all, hn::Set(d, -2 * lanes()));  // bits that offsets below a power of two lack
    return hn::AllTrue(d, hn::Eq(beyond, hn::Zero(d)));
  }

  /* The samples under tap i. kNear: two lookups take less time than a gather. */
  template <bool kNear>
  HWY_INLINE Real of(const float* row, int i) const {
    if constexpr (!kNear) return hn::GatherIndex(DF(), row, hn::LoadU(DI(), p_.column_indices(i) + x_));
    const DI d;
    const auto lane = hn::IndicesFromVec(DF(), hn::And(offset(i), hn::Set(d, lanes() - 1)));
    const auto in_first = hn::RebindMask(DF(), hn::Lt(offset(i), hn::Set(d, lanes())));
    const auto low = hn::LoadU(DF(), row + first_), high = hn::LoadU(DF(), row + first_ + lanes());
    return hn::IfThenElse(in_first, hn::TableLookupLanes(low, lane), hn::TableLookupLanes(high, lane));
  }

 private:
  HWY_INLINE hn::Vec<DI> offset(int i) const {
    return hn::Sub(hn::LoadU(DI(), p_.column_indices(i) + x_), hn::Set(DI(), first_));
  }

  const Prescaler& p_;
  const size_t x_;
  const int32_t first_;
};

/* Samples x … of a row of the output, whose taps are at `taps` and in `rows`. kTaps: one method's, of which only
 * lanczos4, which has nine, divides. */
template <int kTaps, bool kNear>
HWY_INLINE Real scaled(const Prescaler& p, const float* const* rows, const PrescaleTap* taps, size_t x) {
  const Columns<kTaps> columns(p, x);
  Real sum = Real(0.0f), weights = sum;
  for (int j = 0; j < kTaps; j++)
    for (int i = 0; i < kTaps; i++) {
      const Real weight = load(p.column_weights(i) + x) * Real(taps[j].weight);
      sum += columns.template of<kNear>(rows[j], i) * weight;
      if constexpr (kTaps == prescale_taps(PrescaleMethod::kLanczos4)) weights += weight;
    }
  if constexpr (kTaps == prescale_taps(PrescaleMethod::kLanczos4)) return sum / weights;
  else return sum;
}

template <int kTaps>
HWY_INLINE Real scaled(const Prescaler& p, const float* const* rows, const PrescaleTap* taps, size_t x) {
  constexpr bool kLooksUp = kTaps == prescale_taps(PrescaleMethod::kBilinear) && HWY_TARGET != HWY_SCALAR;
  if (kLooksUp && Columns<kTaps>(p, x).are_near()) return scaled<kTaps, kLooksUp>(p, rows, taps, x);
  return scaled<kTaps, false>(p, rows, taps, x);
}

template <int kTaps, class T>
void scale_plane_by(const Prescaler& p, const PrescaleSource& in, const Plane<float>& out, float* memory,
                    const PrescaledRows& wanted) {
  FloatRows<T> source(in, memory, p.row_floats());
  for (int y = 0; y < out.h; y++) {
    if (!wanted.has(y)) continue;
    const PrescaleTap* const taps = p.row(y);
    const float* rows[kTaps];
    for (int j = 0; j < kTaps; j++) rows[j] = source.row(taps[j].index);
    float* const row = out.row(y);
    int x = 0;
    for (; x + lanes() <= out.w; x += lanes()) store(scaled<kTaps>(p, rows, taps, x), row + x);
    if (x < out.w) hn::BlendedStore(scaled<kTaps>(p, rows, taps, x).v, hn::FirstN(DF(), out.w - x), DF(), row + x);
  }
}

template <class T>
void scale_plane(const Prescaler& p, const PrescaleSource& in, const Plane<float>& out, float* memory,
                 const PrescaledRows& wanted) {
  using enum PrescaleMethod;
  switch (p.method()) {
    case kNearest: return scale_plane_by<prescale_taps(kNearest), T>(p, in, out, memory, wanted);
    case kBilinear: return scale_plane_by<prescale_taps(kBilinear), T>(p, in, out, memory, wanted);
    case kBicubic: return scale_plane_by<prescale_taps(kBicubic), T>(p, in, out, memory, wanted);
    case kLanczos4: return scale_plane_by<prescale_taps(kLanczos4), T>(p, in, out, memory, wanted);
  }
}

void prescale(const Prescaler& p, const PrescaleSource& in, const Plane<float>& out, float* memory,
              const PrescaledRows& wanted) {
  if (in.bpc == 8) scale_plane<uint8_t>(p, in, out, memory, wanted);
  else scale_plane<uint16_t>(p, in, out, memory, wanted);
}

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(prescale);

void Prescaler::simd(const PrescaleSource& in, const Plane<float>& out, std::byte* scratch,
                     const PrescaledRows& wanted) const {
  HWY_DYNAMIC_DISPATCH(prescale)(*this, in, out, reinterpret_cast<float*>(scratch), wanted);
}

}  // namespace vmafx
#endif
