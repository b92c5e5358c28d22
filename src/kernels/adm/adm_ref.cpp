/* ADM, the definition's arithmetic (adm_definition.h). */
#include "kernels/adm/adm.h"
#include "kernels/adm/adm_definition.h"

namespace vmafx {
namespace {

struct Integers {
  using Params = AdmParams;
  using Sums = AdmSums;
  using Number = int32_t;

  const AdmParams& params;
  const AdmScale& scale;
  const int index;
  AdmSums& sums;

  static int32_t sample(int32_t value, int bpc) { return value - (1 << (bpc - 1)); }

  static constexpr auto low_pass = adm_low_pass, high_pass = adm_high_pass;
  int32_t down(int64_t sum) const { return static_cast<int32_t>(adm_round_shift(sum, scale.vertical_shift)); }
  int32_t across(int64_t sum) const { return static_cast<int32_t>(adm_round_shift(sum, scale.horizontal_shift)); }

  static constexpr auto aligned = adm_aligned;
  int32_t restored(int32_t o, int32_t t, bool is_aligned) const {
    return adm_restored(o, t, is_aligned, params.gain_limit);
  }
  static constexpr auto added = adm_wrap_sub;

  bool measures_aim() const { return params.measure_aim; }
  int32_t weighted(int band, int32_t x) const {
    return index == 0 ? adm_csf_fine(band, scale.rfactor[band], x) : adm_csf_coarse(scale.rfactor[band], x);
  }

  /* Means of the masking picture's magnitudes, over the 3x3 window and all bands. */
  template <class Mask>
  uint32_t threshold(Mask mask) const {
    uint32_t sum = 0;
    for (int band = 0; band < kAdmBands; band++) {
      for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
          const int32_t value = mask(band, dx, dy);
          const bool center = dx == 0 && dy == 0;
          if (index == 0) sum += static_cast<uint32_t>(center ? adm_center_fine(value) : adm_neighbor_fine(value));
          else sum += static_cast<uint32_t>(center ? adm_center_coarse(value) : adm_neighbor_coarse(value));
        }
      }
    }
    return sum;
  }

  uint64_t den(int, int32_t x) const { return adm_den_cube(index, x, scale.den_cube_shift); }
  uint64_t excess(int band, int32_t x, uint32_t limit) const {
    const int32_t signal = index == 0 ? adm_wrap_mul(scale.rfactor[band], x) : adm_csf_coarse(scale.rfactor[band], x);
    return static_cast<uint64_t>(adm_masked_cube(adm_wrap_abs(signal), limit << adm_threshold_shift(index, band),
                                                 adm_square_shift(index, band), scale.cube_shift[band]));
  }

  class BandSums {
   public:
    BandSums(const Integers& form, AdmKind kind) : form_(form), kind_(kind) {}

    void add(int band, uint64_t cube) { row_[band] += cube; }
    void end_row() {
      const int shift = kind_ == kAdmDen ? form_.scale.den_row_shift : form_.scale.row_shift;
      for (int band = 0; band < kAdmBands; band++) {
        const uint64_t sum = row_[band] + ((uint64_t{1} << shift) >> 1);
        if (kind_ == kAdmDen) form_.sums.csf_den[form_.index][band] += sum >> shift;
        else
          (kind_ == kAdmDlm ? form_.sums.dlm : form_.sums.aim)[form_.index][band] += static_cast<int64_t>(sum) >> shift;
        row_[band] = 0;
      }
    }

   private:
    const Integers& form_;
    const AdmKind kind_;
    uint64_t row_[kAdmBands] = {};
  };
};

}  // namespace

size_t adm_scratch_bytes_ref(const AdmParams& params) { return AdmDefinition<Integers>::scratch_bytes(params); }

void adm_ref(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
             AdmSums& sums) {
  AdmDefinition<Integers>::run(params, ref, dist, scratch, sums);
}

}  // namespace vmafx
