#include "kernels/butteraugli/butteraugli_params.h"

#include <cerrno>

#include "kernels/steps/linear_light_of.h"

namespace vmafx {
namespace {

/* The absorbance of cones by linear light of BT.709's primaries. */
constexpr double kCones[3][3] = {{0.29956550340058319, 0.63373087833825936, 0.077705617820981968},
                                 {0.22158691104574774, 0.69391388044116142, 0.0987313588422},
                                 {0.02, 0.02, 0.20480129041026129}};
constexpr double kSdrWhite = 80, kHlgPeak = 1000, kPqPeak = 10000;

/* The light of 1, in cd/m2. */
StatusOr<double> light_of_1(const ButteraugliOptions& options, const VideoFormat& format) {
  const double given = options.intensity_target;
  if (format.color.transfer == kPqTransfer) {
    if (given == 0) return kPqPeak;
    return error(EINVAL, "intensity_target is not for PQ video, whose samples say their light: leave it out");
  }
  if (given > 0) return given;
  return format.color.transfer == kHlgTransfer ? kHlgPeak : kSdrWhite;
}

StatusOr<ButteraugliVersion> version_of(std::string_view name) {
  if (name == "0.8") return ButteraugliVersion::k08;
  if (name == "0.7") return ButteraugliVersion::k07;
  return error(EINVAL, "butteraugli: version '%.*s' is not known: use 0.8, which libjxl 0.8 to 0.12 have, or 0.7",
               static_cast<int>(name.size()), name.data());
}

Status named(const Status& status) { return error(status.code(), "butteraugli: %s", status.message().c_str()); }

}  // namespace

StatusOr<ButteraugliParams> butteraugli_params(const ButteraugliOptions& options, const VideoFormat& format) {
  if (format.w < kButteraugliMinSize || format.h < kButteraugliMinSize)
    return error(EINVAL, "butteraugli: %dx%d is too small; it needs pictures of at least %dx%d", format.w, format.h,
                 kButteraugliMinSize, kButteraugliMinSize);
  const auto scale = light_of_1(options, format);
  if (!scale.ok()) return named(scale.status());
  const auto light = linear_light_of(format, scale.value());
  if (!light.ok()) return named(light.status());
  const auto primaries = primaries_to_bt709(format);
  if (!primaries.ok()) return named(primaries.status());
  VMAFX_ASSIGN(const ButteraugliVersion version, version_of(options.version));
  ButteraugliParams params = {picture_light_of(format, light.value()), {}, options.norm, version};
  for (int i = 0; i < 9; i++) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += kCones[i / 3][k] * primaries.value()[3 * k + i % 3];
    params.absorbance[i] = static_cast<float>(sum * scale.value());
  }
  return params;
}

}  // namespace vmafx
