/* The working memory of ssimulacra2's SIMD twin. It takes a picture in strips of columns and a strip in bands of rows,
 * as many as a vector has lanes, so that what it holds between the passes stays in the second-level cache: 400 KiB with
 * 16 lanes. */
#ifndef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_ROWS_H
#define VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_ROWS_H

#include <cstddef>

#include "base/aligned.h"
#include "kernels/ssimulacra2/ssimulacra2_math.h"
#include "kernels/steps/rows.h"

namespace vmafx {

inline constexpr int kSsimulacra2Strip = 128;  // columns; whole vectors

class Ssimulacra2StripMemory {
 public:
  static constexpr int kStrip = kSsimulacra2Strip;
  /* Columns that rows have before and after a strip, for the filter; four at a time. */
  static constexpr int kBefore = 8, kAfter = 8;
  static constexpr int kLine = kBefore + kStrip + kAfter + kRowSlack;  // floats
  static constexpr int kChannelLine = kBefore + kStrip + kAfter + 16;  // a vector past the last one
  static constexpr int kBlurredLine = kStrip + 16;                     // apart in the sets of a cache
  static constexpr int kStateFloats = 2 * kSsimulacra2Sections;

  Ssimulacra2StripMemory(std::byte* scratch, int band) : floats_(reinterpret_cast<float*>(scratch)), band_(band) {}

  /* A row of XYB; the strip begins kBefore into it. `side`: 0 ref, 1 dist. There are those of a band and the four
   * before it, whose errors wait for it. */
  float* channel(int y, int channel, int side) const {
    return floats_ + kChannelLine * (y % (band_ + kSsimulacra2Ahead) * 2 * kSsimulacra2Channels + 2 * channel + side);
  }

  /* A row of a stream, blurred along, y >= -12: those of a band and what the filter has before it. */
  float* blurred(int channel, int stream, int y) const {
    return blurred() +
           ((channel * kSsimulacra2Streams + stream) * blurred_rows() + (y + blurred_rows()) % blurred_rows()) *
               kBlurredLine;
  }
  float* blurred() const { return floats_ + channel_floats(); }
  int blurred_floats() const { return kAllStreams * blurred_rows() * kBlurredLine; }

  /* What the filter keeps of the columns of a stream: kStateFloats lines of kStrip floats. */
  float* states(int channel, int stream) const {
    return states() + (channel * kSsimulacra2Streams + stream) * kStateFloats * kStrip;
  }
  float* states() const { return blurred() + blurred_floats(); }
  static constexpr int kStatesFloats = kSsimulacra2Channels * kSsimulacra2Streams * kStateFloats * kStrip;

  /* A channel of a side and a band, columns as vectors; the strip begins kColumnsBefore vectors into it. */
  static constexpr int kColumnsBefore = 12;
  float* columns(int side) const { return states() + kStatesFloats + side * columns_floats(); }

  /* Rows of light at scale 0, for even and odd rows. */
  float* light(int y, int side, int kind) const { return lines() + kLine * (y % 2 * 6 + side * 3 + kind); }
  /* Samples as floats. */
  float* samples(int line) const { return lines() + kLine * (2 * 6 + line); }

  static size_t bytes(int band) {
    const Ssimulacra2StripMemory all(nullptr, band);
    constexpr int kLightLines = 2 * 6, kSampleLines = 5;
    return round_to_lines(sizeof(float) * (all.channel_floats() + all.blurred_floats() + kStatesFloats +
                                           2 * all.columns_floats() + (kLightLines + kSampleLines) * kLine));
  }

 private:
  static constexpr int kAllStreams = kSsimulacra2Channels * kSsimulacra2Streams;
  int channel_floats() const { return kChannelLine * (band_ + kSsimulacra2Ahead) * 2 * kSsimulacra2Channels; }
  int blurred_rows() const { return band_ + 12; }
  int columns_floats() const { return (kColumnsBefore + kStrip + kAfter) * band_; }
  float* lines() const { return columns(2); }

  float* floats_;
  int band_;
};

/* Linear light of a scale: planes r, g, b of ref, then of dist. Strips write whole vectors. */
struct Ssimulacra2ScalePlanes {
  float* first;
  int w, h;

  static size_t stride(int w) { return round_up(static_cast<size_t>(w) + kRowSlack, 16); }
  static size_t bytes(int w, int h) { return 6 * sizeof(float) * stride(w) * h; }
  float* row(int side, int kind, int y) const {
    return first + (static_cast<size_t>(side * 3 + kind) * h + y) * stride(w);
  }
};

}  // namespace vmafx

#endif
