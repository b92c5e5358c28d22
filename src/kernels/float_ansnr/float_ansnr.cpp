#include "kernels/float_ansnr/float_ansnr.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "base/cpu.h"
#include "kernels/steps/row_sums.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

constexpr FeatureInfo kFeatures[] = {{"float_ansnr", "float_ansnr"}, {"float_anpsnr", "float_anpsnr"}};

class Ansnr : public Extractor {
 public:
  Ansnr(const VideoFormat& format, Placement placement)
      : format_(format), device_twin_(placement == Placement::kDevice ? ansnr_hip(format) : nullptr) {}

  std::span<const FeatureInfo> features() const override { return kFeatures; }
  size_t sums_bytes() const override { return sizeof(AnsnrSums); }
  size_t scratch_bytes() const override { return ansnr_scratch_bytes(format_.w); }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    *static_cast<AnsnrSums*>(sums) = sums_of_(frames.ref.plane[0], frames.dist.plane[0], format_.bpc, scratch);
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override;
  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  const VideoFormat format_;
  decltype(&ansnr_simd) const sums_of_ = use_reference_cpu() ? ansnr_ref : ansnr_simd;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

void Ansnr::finalize(int64_t frame, const void* sums, ScoreSink& sink) {
  const auto& words = *static_cast<const AnsnrSums*>(sums);
  const float signal = sum_of_word(words.signal), noise = sum_of_word(words.noise);
  const double peak = ((1 << format_.bpc) - 1) / static_cast<double>(1 << (format_.bpc - 8)), limit = 6. * format_.bpc + 12;
  const double peaks = peak * peak * format_.w * format_.h;
  sink.put(frame, 0, noise == 0 ? limit : 10 * std::log10(static_cast<double>(signal / noise)));
  sink.put(frame, 1, std::min(10 * std::log10(peaks / std::max<double>(noise, 1e-10)), limit));
}

StatusOr<std::unique_ptr<Extractor>> create(const Options&, const VideoFormat& format, Placement placement) {
  if (format.w < kAnsnrMinSize || format.h < kAnsnrMinSize)
    return error(EINVAL, "float_ansnr needs pictures of at least %dx%d; these are %dx%d", kAnsnrMinSize, kAnsnrMinSize,
                 format.w, format.h);
  return std::unique_ptr<Extractor>(new Ansnr(format, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatAnsnrExtractor = {
    .name = "float_ansnr",
    .help = "signal-to-noise ratio of the smoothed luma",
    .flags = kHip,
    .features = kFeatures,
    .options = {},
    .create = create,
};

}  // namespace vmafx
