/* The colors that the samples of a session mean, settled from what its inputs say. */
#ifndef VMAFX_ENGINE_COLOR_H
#define VMAFX_ENGINE_COLOR_H

#include <span>
#include <string>

#include "base/log.h"
#include "base/picture.h"
#include "engine/frames/input_format.h"

namespace vmafx {

/* Warns of each way in which the inputs' colors differ, with a remedy, and of HDR if models score it. */
void warn_of_colors(const InputFormat& ref, const InputFormat& dist, bool scores_models, Log& log);

/* Merges both descriptions; where both say something, the reference's word counts. `differ` lists the fields of which
 * they say different things: "range, matrix". */
Color common_color(const Color& ref, const Color& dist, std::string* differ);

/* Settles the color of `format`, the reference's, for all encodes: a field that the reference does not say is that of
 * the first encode that says it, or else assumed. `matters`: scores depend on it, so the log says what was assumed. */
void settle_color(VideoFormat& format, std::span<const InputFormat> dist, bool matters, Log& log);

/* Fills in an unspecified matrix and range as players do: BT.709 for more than 576 rows, else BT.601; limited range.
 * Returns what it assumed, in words, or "". */
std::string assume_color(VideoFormat& format);

}  // namespace vmafx

#endif
