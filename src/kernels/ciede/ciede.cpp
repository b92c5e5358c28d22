#include "kernels/ciede/ciede.h"

#include <cerrno>
#include <cmath>

#include "base/cpu.h"
#include "kernels/arithmetic/fixed.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

constexpr FeatureInfo kFeatures[] = {{"ciede2000", "ciede2000"}};

CiedeParams params_of(const VideoFormat& format) {
  CiedeParams params;
  if (format.chroma == Chroma::k444) params.chroma = CiedeChroma::kEach;
  if (format.chroma == Chroma::k422) params.chroma = CiedeChroma::kWrapped;
  const int unit = 1 << (format.bpc - 8);
  params.bpc = format.bpc;
  params.luma_zero = static_cast<float>(16 * unit);
  params.luma_scale = 1. / (219 * unit);
  params.chroma_zero = static_cast<float>(128 * unit);
  params.chroma_scale = 1. / (224 * unit);
  return params;
}

class Ciede : public Extractor {
 public:
  Ciede(const VideoFormat& format, Placement placement)
      : format_(format), params_(params_of(format)), device_twin_(placement == Placement::kDevice ? ciede_hip(params_, format) : nullptr) {}

  std::span<const FeatureInfo> features() const override { return kFeatures; }
  Reads reads() const override { return {.ref = 7, .dist = 7, .history = 0, .every_frame = false}; }
  size_t sums_bytes() const override { return sizeof(CiedeSums); }
  size_t scratch_bytes() const override { return ciede_scratch_bytes(format_.w); }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    static_cast<CiedeSums*>(sums)->difference = sum_(params_, frames.ref, frames.dist, scratch);
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    const double pixels = static_cast<double>(format_.w) * format_.h;
    const double sum = from_fixed<kCiedeSumBits>(static_cast<const CiedeSums*>(sums)->difference);
    sink.put(frame, 0, 45 - 20 * std::log10(sum / pixels));
  }

  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  const VideoFormat format_;
  const CiedeParams params_;
  decltype(&ciede_simd) const sum_ = use_reference_cpu() ? ciede_ref : ciede_simd;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

StatusOr<std::unique_ptr<Extractor>> create(const Options&, const VideoFormat& format, Placement placement) {
  if (format.planes() < 3 || format.plane_w(1) < 1 || format.plane_h(1) < 1)
    return error(EINVAL, "ciede: it compares colors, and %dx%d of this format has no chroma planes", format.w,
                 format.h);
  return std::unique_ptr<Extractor>(new Ciede(format, placement));
}

}  // namespace

constexpr ExtractorInfo kCiedeExtractor = {
    .name = "ciede",
    .help = "color difference CIEDE2000",
    .flags = kHip,
    .features = kFeatures,
    .options = {},
    .create = create,
};

}  // namespace vmafx
