#include "kernels/registry/registry.h"

#include <algorithm>
#include <vector>

namespace vmafx {

// clang-format off
#define VMAFX_METRICS(EACH) \
  EACH(kAdmExtractor) \
  EACH(kFloatAdmExtractor) \
  EACH(kVifExtractor) \
  EACH(kMotionExtractor) \
  EACH(kPsnrExtractor) \
  EACH(kFloatPsnrExtractor) \
  EACH(kFloatAnsnrExtractor) \
  EACH(kFloatMomentExtractor) \
  EACH(kCambiExtractor) \
  EACH(kPsnrHvsExtractor) \
  EACH(kCiedeExtractor) \
  EACH(kFloatVifExtractor) \
  EACH(kSsimulacra2Extractor) \
  EACH(kFloatMotionExtractor) \
  EACH(kFloatSsimExtractor) \
  EACH(kFloatMsSsimExtractor) \
  EACH(kSpeedChromaExtractor) \
  EACH(kSpeedTemporalExtractor) \
  EACH(kXpsnrExtractor) \
  EACH(kButteraugliExtractor) \
  EACH(kCvvdpExtractor)
// clang-format on

/* Each at the end of its metric's own source. */
#define VMAFX_DECLARE(name) extern const ExtractorInfo name;
VMAFX_METRICS(VMAFX_DECLARE)

namespace {

#define VMAFX_ADDRESS(name) &name,
constexpr const ExtractorInfo* kExtractors[] = {VMAFX_METRICS(VMAFX_ADDRESS)};

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

MeanOfScores* find_mean(std::string_view key) {
  for (const ExtractorInfo* info : kExtractors)
    for (const FeatureInfo& feature : info->features)
      if (feature.mean && (key == feature.key || key.starts_with(feature.key + std::string("_")))) return feature.mean;
  return nullptr;
}

}  // namespace vmafx
