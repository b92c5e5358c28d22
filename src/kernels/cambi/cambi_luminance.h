/* Which steps between levels can be seen: the luminance of a level on a display, and thresholds on it. */
#ifndef VMAFX_KERNELS_CAMBI_CAMBI_LUMINANCE_H
#define VMAFX_KERNELS_CAMBI_CAMBI_LUMINANCE_H

#include "kernels/cambi/cambi_math.h"

namespace vmafx {

/* cd/m² of a signal from 0 to 1. */
using Eotf = double (*)(double signal);
double bt1886_luminance(double signal);  // ITU-R BT.1886 with white at 300 and black at 0.01
double pq_luminance(double signal);      // SMPTE ST 2084

/* A step of d at level v counts where luminance(v + d) - luminance(v) > tvi · luminance(v), up to the level where that
 * ends first, and v is at most d + diffs - 1 below the first level of `darkest` cd/m². */
CambiLevels cambi_levels(Eotf eotf, double tvi, double darkest, int diffs);

}  // namespace vmafx

#endif
