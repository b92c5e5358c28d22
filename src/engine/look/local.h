/* Local findings: what holds for a part of a stream. A vote over the whole stream misses what begins in mid-stream, and
 * does not know where it began. Chapters that clearly show the contrary of a kind of finding divide the stream; what is
 * between them is judged as if it were a stream of its own.
 *
 * How often that is wrong does not depend on the stream's length: a run has at least a sixteenth of it, so that there
 * are few of them, and has to be sure where the whole stream does not say the same. */
#ifndef VMAFX_ENGINE_LOOK_LOCAL_H
#define VMAFX_ENGINE_LOOK_LOCAL_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/look/chapters.h"
#include "engine/look/finding.h"

namespace vmafx::look {

/* Chapters as a part of the look sees them. */
struct Divided {
  std::span<const Pairs> chapters;
  /* Whether a chapter clearly shows that there is no such finding in most of it. */
  std::function<bool(size_t chapter, Kind kind)> denies;
  /* The findings of the chapters first … end-1, as of a stream that has these pairs alone. */
  std::function<std::vector<Finding>(size_t first, size_t end)> judge;
};

/* The pairs that a local finding needs in a stream of so many. */
int64_t least_run(int64_t pairs);

/* The highest certainty of a local finding of so many pairs. */
Certainty most_certain(int64_t pairs);

/* Puts local findings of these kinds in the place of those of the whole stream. Kinds exclude each other: where one is
 * local, the whole stream has none of them, unless that is sure. Those that are sure and too short, at the beginning or
 * the end of the stream, are added as brief ones. */
void find_locally(const Divided& divided, std::span<const Kind> kinds, std::vector<Finding>* findings);

}  // namespace vmafx::look

#endif
