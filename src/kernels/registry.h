/* The one table that lists the metrics. A new metric is a new folder and one line in registry.cpp. */
#ifndef VMAFX_KERNELS_REGISTRY_H
#define VMAFX_KERNELS_REGISTRY_H

#include <span>
#include <string_view>

#include "kernels/extractor.h"

namespace vmafx {

/* All extractors, in report order; a HIP twin stands right before its CPU twin. */
std::span<const ExtractorInfo* const> extractors();

/* The metric's name, the same for all its twins: "vif" of "vif_hip", too. */
std::string_view metric_name(const ExtractorInfo& info);

/* The extractor called `name`, or nullptr. */
const ExtractorInfo* find_extractor(std::string_view name);

/* The extractor that provides the feature `name`: among those whose flags include all of `preferred`, or else among those
 * without kHip (the CPU twins). nullptr when no metric knows the feature. */
const ExtractorInfo* find_provider(std::string_view feature, uint32_t preferred);

}  // namespace vmafx

#endif
