/* The table of all metrics. A new metric is a new folder and a line or two in metric_list.h. */
#ifndef VMAFX_KERNELS_REGISTRY_REGISTRY_H
#define VMAFX_KERNELS_REGISTRY_REGISTRY_H

#include <span>
#include <string>
#include <string_view>

#include "kernels/extractor.h"

namespace vmafx {

/* All metrics, in report order. */
std::span<const ExtractorInfo* const> extractors();

/* The name that users give a metric: "vif", or "vif_hip" if it must run on the device. */
std::string extractor_name(const ExtractorInfo& info, Placement placement);

/* All such names, in report order; that of the device stands right before the metric's own. */
std::span<const std::string> extractor_names();

struct NamedExtractor {
  const ExtractorInfo* info = nullptr;  // nullptr: nothing is called so
  bool device_only = false;
};
NamedExtractor find_extractor(std::string_view name);

/* The metric that provides the feature `name`, or nullptr. */
const ExtractorInfo* find_provider(std::string_view feature);

struct KnownScore {
  const ExtractorInfo* metric = nullptr;
  const FeatureInfo* feature = nullptr;
};

/* All scores of frames that metrics provide, in report order. */
std::span<const KnownScore> known_scores();

/* The score that reports call `key`, with or without what options or a region add to it; of several that fit, the one
 * with the longest key. nullptr in both: no metric provides it. */
KnownScore find_score(std::string_view key);

/* The feature that stands for a metric. */
const FeatureInfo& main_feature(const ExtractorInfo& info);

}  // namespace vmafx

#endif
