#include "kernels/ciede/ciede.h"

#include <cerrno>
#include <cmath>

#include "kernels/arithmetic/fixed.h"
#include "kernels/device_twin.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

struct CiedeScores {
  double ciede2000;
};

constexpr FeatureInfo kFeatures[] = {read_alone(plain_feature("ciede2000", VMAFX_SCORE(CiedeScores, ciede2000)))};

CiedeParams params_of(const VideoFormat& format) {
  CiedeParams params;
  params.column_shift = format.chroma != Chroma::k444;
  params.row_shift = format.chroma == Chroma::k420;
  const int unit = 1 << (format.bpc - 8);
  params.bpc = format.bpc;
  params.w = format.w;
  params.h = format.h;
  params.chroma_w = format.plane_w(1);
  params.chroma_h = format.plane_h(1);
  params.luma_zero = static_cast<float>(16 * unit);
  params.luma_scale = 1. / (219 * unit) / 1.055;
  params.chroma_zero = static_cast<float>(128 * unit);
  params.chroma_scale = 1. / (224 * unit) / 1.055;
  return params;
}

class Ciede : public Metric<CiedeParams, CiedeSums, CiedeScores> {
 public:
  using Metric::Metric;

  Reads reads() const override { return {.ref = 7, .dist = 7}; }

 private:
  CiedeScores scores(const CiedeSums& sums) const override {
    const double pixels = static_cast<double>(params_.w) * params_.h;
    return {45 - 20 * std::log10(from_fixed<kCiedeSumBits>(sums.difference) / pixels)};
  }
};

size_t scratch_bytes(const CiedeParams& params) { return ciede_scratch_bytes(params.w); }

template <auto sum>
void run(const CiedeParams& params, const FrameSet& frames, std::byte* scratch, CiedeSums& sums) {
  sums.difference = sum(params, frames.ref, frames.dist, scratch);
}

constexpr Twins<CiedeParams, CiedeSums> kTwins = {
    .plain = {scratch_bytes, run<ciede_plain>},
    .simd = {scratch_bytes, run<ciede_simd>},
    .device = ciede_hip,
};

Created create(const NoOptions&, const VideoFormat& format, Placement placement) {
  if (format.planes() < 3 || format.plane_w(1) < 1 || format.plane_h(1) < 1)
    return error(EINVAL, "ciede: it compares colors, and %dx%d of this format has no chroma planes", format.w,
                 format.h);
  return std::unique_ptr<Extractor>(new Ciede(params_of(format), kTwins, kFeatures, placement));
}

}  // namespace

constexpr ExtractorInfo kCiedeExtractor = {
    .name = "ciede",
    .measures = "color",
    .help = "color difference CIEDE2000",
    .range = "up to 100",
    .flags = kHip,
    .features = kFeatures,
    .options = {},
    .create = with_fields<create>,
};

}  // namespace vmafx
