#include "kernels/ssimulacra2/ssimulacra2.h"

#include <cerrno>
#include <cmath>

#include "base/cpu.h"
#include "kernels/steps/linear_light_of.h"
#include "kernels/device_twin.h"
#include "kernels/ssimulacra2/ssimulacra2_weights.h"

namespace vmafx {
namespace {

constexpr FeatureInfo kFeatures[] = {{"ssimulacra2", "ssimulacra2"}};

// -- Score -----------------------------------------------------------------------------------------------------------

/* The weighted errors of all maps. Weights are used up in order, by the scales that are there. */
double weighted(const Ssimulacra2Sums& sums, int w, int h) {
  const int scales = ssimulacra2_scales(w, h);
  double total = 0;
  int weight = 0;
  for (int channel = 0; channel < 3; channel++)
    for (int scale = 0; scale < scales; scale++) {
      const double samples = static_cast<double>(ssimulacra2_size(w, scale)) * ssimulacra2_size(h, scale);
      const auto& maps = sums.map[scale][channel];
      for (const auto& map : maps)
        total += kSsimulacra2Weights[weight++] * (from_fixed<kSsimulacra2SumBits>(map.sum) / samples);
      for (const auto& map : maps) {
        const double mean = map.fourth_powers.value() / kSsimulacra2FourthScale / samples;
        total += kSsimulacra2Weights[weight++] * std::sqrt(std::sqrt(mean));
      }
    }
  return total;
}

/* Fitted by the reference to the scale of JPEG qualities. */
double bent(double errors) {
  const double e = errors * 0.9562382616834844;
  const double cubic = 2.326765642916932 * e - 0.020884521182843837 * e * e + 6.248496625763138e-05 * e * e * e;
  return cubic > 0 ? 100.0 - 10.0 * std::pow(cubic, 0.6276336467831387) : 100.0;
}

// -- The extractor ---------------------------------------------------------------------------------------------------

class Ssimulacra2 : public Extractor {
 public:
  Ssimulacra2(const Ssimulacra2Params& params, Placement placement)
      : params_(params), use_reference_(use_reference_cpu()),
        device_twin_(placement == Placement::kDevice ? ssimulacra2_hip(params) : nullptr) {}

  std::span<const FeatureInfo> features() const override { return kFeatures; }
  Reads reads() const override {
    const unsigned planes = params_.has_chroma ? 7 : 1;
    return {.ref = planes, .dist = planes};
  }
  size_t sums_bytes() const override { return sizeof(Ssimulacra2Sums); }
  size_t scratch_bytes() const override {
    return use_reference_ ? ssimulacra2_scratch_bytes_ref(params_) : ssimulacra2_scratch_bytes_simd(params_);
  }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    const auto twin = use_reference_ ? ssimulacra2_ref : ssimulacra2_simd;
    twin(params_, frames.ref, frames.dist, scratch, *static_cast<Ssimulacra2Sums*>(sums));
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    sink.put(frame, 0, bent(weighted(*static_cast<const Ssimulacra2Sums*>(sums), params_.w, params_.h)));
  }

  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  const Ssimulacra2Params params_;
  const bool use_reference_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

Status named(const Status& status) { return error(EINVAL, "ssimulacra2: %s", status.message().c_str()); }

}  // namespace

/* What cones absorb of linear light of BT.709's primaries. Each row adds up to 1. */
constexpr double kOpsin[9] = {0.30, 0.622, 0.078, 0.23, 0.692, 0.078,
                              0.24342268924547819, 0.20476744424496821, 1 - 0.24342268924547819 - 0.20476744424496821};

StatusOr<Ssimulacra2Params> ssimulacra2_params(const VideoFormat& format) {
  if (format.w < kSsimulacra2MinSize || format.h < kSsimulacra2MinSize)
    return error(EINVAL, "ssimulacra2: %dx%d is too small; it needs pictures of at least %dx%d", format.w, format.h,
                 kSsimulacra2MinSize, kSsimulacra2MinSize);
  const auto light = linear_light_of(format);
  if (!light.ok()) return named(light.status());
  const auto primaries = primaries_to_bt709(format);
  if (!primaries.ok()) return named(primaries.status());
  Ssimulacra2Params params = {.w = format.w,
                              .h = format.h,
                              .bpc = format.bpc,
                              .has_chroma = format.planes() == 3,
                              .across = chroma_across(format),
                              .down = chroma_down(format),
                              .light = light.value(),
                              .absorbance = {}};
  for (int i = 0; i < 9; i++) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += kOpsin[i / 3 * 3 + k] * primaries.value()[3 * k + i % 3];
    params.absorbance[i] = static_cast<float>(sum);
  }
  return params;
}

namespace {

StatusOr<std::unique_ptr<Extractor>> create(const Options&, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const Ssimulacra2Params params, ssimulacra2_params(format));
  return std::unique_ptr<Extractor>(std::make_unique<Ssimulacra2>(params, placement));
}

}  // namespace

constexpr ExtractorInfo kSsimulacra2Extractor = {
    .name = "ssimulacra2",
    .help = "SSIMULACRA 2.1, from linear light of the whole picture",
    .flags = kHip | kColour,
    .features = kFeatures,
    .options = {},
    .create = create,
};

}  // namespace vmafx
