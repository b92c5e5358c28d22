/* active_area: what black bars leave of a picture of the reference. It is no metric: it puts no scores, users cannot
 * name it, and the registry does not list it. The engine's plan adds kActiveAreaExtractor for the option `roi`.
 *
 * A bar is all rows, and of the rows that are left all columns, from an edge of the picture on whose mean luma is at
 * most 8 levels of 8 bit above black: 24 in limited range, as is the limit that FFmpeg's filter cropdetect has. Each
 * picture is judged for itself, so that no score depends on where a stream begins. What is black at the edge of a dark
 * picture therefore counts as a bar, too; a picture whose rows, or columns, are all so black has none there. */
#ifndef VMAFX_KERNELS_ACTIVE_AREA_ACTIVE_AREA_H
#define VMAFX_KERNELS_ACTIVE_AREA_ACTIVE_AREA_H

#include <cstdint>

#include "base/picture.h"
#include "kernels/forward.h"

namespace vmafx {

/* The raw sums of a frame: samples of luma, at least one. */
struct ActiveArea {
  int32_t x, y, w, h;
};

/* Samples below 2^bpc. */
ActiveArea find_active_area(const SamplePlane& luma, int bpc, bool full_range);

extern const ExtractorInfo kActiveAreaExtractor;

}  // namespace vmafx

#endif
