/* Joins the findings about parts of a stream, as one run over the whole stream has them. */
#ifndef VMAFX_ENGINE_LOOK_JOIN_H
#define VMAFX_ENGINE_LOOK_JOIN_H

#include <vector>

#include "engine/look/finding.h"

namespace vmafx::look {

/* Findings of one kind and the same evidence, whose pairs adjoin, become one. Returns them by kinds and places. */
std::vector<Finding> join(std::vector<Finding> findings);

}  // namespace vmafx::look

#endif
