#include "kernels/registry.h"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/adm/adm.h"
#include "kernels/adm/float_adm.h"
#include "kernels/cambi/cambi.h"
#include "kernels/ciede/ciede.h"
#include "kernels/float_ansnr/float_ansnr.h"
#include "kernels/float_moment/float_moment.h"
#include "kernels/motion/float_motion.h"
#include "kernels/motion/motion.h"
#include "kernels/psnr/psnr.h"
#include "kernels/psnr_hvs/psnr_hvs.h"
#include "kernels/speed/speed.h"
#include "kernels/ssim/ssim.h"
#include "kernels/ssimulacra2/ssimulacra2.h"
#include "kernels/vif/float_vif.h"
#include "kernels/vif/vif.h"

namespace vmafx {
namespace {

// clang-format off
constexpr std::array kExtractors = {
    &kAdmExtractor,
    &kFloatAdmExtractor,
    &kVifExtractor,
    &kMotionExtractor,
    &kPsnrExtractor,
    &kFloatPsnrExtractor,
    &kFloatAnsnrExtractor,
    &kFloatMomentExtractor,
    &kCambiExtractor,
    &kPsnrHvsExtractor,
    &kCiedeExtractor,
    &kFloatVifExtractor,
    &kSsimulacra2Extractor,
    &kFloatMotionExtractor,
    &kFloatSsimExtractor,
    &kFloatMsSsimExtractor,
    &kSpeedChromaExtractor,
    &kSpeedTemporalExtractor,
};
// clang-format on

constexpr std::string_view kDeviceSuffix = "_hip";

std::vector<std::string> make_names() {
  std::vector<std::string> names;
  for (const ExtractorInfo* info : kExtractors) {
    if (info->flags & kHip) names.push_back(extractor_name(*info, Placement::kDevice));
    names.push_back(extractor_name(*info, Placement::kCpu));
  }
  return names;
}

}  // namespace

std::span<const ExtractorInfo* const> extractors() { return kExtractors; }

std::span<const std::string> extractor_names() {
  static const std::vector<std::string> names = make_names();
  return names;
}

std::string extractor_name(const ExtractorInfo& info, Placement placement) {
  return std::string(info.name) += placement == Placement::kDevice ? kDeviceSuffix : "";
}

NamedExtractor find_extractor(std::string_view name) {
  for (const ExtractorInfo* info : kExtractors) {
    if (name == info->name) return {info, false};
    if ((info->flags & kHip) && name == extractor_name(*info, Placement::kDevice)) return {info, true};
  }
  return {};
}

const ExtractorInfo* find_provider(std::string_view feature) {
  for (const ExtractorInfo* info : kExtractors)
    if (std::ranges::any_of(info->features, [&](const FeatureInfo& f) { return feature == f.name; })) return info;
  return nullptr;
}

}  // namespace vmafx
