#include "kernels/ciede/ciede.h"

#include <cerrno>
#include <cmath>

#include "kernels/arithmetic/fixed.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

struct CiedeScores {
  double ciede2000;
};

constexpr FeatureInfo kFeatures[] = {plain_feature("ciede2000", VMAFX_SCORE(CiedeScores, ciede2000))};

/* What a frame is, and what a pixel of it takes. */
struct CiedeFrame {
  VideoFormat format;
  CiedeParams params;
};

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

class Ciede : public Metric<CiedeFrame, CiedeSums, CiedeScores> {
 public:
  using Metric::Metric;

  Reads reads() const override { return {.ref = 7, .dist = 7}; }

 private:
  CiedeScores scores(const CiedeSums& sums) override {
    const double pixels = static_cast<double>(params_.format.w) * params_.format.h;
    return {45 - 20 * std::log10(from_fixed<kCiedeSumBits>(sums.difference) / pixels)};
  }
};

size_t scratch_bytes(const CiedeFrame& frame) { return ciede_scratch_bytes(frame.format.w); }

template <auto sum>
void run(const CiedeFrame& frame, const FrameSet& frames, std::byte* scratch, CiedeSums& sums) {
  sums.difference = sum(frame.params, frames.ref, frames.dist, scratch);
}

constexpr Twins<CiedeFrame, CiedeSums> kTwins = {
    .ref = {scratch_bytes, run<ciede_ref>},
    .simd = {scratch_bytes, run<ciede_simd>},
    .device = [](const CiedeFrame& frame) { return ciede_hip(frame.params, frame.format); },
};

Created create(const NoOptions&, const VideoFormat& format, Placement placement) {
  if (format.planes() < 3 || format.plane_w(1) < 1 || format.plane_h(1) < 1)
    return error(EINVAL, "ciede: it compares colors, and %dx%d of this format has no chroma planes", format.w,
                 format.h);
  return std::unique_ptr<Extractor>(new Ciede({format, params_of(format)}, kTwins, kFeatures, placement));
}

}  // namespace

constexpr ExtractorInfo kCiedeExtractor = {
    .name = "ciede",
    .help = "color difference CIEDE2000",
    .flags = kHip,
    .features = kFeatures,
    .options = {},
    .create = with_fields<create>,
};

}  // namespace vmafx
