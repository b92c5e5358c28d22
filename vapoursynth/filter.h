/* Filter: a node that returns the frames of the distorted clip with scores among their properties. */
#ifndef VMAFX_VAPOURSYNTH_FILTER_H
#define VMAFX_VAPOURSYNTH_FILTER_H

#include <VapourSynth4.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vapoursynth/any_order.h"
#include "vapoursynth/clips.h"

namespace vapoursynth {

/* What a function of a plugin makes. */
struct FilterSettings {
  const char* name;  // in messages
  std::vector<std::pair<std::string, std::string>> options;

  /* Writes the scores of frame `n` into its properties. `known` has the scores of that frame, and with `accumulates`
   * of all before it. */
  std::function<void(int64_t n, const AnyOrder& known, VSMap* properties, const VSAPI* api)> put;
  bool accumulates = false;
  bool returns_map = false;  // frames are gray, of floats, none of which is a number
};

/* Makes the filter of the arguments `reference` and `distorted`, or leaves an error in `out`. */
void make_filter(FilterSettings settings, const VSMap* in, VSMap* out, VSCore* core, const VSAPI* api);

/* An argument as the text of an option; "" if it was not given. */
std::string text_argument(const VSMap* in, const char* name, const VSAPI* api);
int64_t int_argument(const VSMap* in, const char* name, int64_t missing, const VSAPI* api);
double float_argument(const VSMap* in, const char* name, double missing, const VSAPI* api);

}  // namespace vapoursynth

#endif
