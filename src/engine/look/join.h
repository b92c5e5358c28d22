/* Joins the findings about parts of a stream, as one run over the whole stream has them. */
#ifndef VMAFX_ENGINE_LOOK_JOIN_H
#define VMAFX_ENGINE_LOOK_JOIN_H

#include <cstdint>
#include <vector>

#include "engine/look/breaks.h"
#include "engine/look/finding.h"

namespace vmafx::look {

/* Parts of a stream that were looked at by themselves. */
struct Parts {
  std::vector<int64_t> begins{};  // the numbers of their first pairs
  int64_t end = 0;                // of the last one; 0: unknown
  Breaks breaks{};                // of the stream: join_breaks()
  std::vector<Finding> brief{};
};

/* Findings of one kind and the same evidence, whose pairs adjoin, become one. A part that begins after frames were
 * dropped or doubled sees an offset, which is what those still do; where the parts before a border and after it have
 * other offsets, frames were dropped or doubled there. Brief findings count where they adjoin others, or are long
 * enough together. A part may have too few pairs even for these: where its neighbor finds something from their border
 * on, that begins or ends with the largest break that is near enough. Returns the findings by kinds and places. */
std::vector<Finding> join(std::vector<Finding> findings, const Parts& parts = {});

}  // namespace vmafx::look

#endif
