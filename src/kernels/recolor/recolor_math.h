/* The input of all twins of recolor.h: tables, parameters, and the places of samples. */
#ifndef VMAFX_KERNELS_RECOLOR_RECOLOR_MATH_H
#define VMAFX_KERNELS_RECOLOR_RECOLOR_MATH_H

#include <cstdint>

#include "kernels/steps/linear_light.h"
#include "kernels/steps/mirror.h"

namespace vmafx {

/* -- Tables -------------------------------------------------------------------------------------------------------- */

/* A table by signal has an entry for each 2^-14 from 0 to 2. */
inline constexpr int kSignalSteps = 1 << 14, kSignalEntries = 2 * kSignalSteps + 1;

/* A table by light has 2^9 entries for each doubling from 2^-44, which also stands for all below, to 2^8. */
inline constexpr int kLightShift = 23 - 9, kLightEntries = (44 + 8) * (1 << 9) + 1;
inline constexpr float kLeastLight = 0x1p-44f, kMostLight = 0x1.fffffep7f;

/* All tables of a conversion lie one behind the other, in the memory of the processor that reads them. Parameters name
 * a table by the place of its first entry. */
inline constexpr int32_t kNoTable = -1;

/* -- Parameters ---------------------------------------------------------------------------------------------------- */

struct RecolorStep {
  float matrix[9];  // row by row
  int32_t gain;     // table by light; kNoTable: 1
  bool of_largest;  // the light is the largest of the three, else the sum of the three times `weights`
  float weights[3];
};

inline constexpr int kMostRecolorSteps = 3;

struct RecolorSamples {
  float luma, luma_offset, chroma,
      chroma_offset;  // code · luma + luma_offset, of the source; the reverse, of the target
};

struct Recolor {
  PictureLight source;  // the place of its chroma
  RecolorSamples from;  // chroma: of 16ths of a code, less neutral
  float to_signal[9];   // to R'G'B' or L'M'S'
  int32_t decode;       // table by signal; kNoTable: no light, steps or encode
  RecolorStep steps[kMostRecolorSteps];
  int n_steps;
  int32_t encode;  // table by light
  float from_signal[9];
  RecolorSamples to;
  bool keeps_planes;  // each plane depends on itself alone: chroma is not resampled
  float most;         // the largest code of the target
  int bpc;            // of the target
  bool has_chroma;
  int chroma_w, chroma_h;
  ChromaAxis across, down;  // of the target
};

/* The weights, in eighths, of luma samples 2k - 1 to 2k + 2 for chroma sample k: a triangle that is four samples wide,
 * around the place of the chroma sample. */
VMAFX_HD float chroma_weight(const ChromaAxis& axis, int tap) {
  const int distance = 2 * (tap - 1) - axis.offset,
            away = distance < 0 ? -distance : distance;  // in halves of a sample
  return away < 4 ? static_cast<float>(4 - away) * 0.125f : 0;
}

/* The luma sample that counts at `i`, up to two beyond the picture: mirrored, the last sample repeated. */
VMAFX_HD int inside_picture(int i, int size) {
  const int mirrored = mirror_repeated(i, size);
  return mirrored < 0 ? 0 : mirrored;
}

}  // namespace vmafx

#endif
