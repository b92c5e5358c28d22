/* What colours the samples of a session mean, from what its inputs say of themselves. */
#ifndef VMAFX_ENGINE_COLOUR_H
#define VMAFX_ENGINE_COLOUR_H

#include <string>

#include "base/log.h"
#include "base/picture.h"
#include "engine/input_format.h"
#include "vmafx/vmafx.h"

namespace vmafx {

/* What an input says. */
Colour described_colour(const VmafxColour& colour);

/* A warning for each way in which the inputs' colours differ, with what brings them together, and one for HDR if models score it. */
void warn_of_colours(const InputFormat& ref, const InputFormat& dist, bool scores_models, Log& log);

/* What both say together: the reference's word, where it has one. `differ` lists what both say and not alike: "range,
 * matrix". */
Colour common_colour(const Colour& ref, const Colour& dist, std::string* differ);

/* Fills in matrix and range as players do where they are left open: BT.709 for more than 576 rows, BT.601 up to that;
 * limited. What was assumed, in words; "" if nothing. */
std::string assume_colour(VideoFormat& format);

}  // namespace vmafx

#endif
