/* Settling: the parts of the look do not know of each other. Here a finding that explains another one takes that one's
 * certainty, or its place, and numbers that are as good as none go. */
#ifndef VMAFX_ENGINE_LOOK_SETTLE_H
#define VMAFX_ENGINE_LOOK_SETTLE_H

#include <vector>

#include "engine/look/finding.h"

namespace vmafx::look {

/* Settles all findings of a stream, in any order. */
void settle(std::vector<Finding>* findings);

}  // namespace vmafx::look

#endif
