/* Joins the findings about parts of a stream, as one run over the whole stream has them. */
#ifndef VMAFX_ENGINE_LOOK_JOIN_H
#define VMAFX_ENGINE_LOOK_JOIN_H

#include <cstdint>
#include <span>
#include <vector>

#include "engine/look/finding.h"

namespace vmafx::look {

/* Findings of one kind and the same evidence, whose pairs adjoin, become one. A part that begins after frames were
 * dropped or doubled sees an offset, which is what those still do; where the parts before a border and after it have
 * other offsets, frames were dropped or doubled there. `borders`: the numbers of the first pairs of the parts after the
 * first one. Returns the findings by kinds and places. */
std::vector<Finding> join(std::vector<Finding> findings, std::span<const int64_t> borders = {});

}  // namespace vmafx::look

#endif
