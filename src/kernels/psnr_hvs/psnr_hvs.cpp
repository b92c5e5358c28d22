#include "kernels/psnr_hvs/psnr_hvs.h"

#include <cerrno>
#include <cmath>

#include "base/cpu.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

/* Per plane, then of all. */
constexpr FeatureInfo kFeatures[] = {{"psnr_hvs_y", "psnr_hvs_y"},
                                     {"psnr_hvs_cb", "psnr_hvs_cb"},
                                     {"psnr_hvs_cr", "psnr_hvs_cr"},
                                     {"psnr_hvs", "psnr_hvs"}};

double decibels(double error) { return -10 * std::log10(error); }

class PsnrHvs : public Extractor {
 public:
  PsnrHvs(const VideoFormat& format, Placement placement)
      : format_(format), device_twin_(placement == Placement::kDevice ? psnr_hvs_hip(format) : nullptr) {}

  std::span<const FeatureInfo> features() const override { return kFeatures; }
  Reads reads() const override { return {.ref = 7, .dist = 7, .history = 0, .every_frame = false}; }
  size_t sums_bytes() const override { return sizeof(PsnrHvsSums); }
  size_t scratch_bytes() const override { return psnr_hvs_scratch_bytes(format_.w); }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    for (int p = 0; p < 3; p++)
      static_cast<PsnrHvsSums*>(sums)->error[p] =
          sum_(p, frames.ref.plane[p], frames.dist.plane[p], format_.bpc, scratch);
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    double errors[3];
    for (int p = 0; p < 3; p++) {
      errors[p] = mean_error(p, static_cast<const PsnrHvsSums*>(sums)->error[p].value());
      sink.put(frame, p, decibels(errors[p]));
    }
    sink.put(frame, 3, decibels(0.8 * errors[0] + 0.1 * (errors[1] + errors[2])));
  }

  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  /* Per coefficient, of the square of the peak. */
  double mean_error(int p, double sum) const {
    const double across = psnr_hvs_blocks(format_.plane_w(p)), down = psnr_hvs_blocks(format_.plane_h(p));
    const double peak = (1 << format_.bpc) - 1;
    return sum / (across * down * kPsnrHvsBlock * kPsnrHvsBlock) / (peak * peak);
  }

  const VideoFormat format_;
  decltype(&psnr_hvs_simd) const sum_ = use_reference_cpu() ? psnr_hvs_ref : psnr_hvs_simd;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

StatusOr<std::unique_ptr<Extractor>> create(const Options&, const VideoFormat& format, Placement placement) {
  if (format.bpc > kPsnrHvsMostBits)
    return error(EINVAL, "psnr_hvs: it takes up to %d bits per sample, not %d", kPsnrHvsMostBits, format.bpc);
  if (format.planes() < 3) return error(EINVAL, "psnr_hvs: it scores chroma, too, and this format has none");
  if (format.plane_w(1) < kPsnrHvsBlock || format.plane_h(1) < kPsnrHvsBlock)
    return error(EINVAL, "psnr_hvs: %dx%d is too small; every plane needs at least %dx%d samples", format.w, format.h,
                 kPsnrHvsBlock, kPsnrHvsBlock);
  return std::unique_ptr<Extractor>(new PsnrHvs(format, placement));
}

}  // namespace

constexpr ExtractorInfo kPsnrHvsExtractor = {
    .name = "psnr_hvs",
    .help = "peak signal-to-noise ratio of visible errors, PSNR-HVS-M",
    .flags = kHip,
    .features = kFeatures,
    .options = {},
    .create = create,
};

}  // namespace vmafx
