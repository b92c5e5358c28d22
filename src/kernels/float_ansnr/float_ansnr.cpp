#include "kernels/float_ansnr/float_ansnr.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"
#include "kernels/steps/row_sums.h"

namespace vmafx {
namespace {

struct AnsnrScores {
  double ansnr, anpsnr;
};

constexpr FeatureInfo kFeatures[] = {
    in_unit("dB", plain_feature("float_ansnr", VMAFX_SCORE(AnsnrScores, ansnr))),
    in_unit("dB", plain_feature("float_anpsnr", VMAFX_SCORE(AnsnrScores, anpsnr))),
};

class Ansnr : public Metric<VideoFormat, AnsnrSums, AnsnrScores> {
 public:
  using Metric::Metric;

 private:
  AnsnrScores scores(const AnsnrSums& words) const override {
    const int bpc = params_.bpc;
    const float signal = sum_of_word(words.signal), noise = sum_of_word(words.noise);
    const double peak = ((1 << bpc) - 1) / static_cast<double>(1 << (bpc - 8)), limit = 6. * bpc + 12;
    const double peaks = peak * peak * params_.w * params_.h;
    return {noise == 0 ? limit : 10 * std::log10(static_cast<double>(signal / noise)),
            std::min(10 * std::log10(peaks / std::max<double>(noise, 1e-10)), limit)};
  }
};

constexpr Twins<VideoFormat, AnsnrSums> kTwins = {
    .plain = {ansnr_scratch_bytes, on_luma<ansnr_plain>},
    .simd = {ansnr_scratch_bytes, on_luma<ansnr_simd>},
    .device = ansnr_hip,
};

Status check(const VideoFormat& format) {
  if (format.w < kAnsnrMinSize || format.h < kAnsnrMinSize)
    return error(EINVAL, "float_ansnr needs pictures of at least %dx%d; these are %dx%d", kAnsnrMinSize, kAnsnrMinSize,
                 format.w, format.h);
  return {};
}

Created create(const NoOptions&, const VideoFormat& format, Placement placement) {
  VMAFX_TRY(check(format));
  return std::unique_ptr<Extractor>(new Ansnr(format, kTwins, kFeatures, placement));
}

/* -- Map: the noise of each block ---------------------------------------------------------------------------------- */

/* Raw sums: AnsnrSums, then the noise of each block. */
class AnsnrMapping final : public MappingExtractor {
 public:
  AnsnrMapping(const VideoFormat& format, Placement placement)
      : MappingExtractor({}, {map_of(format)}), format_(format),
        device_twin_(placement == Placement::kDevice ? ansnr_mapped_hip(format).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }
  size_t sums_bytes() const override { return sizeof(AnsnrSums) + ansnr_blocks(format_).blocks() * sizeof(double); }
  size_t scratch_bytes() const override { return ansnr_scratch_bytes(format_); }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    auto& of_frame = *static_cast<AnsnrSums*>(sums);
    const AnsnrBlocks blocks = {reinterpret_cast<double*>(&of_frame + 1), ansnr_blocks(format_)};
    const auto twin = use_plain_cpu() ? ansnr_mapped_plain : ansnr_mapped_simd;
    twin(format_, frames.ref.plane[0], frames.dist.plane[0], scratch, of_frame, blocks);
  }
  void read_map(const void* sums, size_t, std::span<double> values) const override {
    std::copy_n(reinterpret_cast<const double*>(static_cast<const AnsnrSums*>(sums) + 1), values.size(),
                values.begin());
  }

 private:
  static MapInfo map_of(const VideoFormat& format) {
    const BlockGrid grid = ansnr_blocks(format);
    return {"float_ansnr", "noise, squared", grid.w, grid.h, grid.side, grid.side};
  }

  const VideoFormat format_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

Created create_mapping(const NoOptions&, const VideoFormat& format, Placement placement) {
  VMAFX_TRY(check(format));
  return std::unique_ptr<Extractor>(new AnsnrMapping(format, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatAnsnrExtractor = {
    .name = "float_ansnr",
    .measures = "fidelity",
    .help = "signal-to-noise ratio of the smoothed luma",
    .range = "from 0 up",
    .flags = kHip | kMaps,
    .features = kFeatures,
    .create = with_fields<create>,
    .create_mapping = with_fields<create_mapping>,
};

}  // namespace vmafx
