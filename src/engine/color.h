/* What colors the samples of a session mean, from what its inputs say of themselves. */
#ifndef VMAFX_ENGINE_COLOR_H
#define VMAFX_ENGINE_COLOR_H

#include <string>

#include "base/log.h"
#include "base/picture.h"
#include "engine/input_format.h"
#include "vmafx/vmafx.h"

namespace vmafx {

/* What an input says. */
Color described_color(const VmafxColor& color);

/* A warning for each way in which the inputs' colors differ, with what brings them together, and one for HDR if models score it. */
void warn_of_colors(const InputFormat& ref, const InputFormat& dist, bool scores_models, Log& log);

/* What both say together: the reference's word, where it has one. `differ` lists what both say and not alike: "range,
 * matrix". */
Color common_color(const Color& ref, const Color& dist, std::string* differ);

/* Fills in matrix and range as players do where they are left open: BT.709 for more than 576 rows, BT.601 up to that;
 * limited. What was assumed, in words; "" if nothing. */
std::string assume_color(VideoFormat& format);

}  // namespace vmafx

#endif
