/* VIF, the definition's arithmetic (vif_definition.h). */
#include <algorithm>

#include "kernels/vif/vif.h"
#include "kernels/vif/vif_definition.h"

namespace vmafx {
namespace {

struct Integers {
  using Params = VifParams;
  using Sums = VifSums;
  using Blocks = VifBlocks;
  using Sample = uint16_t;
  using Number = uint32_t;  // means Q8, squares Q16
  using Sum = uint64_t;
  static constexpr int kScales = kVifScales;

  Integers(const VifParams& params, int index, const VifBlocks* of_blocks)
      : scale(index), half(kVifHalfWidth[index]), mean_shift(vif_shifts(index, params.bpc).mean),
        square_shift(vif_shifts(index, params.bpc).square), gain_limit(params.gain_limit), blocks(of_blocks) {}

  uint64_t tap(int k) const { return kVifTaps[scale][k < 0 ? -k : k]; }
  static uint32_t rounded(uint64_t sum, int shift) { return static_cast<uint32_t>(vif_round_shift(sum, shift)); }
  void add(const VifWindow& window) {
    vif_add_sample(window, gain_limit, added);
    if (blocks) vif_add_sample(window, gain_limit, blocks->scale[scale][blocks->grid_of(scale).at(x, y)]);
    x++;
  }
  void end_row() { x = 0, y++; }
  void finish(VifSums& sums) const { sums.scale[scale] = added; }

  const int scale, half, mean_shift, square_shift;
  const double gain_limit;
  const VifBlocks* const blocks;  // or nullptr
  VifScaleSums added = {};
  int x = 0, y = 0;  // of the next sample
};

template <class T>
void copy(const Plane<const T>& in, const Plane<uint16_t>& out) {
  for (int y = 0; y < out.h; y++) std::copy_n(in.row(y), out.w, out.row(y));
}
void copy(const SamplePlane& in, int bpc, const Plane<uint16_t>& out) {
  if (bpc == 8) copy(in.as<uint8_t>(), out);
  else copy(in.as<uint16_t>(), out);
}

void run(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch, VifSums& sums,
         const VifBlocks* blocks) {
  const VifDefinition<Integers> definition(params, scratch);
  copy(ref, params.bpc, definition.picture(0));
  copy(dist, params.bpc, definition.picture(1));
  definition.run(sums, blocks);
}

}  // namespace

size_t vif_scratch_bytes_plain(const VifParams& params) {
  return VifDefinition<Integers>(params, nullptr).scratch_bytes();
}

void vif_plain(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               VifSums& sums) {
  run(params, ref, dist, scratch, sums, nullptr);
}

void vif_mapped_plain(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                      VifSums& sums, const VifBlocks& blocks) {
  run(params, ref, dist, scratch, sums, &blocks);
}

}  // namespace vmafx
