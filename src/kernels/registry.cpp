#include "kernels/registry.h"

#include <array>

#include "kernels/adm/adm.h"
#include "kernels/float_ansnr/float_ansnr.h"
#include "kernels/float_moment/float_moment.h"
#include "kernels/cambi/cambi.h"
#include "kernels/ciede/ciede.h"
#include "kernels/motion/float_motion.h"
#include "kernels/vif/float_vif.h"
#include "kernels/adm/float_adm.h"
#include "kernels/motion/motion.h"
#include "kernels/psnr/psnr.h"
#include "kernels/ssim/ssim.h"
#include "kernels/ssimulacra2/ssimulacra2.h"
#include "kernels/speed/speed.h"
#include "kernels/psnr_hvs/psnr_hvs.h"
#include "kernels/vif/vif.h"

namespace vmafx {
namespace {

constexpr std::array kExtractors = {
    &kAdmHipExtractor,
    &kAdmExtractor,
    &kFloatAdmHipExtractor,
    &kFloatAdmExtractor,
    &kVifHipExtractor,
    &kVifExtractor,
    &kMotionHipExtractor,
    &kMotionExtractor,
    &kPsnrHipExtractor,
    &kPsnrExtractor,
    &kFloatPsnrHipExtractor,
    &kFloatPsnrExtractor,
    &kFloatAnsnrHipExtractor,
    &kFloatAnsnrExtractor,
    &kFloatMomentHipExtractor,
    &kFloatMomentExtractor,
    &kCambiHipExtractor,
    &kCambiExtractor,
    &kPsnrHvsHipExtractor,
    &kPsnrHvsExtractor,
    &kCiedeHipExtractor,
    &kCiedeExtractor,
    &kFloatVifHipExtractor,
    &kFloatVifExtractor,
    &kSsimulacra2HipExtractor,
    &kSsimulacra2Extractor,
    &kFloatMotionHipExtractor,
    &kFloatMotionExtractor,
    &kFloatSsimHipExtractor,
    &kFloatSsimExtractor,
    &kFloatMsSsimHipExtractor,
    &kFloatMsSsimExtractor,
    &kSpeedChromaHipExtractor,
    &kSpeedChromaExtractor,
    &kSpeedTemporalHipExtractor,
    &kSpeedTemporalExtractor,
};

bool provides(const ExtractorInfo& info, std::string_view feature) {
  for (const FeatureInfo& f : info.features)
    if (feature == f.name) return true;
  return false;
}

}  // namespace

std::span<const ExtractorInfo* const> extractors() { return kExtractors; }

std::string_view metric_name(const ExtractorInfo& info) {
  std::string_view name = info.name;
  if (info.flags & kHip) name.remove_suffix(std::string_view("_hip").size());
  return name;
}

const ExtractorInfo* find_extractor(std::string_view name) {
  for (const ExtractorInfo* info : kExtractors)
    if (name == info->name) return info;
  return nullptr;
}

const ExtractorInfo* find_provider(std::string_view feature, uint32_t preferred) {
  const ExtractorInfo* cpu_twin = nullptr;
  for (const ExtractorInfo* info : kExtractors) {
    if (!provides(*info, feature)) continue;
    if (preferred && (info->flags & preferred) == preferred) return info;
    if (!(info->flags & kHip) && !cpu_twin) cpu_twin = info;
  }
  return cpu_twin;
}

}  // namespace vmafx
