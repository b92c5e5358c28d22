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
  using Blocks = FloatVifBlocks;
  using Sample = float;
  using Number = float;
  using Sum = float;
  static constexpr int kScales = kFloatVifScales, mean_shift = 0, square_shift = 0;

  Floats(const FloatVifParams& params, int index, const FloatVifBlocks* of_blocks)
      : scale(index), half(params.window[index].half), taps(params.window[index].taps), eye(params.eye),
        blocks(of_blocks) {}

  float tap(int k) const { return taps[k < 0 ? -k : k]; }
  static float rounded(float sum, int) { return sum; }
  void add(const FloatVifMeans& means) {
    float num, den;
    float_vif_sample(means, eye, num, den);
    nums.add(num);
    dens.add(den);
    if (blocks) {
      FloatVifBlockSums& block = blocks->at(scale, x, y);
      block.num += static_cast<double>(num);
      block.den += static_cast<double>(den);
    }
    x++;
  }
  void end_row() {
    x = 0, y++;
    nums.end_row();
    dens.end_row();
  }
  void finish(FloatVifSums& sums) const { sums.scale[scale] = {nums.word(), dens.word()}; }

  const int scale, half;
  const float* const taps;
  const FloatVifEye& eye;
  const FloatVifBlocks* const blocks;  // or nullptr
  RowSum nums, dens;
  int x = 0, y = 0;  // of the next sample
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

void run(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
         FloatVifSums& sums, const FloatVifBlocks* blocks) {
  const VifDefinition<Floats> definition(params, scratch);
  read(params, ref, definition.picture(0), scratch + definition.scratch_bytes());
  read(params, dist, definition.picture(1), scratch + definition.scratch_bytes());
  definition.run(sums, blocks);
}

}  // namespace

size_t float_vif_scratch_bytes_plain(const FloatVifParams& params) {
  return VifDefinition<Floats>(params, nullptr).scratch_bytes() +
         (params.prescaler ? params.prescaler->scratch_bytes() : 0);
}

void float_vif_plain(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                     FloatVifSums& sums) {
  run(params, ref, dist, scratch, sums, nullptr);
}

void float_vif_mapped_plain(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist,
                            std::byte* scratch, FloatVifSums& sums, const FloatVifBlocks& blocks) {
  run(params, ref, dist, scratch, sums, &blocks);
}

}  // namespace vmafx
