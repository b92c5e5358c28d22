/* An examination of what a machine can compute scores with, for people and programs that ask why it is not the GPU.
 *
 * Drivers that are broken hang. So each fact is told as soon as it is known, and each step that may hang before it
 * begins: whoever ends the process then knows where it was. */
#ifndef VMAFX_ENGINE_EXAMINATION_H
#define VMAFX_ENGINE_EXAMINATION_H

#include <functional>
#include <string>

#include "base/status.h"

namespace vmafx {

/* Tells the facts, each as a JSON object (see vmafx_examine()), and takes a place on each GPU while it is tried.
 * `version`: the library's. */
Status examine(const char* version, const std::function<void(const std::string&)>& tell);

}  // namespace vmafx

#endif
