/* The working memory of ssimulacra2's SIMD twin. It takes a picture in strips of columns and a strip in bands of rows,
 * as many as a vector has lanes, so that what it holds between the passes stays in the second-level cache: 400 KiB with
 * 16 lanes. */
#ifndef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_ROWS_H
#define VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_ROWS_H

#include <cstring>

#include "kernels/ssimulacra2/ssimulacra2_math.h"
#include "kernels/steps/rows.h"
#include "kernels/steps/scratch.h"

namespace vmafx {

inline constexpr int kSsimulacra2Strip = 128;  // columns; whole vectors

class Ssimulacra2Memory {
 public:
  static constexpr int kStrip = kSsimulacra2Strip;
  /* Columns that rows have before and after a strip, for the filter; four at a time. */
  static constexpr int kBefore = 8, kAfter = 8;
  static constexpr int kChannelLine = kBefore + kStrip + kAfter + 16;  // a vector past the last one
  static constexpr int kStreams = kSsimulacra2Channels * kSsimulacra2Streams;
  static constexpr int kStateLines = 2 * kSsimulacra2Sections;
  static constexpr int kColumnsBefore = 12;  // vectors

  Ssimulacra2Memory(const Ssimulacra2Params& params, int band, std::byte* memory) : band_(band) {
    Scratch scratch(memory);
    channels_ = scratch.take_plane<float>(kChannelLine, (band + kSsimulacra2Ahead) * 2 * kSsimulacra2Channels);
    blurred_ = scratch.take_plane<float>(kStrip + 16, kStreams * (band + 12)); /* apart in the sets of a cache */
    states_ = scratch.take_plane<float>(kStrip, kStreams * kStateLines);
    columns_ = scratch.take_plane<float>((kColumnsBefore + kStrip + kAfter) * band, 2);
    lines_ = scratch.take_plane<float>(kBefore + kStrip + kAfter + kRowSlack, 2 * 6 + 5);
    const size_t rows = round_up(static_cast<size_t>(params.h) + kSsimulacra2Ahead, static_cast<size_t>(band));
    row_states_ = scratch.take<float>(kRowStates * rows);
    for (int scale = 1; scale <= 2; scale++)
      light_[scale % 2] = scratch.take_plane<float>(ssimulacra2_size(params.w, scale),
                                                    6 * ssimulacra2_size(params.h, scale), 0, kRowSlack);
    bytes_ = scratch.bytes();
  }

  size_t bytes() const { return bytes_; }

  /* Before the first row of a strip. */
  void clear_filter() const {
    for (const Plane<float>& plane : {blurred_, states_}) std::memset(plane.data, 0, plane.stride * plane.h);
  }

  /* A row of XYB; the strip begins kBefore into it. `side`: 0 ref, 1 dist. There are those of a band and the four
   * before it, whose errors wait for it. */
  float* channel(int y, int channel, int side) const {
    return channels_.row(y % (band_ + kSsimulacra2Ahead) * 2 * kSsimulacra2Channels + 2 * channel + side);
  }
  /* A row of a stream, blurred along, y >= -12: those of a band and what the filter has before it. */
  float* blurred(int channel, int stream, int y) const {
    const int rows = band_ + 12;
    return blurred_.row((channel * kSsimulacra2Streams + stream) * rows + (y + rows) % rows);
  }
  /* What the filter keeps of the columns of a stream: kStateLines lines. */
  float* states(int channel, int stream) const {
    return states_.row((channel * kSsimulacra2Streams + stream) * kStateLines);
  }
  /* The same of the rows of a band, a vector for each line; of all streams, at the end of the strip before. */
  float* row_states(int y) const { return row_states_ + y * kRowStates; }
  static constexpr int kRowStates = kStreams * kStateLines;  // floats of a row
  /* A channel of a side and a band, columns as vectors; the strip begins kColumnsBefore vectors into it. */
  float* columns(int side) const { return columns_.row(side); }

  /* Rows of light at scale 0, for even and odd rows. */
  float* light(int y, int side, int kind) const { return lines_.row(y % 2 * 6 + side * 3 + kind); }
  /* Samples as floats. */
  float* samples(int line) const { return lines_.row(2 * 6 + line); }

  /* Linear light of a further scale: planes r, g, b of ref, then of dist. Scales take turns in two places. */
  float* light_row(int scale, int h, int side, int kind, int y) const {
    return light_[scale % 2].row((side * 3 + kind) * h + y);
  }

 private:
  int band_;
  Plane<float> channels_, blurred_, states_, columns_, lines_, light_[2];
  float* row_states_;
  size_t bytes_;
};

}  // namespace vmafx

#endif
