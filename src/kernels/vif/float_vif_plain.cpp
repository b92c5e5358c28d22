/* float_vif, the definition's arithmetic (vif_definition.h). */
#include "kernels/steps/row_sums.h"
#include "kernels/steps/rows.h"
#include "kernels/vif/float_vif.h"
#include "kernels/vif/float_vif_math-inl.h"
#include "kernels/vif/vif_definition.h"

namespace vmafx {
namespace {

struct Floats {
  using Params = FloatVifParams;
  using Sums = FloatVifSums;
  using Blocks = void;  // it has no maps
  using Sample = float;
  using Number = float;
  using Sum = float;
  static constexpr int kScales = kFloatVifScales, mean_shift = 0, square_shift = 0;

  Floats(const FloatVifParams& params, int index, const void*)
      : scale(index), half(params.window[index].half), taps(params.window[index].taps), eye(params.eye) {}

  float tap(int k) const { return taps[k < 0 ? -k : k]; }
  static float rounded(float sum, int) { return sum; }
  void add(const FloatVifMeans& means) {
    float num, den;
    float_vif_sample(means, eye, num, den);
    nums.add(num);
    dens.add(den);
  }
  void end_row() {
    nums.end_row();
    dens.end_row();
  }
  void finish(FloatVifSums& sums) const { sums.scale[scale] = {nums.word(), dens.word()}; }

  const int scale, half;
  const float* const taps;
  const FloatVifEye& eye;
  RowSum nums, dens;
};

template <class T>
void convert(const Plane<const T>& in, int bpc, const Plane<float>& out) {
  for (int y = 0; y < out.h; y++)
    for (int x = 0; x < out.w; x++)
      out.row(y)[x] = static_cast<float>(in.row(y)[x]) * scale_to_8_bits(bpc) + kFloatVifOffset;
}

void read(const FloatVifParams& params, const SamplePlane& in, const Plane<float>& out, std::byte* prescaler_scratch) {
  if (params.prescaler) params.prescaler->plain(params.source(in), out, prescaler_scratch);
  else if (params.bpc == 8) convert(in.as<uint8_t>(), params.bpc, out);
  else convert(in.as<uint16_t>(), params.bpc, out);
}

}  // namespace

size_t float_vif_scratch_bytes_plain(const FloatVifParams& params) {
  return VifDefinition<Floats>(params, nullptr).scratch_bytes() +
         (params.prescaler ? params.prescaler->scratch_bytes() : 0);
}

void float_vif_plain(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                     FloatVifSums& sums) {
  const VifDefinition<Floats> definition(params, scratch);
  read(params, ref, definition.picture(0), scratch + definition.scratch_bytes());
  read(params, dist, definition.picture(1), scratch + definition.scratch_bytes());
  definition.run(sums);
}

}  // namespace vmafx
