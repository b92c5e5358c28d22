/* The name that was likely meant, for messages about one that does not exist. */
#ifndef VMAFX_BASE_NEAREST_H
#define VMAFX_BASE_NEAREST_H

#include <span>
#include <string>

namespace vmafx {

/* The one of `names` that differs from `given` in the case of letters, has it as its last word ("float_ssim" for
 * "ssim"), or is at most two changed, missing or additional characters away; the first such rule counts. "" if there is
 * none. */
std::string nearest_name(const std::string& given, std::span<const std::string> names);

}  // namespace vmafx

#endif
