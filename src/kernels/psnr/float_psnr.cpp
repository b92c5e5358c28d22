/* float_psnr: the luma's PSNR on the scale of 8 bit.
 *
 *     mse        = Σ (ref - dist)² / (w·h) / 4^(bpc-8)
 *     float_psnr = min(10·log10(peak² / max(mse, 1e-10)), 6·bpc + 12)         peak = (2^bpc - 1) / 2^(bpc-8)
 *
 * Matches libvmaf f85a853 `float_psnr`, which squares and adds in floating point, within 1e-6. Deviation: any depth from 8 to 16
 * bit, where it takes 8, 10, 12 and 16. The sum is the one that psnr has of the luma, and so are the twins. */
#include <algorithm>
#include <cmath>

#include "base/cpu.h"
#include "kernels/device_twin.h"
#include "kernels/psnr/psnr.h"

namespace vmafx {
namespace {

constexpr FeatureInfo kFeatures[] = {{"float_psnr", "float_psnr"}};

class FloatPsnr : public Extractor {
 public:
  FloatPsnr(const VideoFormat& format, Placement placement)
      : format_(format), device_twin_(placement == Placement::kDevice ? psnr_hip(format, 1) : nullptr) {}

  std::span<const FeatureInfo> features() const override { return kFeatures; }
  size_t sums_bytes() const override { return sizeof(PsnrSums); }
  size_t scratch_bytes() const override { return 0; }

  void extract(const FrameSet& frames, std::byte*, void* sums) const override {
    static_cast<PsnrSums*>(sums)->sse[0] = sse_(frames.ref.plane[0], frames.dist.plane[0], format_.bpc);
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    const double scale = 1 << (format_.bpc - 8), peak = ((1 << format_.bpc) - 1) / scale;
    const double sse = static_cast<double>(static_cast<const PsnrSums*>(sums)->sse[0]) / (scale * scale);
    const double mse = sse / (static_cast<double>(format_.w) * format_.h);
    sink.put(frame, 0, std::min(10 * std::log10(peak * peak / std::max(mse, 1e-10)), 6. * format_.bpc + 12));
  }

  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  const VideoFormat format_;
  decltype(&psnr_sse_simd) const sse_ = use_reference_cpu() ? psnr_sse_ref : psnr_sse_simd;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

StatusOr<std::unique_ptr<Extractor>> create(const Options&, const VideoFormat& format, Placement placement) {
  return std::unique_ptr<Extractor>(new FloatPsnr(format, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatPsnrExtractor = {
    .name = "float_psnr",
    .help = "peak signal-to-noise ratio of the luma, on the scale of 8 bit",
    .flags = kHip,
    .features = kFeatures,
    .options = {},
    .create = create,
};

}  // namespace vmafx
