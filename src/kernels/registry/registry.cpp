#include "kernels/registry/registry.h"

#include <algorithm>
#include <vector>

namespace vmafx {

/* The end of a metric's own source defines it. */
#define VMAFX_METRIC(name) extern const ExtractorInfo name;
#include "kernels/registry/metric_list.h"
#undef VMAFX_METRIC

namespace {

#define VMAFX_METRIC(name) &name,
constexpr const ExtractorInfo* kExtractors[] = {
#include "kernels/registry/metric_list.h"
};
#undef VMAFX_METRIC

constexpr std::string_view kDeviceSuffix = "_hip";

std::vector<std::string> make_names() {
  std::vector<std::string> names;
  for (const ExtractorInfo* info : kExtractors) {
    if (info->flags & kHip) names.push_back(extractor_name(*info, Placement::kDevice));
    names.push_back(extractor_name(*info, Placement::kCpu));
  }
  return names;
}

std::vector<KnownScore> make_scores() {
  std::vector<KnownScore> scores;
  for (const ExtractorInfo* info : kExtractors)
    for (const FeatureInfo& feature : info->features) scores.push_back({info, &feature});
  return scores;
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

std::span<const KnownScore> known_scores() {
  static const std::vector<KnownScore> scores = make_scores();
  return scores;
}

KnownScore find_score(std::string_view key) {
  KnownScore found;
  for (const KnownScore& score : known_scores()) {
    const std::string_view begin = score.feature->key;
    const bool fits =
        key == begin || (key.starts_with(begin) && (key[begin.size()] == '_' || key[begin.size()] == '.'));
    if (fits && (!found.feature || begin.size() > std::string_view(found.feature->key).size())) found = score;
  }
  return found;
}

const FeatureInfo& main_feature(const ExtractorInfo& info) {
  const auto named = [&](const FeatureInfo& f) {
    return info.main_score && std::string_view(f.key) == info.main_score;
  };
  const auto found = std::ranges::find_if(info.features, named);
  return found == info.features.end() ? info.features.front() : *found;
}

}  // namespace vmafx
