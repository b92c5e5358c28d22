/* The SIMD twin of Prescaler: one source for every instruction set. The rows under the taps of an output row lie as
 * floats in a ring, and the columns under those of a vector of samples are gathered. */
#include "kernels/common/prescale.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/prescale_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/common/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

/* Rows of the source as floats, each converted once. The taps of a row are neighbours, no more than there are slots. */
template <class T>
class FloatRows {
 public:
  FloatRows(const Plane<const T>& in, float scale, float offset, float* memory, size_t pitch)
      : in_(in), scale_(scale), offset_(offset), memory_(memory), pitch_(pitch) {
    for (int& y : held_) y = -1;
  }

  const float* row(int y) {
    const int slot = y % kPrescaleMaxTaps;
    float* const row = memory_ + slot * pitch_;
    if (held_[slot] != y) samples_to_floats(in_.row(y), in_.w, scale_, offset_, row);
    held_[slot] = y;
    return row;
  }

 private:
  const Plane<const T> in_;
  const float scale_, offset_;
  float* const memory_;
  const size_t pitch_;
  int held_[kPrescaleMaxTaps];
};

/* Samples x … of a row of the output, whose taps are at `taps` and in `rows`. */
HWY_INLINE Real scaled(const Prescaler& p, const float* const* rows, const PrescaleTap* taps, size_t x) {
  Real sum = Real(0.0f), weights = sum;
  for (int j = 0; j < p.taps(); j++)
    for (int i = 0; i < p.taps(); i++) {
      const Real weight = load(p.column_weights(i) + x) * Real(taps[j].weight);
      const Real values = hn::GatherIndex(DF(), rows[j], hn::LoadU(DI(), p.column_indices(i) + x));
      sum += values * weight;
      weights += weight;
    }
  return p.method() == PrescaleMethod::kLanczos4 ? sum / weights : sum;
}

template <class T>
void scale_plane(const Prescaler& p, const Plane<const T>& in, float scale, float offset, const Plane<float>& out,
                 float* memory, const PrescaledRows& wanted) {
  FloatRows<T> source(in, scale, offset, memory, p.row_floats());
  for (int y = 0; y < out.h; y++) {
    if (!wanted.has(y)) continue;
    const float* rows[kPrescaleMaxTaps];
    for (int j = 0; j < p.taps(); j++) rows[j] = source.row(p.row(y)[j].index);
    float* const row = out.row(y);
    int x = 0;
    for (; x + lanes() <= out.w; x += lanes()) store(scaled(p, rows, p.row(y), x), row + x);
    if (x < out.w)
      hn::BlendedStore(scaled(p, rows, p.row(y), x).v, hn::FirstN(DF(), out.w - x), DF(), row + x);
  }
}

void prescale(const Prescaler& p, const SamplePlane& in, int bpc, float offset, const Plane<float>& out, float* memory,
              const PrescaledRows& wanted) {
  const float scale = scale_to_8_bits(bpc);
  if (bpc == 8) scale_plane(p, in.as<uint8_t>(), scale, offset, out, memory, wanted);
  else scale_plane(p, in.as<uint16_t>(), scale, offset, out, memory, wanted);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(prescale);

void Prescaler::simd(const SamplePlane& in, int bpc, float offset, const Plane<float>& out, std::byte* scratch,
                     const PrescaledRows& wanted) const {
  HWY_DYNAMIC_DISPATCH(prescale)(*this, in, bpc, offset, out, reinterpret_cast<float*>(scratch), wanted);
}

}  // namespace vmafx
#endif
