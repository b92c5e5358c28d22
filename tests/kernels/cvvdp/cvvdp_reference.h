/* Scores of streams that cvvdp_test.cpp makes, as ColorVideoVDP has them: cvvdp 0.5.7 of PyPI on PyTorch 1.13.1 (Debian
 * 12, amd64, CPU, one thread), with `imin` of pycvvdp/interp.py, get_interpolants_quick() as int64 (that PyTorch takes
 * no other indices), for each stream
 *
 *     python3 -m pycvvdp.run_cvvdp -t N.dist.mkv -r N.ref.mkv -d DISPLAY --device cpu \
 *         --count-frames --result scores.csv
 *
 * where the files are those that CVVDP_RECORD=DIR has the test write, encoded by ffmpeg without loss (-c:v ffv1), with
 * their frame rate, range tv, and matrix, primaries and transfer bt709, or bt2020nc, bt2020 and smpte2084 or
 * arib-std-b67. */
#ifndef VMAFX_TESTS_KERNELS_CVVDP_REFERENCE_H
#define VMAFX_TESTS_KERNELS_CVVDP_REFERENCE_H

#include "base/picture.h"

namespace vmafx::test {

inline constexpr double kCvvdpReferenceWithin = 1e-4;

struct CvvdpReferenceStream {
  int w, h, bpc;
  Chroma chroma;
  int transfer;  // 1 SDR, 16 PQ, 18 HLG
  int fps, frames;
  const char* display;
  double jod;
};

inline const CvvdpReferenceStream kCvvdpReference[] = {
    {64, 48, 8, Chroma::k420, 1, 24, 5, "standard_4k", 9.047511},
    {100, 74, 8, Chroma::k444, 1, 60, 4, "standard_4k", 9.171788},
    {91, 67, 8, Chroma::k444, 1, 30, 3, "standard_fhd", 9.122623},
    {91, 68, 8, Chroma::k444, 1, 30, 3, "standard_4k", 9.129251},
    {90, 67, 8, Chroma::k444, 1, 30, 3, "standard_4k", 9.131054},
    {120, 72, 10, Chroma::k420, 16, 25, 4, "standard_hdr_pq", 7.784157},
    {96, 64, 10, Chroma::k422, 18, 50, 4, "standard_hdr_hlg", 8.705843},
    {64, 48, 8, Chroma::k420, 1, 120, 36, "standard_phone", 8.593018},
    {80, 60, 8, Chroma::k420, 1, 25, 1, "standard_4k", 9.656589},
    {72, 64, 10, Chroma::k420, 1, 30, 3, "standard_hmd", 8.973494},
    {72, 64, 10, Chroma::k444, 16, 24, 3, "65inch_hdr_pq_1Knit", 7.467130},
    {88, 72, 10, Chroma::k420, 18, 24, 3, "iphone_14_pro_hdr", 8.426702},
    {16, 12, 8, Chroma::k444, 1, 24, 3, "standard_4k", 9.466035},
    {12, 8, 8, Chroma::k444, 1, 24, 3, "iphone_12_pro", 9.218226},
    {150, 90, 8, Chroma::k422, 1, 24, 2, "ipad_pro_12_9", 8.914984},
};

}  // namespace vmafx::test

#endif
