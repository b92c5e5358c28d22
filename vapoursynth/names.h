/* The names of scores among the properties of a frame. */
#ifndef VMAFX_VAPOURSYNTH_NAMES_H
#define VMAFX_VAPOURSYNTH_NAMES_H

#include <string>
#include <string_view>
#include <vector>

namespace vapoursynth {

/* A key of reports as a property: VapourSynth allows letters, digits and _, others become _. */
std::string property_of(std::string_view key);

/* The names under which scripts and Av1an read the score from the plugins Vship and vszip. */
std::vector<const char*> other_properties_of(std::string_view key);

}  // namespace vapoursynth

#endif
