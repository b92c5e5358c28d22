/* float_adm, the definition's arithmetic (adm_definition.h). */
#include "kernels/adm/adm_definition.h"
#include "kernels/adm/float_adm.h"
#include "kernels/adm/float_adm_math-inl.h"
#include "kernels/arithmetic/fixed.h"
#include "kernels/steps/row_sums.h"

namespace vmafx {
namespace {

struct Floats {
  using Params = FloatAdmParams;
  using Sums = uint64_t;
  using Number = float;

  const FloatAdmParams& params;
  const FloatAdmScale& scale;
  const int index;
  uint64_t& sums;  // the first of them

  /* Scaled to 8 bits. */
  static float sample(int value, int bpc) { return static_cast<float>(value) * (1.0f / (1 << (bpc - 8))) - 128; }

  static constexpr auto low_pass = float_adm_low_pass, high_pass = float_adm_high_pass;
  static float down(float sum) { return sum; }
  static float across(float sum) { return sum; }

  static constexpr auto aligned = float_adm_aligned;
  float restored(float o, float t, bool is_aligned) const {
    return float_adm_restored(o, t, is_aligned, params.gain_limit);
  }
  static float added(float t, float restored) { return t - restored; }

  static bool measures_aim() { return true; }
  float weighted(int band, float x) const { return float_adm_weighted(x, scale.weight[band]); }

  template <class Mask>
  float threshold(Mask mask) const {
    if (!params.masked) return 0;
    const auto of = [&](int band) {
      const auto share = [&](int dx, int dy) { return float_adm_share(mask(band, dx, dy)); };
      return float_adm_masking(share, mask(band, 0, 0));
    };
    return float_adm_threshold(of(0), of(1), of(2));
  }

  float den(int band, float x) const { return weighted(band, x); }
  float excess(int band, float x, float limit) const { return float_adm_excess(weighted(band, x), limit); }

  class BandSums {
   public:
    BandSums(const Floats& form, AdmKind kind)
        : params_(form.params),
          words_(&form.sums + float_adm_sum_index(kind, form.index, 0) * params_.words_per_sum()) {}

    void add(int band, float x) {
      if (params_.cubes()) {
        cubes_[band].add(float_adm_cube(x));
        return;
      }
      const FloatAdmPower power = float_adm_power(x, static_cast<float>(params_.p_norm));
      if (power.bin < kFloatAdmBins)
        words_[band * kFloatAdmBins + power.bin] += static_cast<uint64_t>(to_fixed<kFloatAdmPowerBits>(power.power));
    }
    void end_row() {
      if (!params_.cubes()) return;
      for (int band = 0; band < kAdmBands; band++) {
        cubes_[band].end_row();
        words_[band] = cubes_[band].word();
      }
    }

   private:
    const FloatAdmParams& params_;
    uint64_t* words_;
    RowSum cubes_[kAdmBands];
  };
};

}  // namespace

size_t float_adm_scratch_bytes_ref(const FloatAdmParams& params) {
  return AdmDefinition<Floats>::scratch_bytes(params);
}

void float_adm_ref(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                   uint64_t& sums) {
  AdmDefinition<Floats>::run(params, ref, dist, scratch, sums);
}

}  // namespace vmafx
