/* Color fit: how each plane of the encode follows from Y, Cb and Cr of the reference, as coefficients with errors.
 *
 * An encoder changes levels and gains of planes. It does not make luma follow from chroma, nor Cb from Cr: a color that
 * went through another matrix or other primaries does, by coefficients that are known. Luma's are exact even where an
 * encoder is short of bits, as the means of many cells are. */
#ifndef VMAFX_ENGINE_LOOK_COLOR_FIT_H
#define VMAFX_ENGINE_LOOK_COLOR_FIT_H

#include <optional>
#include <span>

#include "base/picture.h"
#include "engine/look/finding.h"
#include "engine/look/levels.h"

namespace vmafx::look {

/* The matrix or the primaries that explain the encode's colors, if none but one does. Without pairs: the caller knows
 * them. */
std::optional<Finding> find_mixed_colors(std::span<const Levels::CellPair> cells, const Color& color);

}  // namespace vmafx::look

#endif
