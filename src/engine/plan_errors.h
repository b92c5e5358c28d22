/* How the plan says that an extractor cannot run. */
#ifndef VMAFX_ENGINE_PLAN_ERRORS_H
#define VMAFX_ENGINE_PLAN_ERRORS_H

#include <cerrno>
#include <string>

#include "engine/plan.h"
#include "kernels/registry/registry.h"

namespace vmafx {

inline std::string name_of(const PlannedExtractor& planned) { return extractor_name(*planned.info, planned.placement); }

/* Clients search ffmpeg's output for these words. */
inline Status no_extractor(const std::string& name, const std::string& reason) {
  return error(EINVAL, "could not initialize feature extractor %s: %s", name.c_str(), reason.c_str());
}

}  // namespace vmafx

#endif
