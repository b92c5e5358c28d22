/* Scores of streams that xpsnr_test.cpp makes, as FFmpeg's own filter has them: Debian 13's ffmpeg 7.1.5
 * (7:7.1.5-0+deb13u1, amd64), for each stream
 *
 *     ffmpeg $RAW -i NAME.ref $RAW -i NAME.dist -lavfi xpsnr=stats_file=stats,metadata=print -f null -
 *
 * with RAW="-f rawvideo -video_size WxH -pixel_format PIXELS -framerate FPS" and the files NAME = WxH_PIXELS_FPS that
 * XPSNR_RECORD=DIR has the test write. The first input is the original. Frames are from the metadata, which are floats,
 * streams from the statistics, of four digits. */
#ifndef VMAFX_TESTS_KERNELS_XPSNR_REFERENCE_H
#define VMAFX_TESTS_KERNELS_XPSNR_REFERENCE_H

#include "tests/support/parity.h"

namespace vmafx::test {

inline constexpr int kXpsnrReferenceFrames = 3;
inline constexpr double kXpsnrReferenceWithin = 3e-6, kXpsnrStreamWithin = 5.1e-5;

struct XpsnrReferenceStream {
  VideoFormat format;
  int fps;
  double frames[kXpsnrReferenceFrames][3];  // y, cb, cr
  double stream[3];
};

inline const XpsnrReferenceStream kXpsnrReference[] = {
    {color(64, 48, 8, Chroma::k420),
     25,
     {{45.49762, 46.967079, 46.967079}, {30.453087, 33.25769, 33.353565}, {24.413254, 23.931719, 24.315094}},
     {29.9433, 30.4759, 30.7694}},
    {color(46, 46, 8, Chroma::k444),
     60,
     {{45.331833, 44.544689, 44.544689}, {39.262218, 38.624329, 38.726231}, {20.80513, 19.885952, 20.01833}},
     {28.9186, 28.0341, 28.1569}},
    {color(333, 77, 8, Chroma::k444),
     24,
     {{37.324589, 36.885368, 36.885368}, {31.098713, 29.533346, 29.533405}, {30.2812, 28.917501, 28.949577}},
     {32.3852, 31.1086, 31.1223}},
    {color(200, 120, 10, Chroma::k422),
     60,
     {{37.376431, 35.989998, 35.989998}, {38.280781, 37.585373, 37.594116}, {28.816936, 26.762981, 26.767199}},
     {33.7013, 32.044, 32.0481}},
    {color(640, 480, 8, Chroma::k400), 30, {{40.486271}, {34.455963}, {34.495884}}, {36.0575}},
    {color(644, 480, 12, Chroma::k420),
     120,
     {{40.179901, 39.377716, 39.377716}, {40.197083, 39.513004, 39.497486}, {33.887047, 32.844646, 32.850346}},
     {37.5482, 36.6516, 36.6508}},
    {color(1280, 720, 8, Chroma::k420),
     50,
     {{41.346497, 40.983494, 40.983494}, {41.353798, 41.016453, 41.011848}, {35.320591, 35.188396, 35.189808}},
     {38.8469, 38.6051, 38.6046}},
    {color(2052, 1160, 8, Chroma::k420),
     25,
     {{42.785336, 42.388901, 42.388901}, {37.20607, 36.803226, 36.808632}, {37.309158, 37.005745, 36.993416}},
     {38.7403, 38.3777, 38.3751}},
    {color(2176, 1224, 10, Chroma::k420),
     60,
     {{42.680798, 42.345577, 42.345577}, {42.625217, 42.291019, 42.294373}, {37.486092, 37.221306, 37.220936}},
     {40.5706, 40.269, 40.2697}},
    /* Odd sizes, with chroma rounded up. */
    {whole_color(47, 49, 8, Chroma::k420),
     25,
     {{38.294323, 36.22282, 36.22282}, {26.598011, 31.059219, 31.949625}, {20.754179, 21.996843, 22.115128}},
     {25.9838, 27.7513, 28.0242}},
    {whole_color(81, 83, 8, Chroma::k420),
     25,
     {{39.482021, 46.84, 46.84}, {30.315359, 28.839523, 29.32383}, {27.275824, 21.883821, 22.052942}},
     {31.0174, 27.8727, 28.1282}},
    {whole_color(353, 241, 8, Chroma::k420),
     60,
     {{35.567459, 33.542969, 33.542969}, {35.634426, 35.303493, 35.301441}, {31.417656, 28.386456, 28.362108}},
     {33.9723, 31.8941, 31.8815}},
    {whole_color(333, 77, 8, Chroma::k422),
     24,
     {{37.324589, 36.029755, 36.029755}, {31.098713, 30.09614, 30.084578}, {30.2812, 26.682844, 26.714407}},
     {32.3852, 30.1356, 30.1473}},
    {whole_color(645, 481, 8, Chroma::k420),
     30,
     {{38.310345, 36.737896, 36.737896}, {33.529037, 31.769213, 31.75676}, {33.733669, 32.463673, 32.501617}},
     {34.9291, 33.3963, 33.4053}},
};

}  // namespace vmafx::test

#endif
