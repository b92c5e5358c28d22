/* The working memory of ssimulacra2's SIMD twin. It takes a picture in strips of columns and a strip in bands of rows,
 * as many as a vector has lanes: what it holds between the passes is 1.4 MiB with 16 lanes for one encode, 0.6 MiB more
 * for each further one; 0.9 and 0.4 with 8 lanes. Part of it leaves the second-level cache, which costs less than
 * narrow strips do, whose every row is a jump to another page: with 384 columns instead of 128 a frame of 1920x1080
 * takes 15 percent less time on Zen 4 with AVX-512 and 12 percent less with AVX2, eight encodes 13 and 11 percent.
 * With the light of two scales an encode has 8.4 MiB at 1920x1080, so there are eight at most. */
#ifndef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_ROWS_H
#define VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_ROWS_H

#include <algorithm>
#include <cstring>

#include "kernels/ssimulacra2/ssimulacra2_math.h"
#include "kernels/steps/rows.h"
#include "kernels/steps/scratch.h"

namespace vmafx {

inline constexpr int kSsimulacra2Strip = 384;  // columns; whole vectors
inline constexpr int kSsimulacra2Encodes = 8;  // at a time

/* The rows of one picture. */
class Ssimulacra2Side {
 public:
  static constexpr int kStrip = kSsimulacra2Strip;
  /* Columns that rows have before and after a strip, for the filter; four at a time. */
  static constexpr int kBefore = 8, kAfter = 8;
  static constexpr int kChannelLine = kBefore + kStrip + kAfter + 16;  // a vector past the last one
  static constexpr int kStateLines = 2 * kSsimulacra2Sections;

  Ssimulacra2Side() = default;

  /* `streams`: 2 of the reference, 3 of an encode: its samples, their squares, their products with the reference's. */
  Ssimulacra2Side(const Ssimulacra2Params& params, int band, int streams, Scratch& scratch)
      : band_(band), streams_(streams) {
    const int all = kSsimulacra2Channels * streams;
    channels_ = scratch.take_plane<float>(kChannelLine, (band + kSsimulacra2Ahead) * kSsimulacra2Channels);
    blurred_ = scratch.take_plane<float>(kStrip + 16, all * (band + 12)); /* apart in the sets of a cache */
    states_ = scratch.take_plane<float>(kStrip, all * kStateLines);
    const size_t rows = round_up(static_cast<size_t>(params.h) + kSsimulacra2Ahead, static_cast<size_t>(band));
    row_states_ = scratch.take<float>(floats_of_row_states() * rows);
    for (int scale = 1; scale <= 2; scale++)
      light_[scale % 2] = scratch.take_plane<float>(ssimulacra2_size(params.w, scale),
                                                    3 * ssimulacra2_size(params.h, scale), 0, kRowSlack);
  }

  /* Before the first row of a strip. */
  void clear_filter() const {
    for (const Plane<float>& plane : {blurred_, states_}) std::memset(plane.data, 0, plane.stride * plane.h);
  }

  /* A row of XYB; the strip begins kBefore into it. There are those of a band and the four before it, whose errors wait
   * for it. */
  float* channel(int y, int channel) const {
    return channels_.row(y % (band_ + kSsimulacra2Ahead) * kSsimulacra2Channels + channel);
  }
  /* A row of a stream, blurred along, y >= -12: those of a band and what the filter has before it. */
  float* blurred(int channel, int stream, int y) const {
    const int rows = band_ + 12;
    return blurred_.row((channel * streams_ + stream) * rows + (y + rows) % rows);
  }
  /* The filter's states for the columns of a stream: kStateLines lines. */
  float* states(int channel, int stream) const { return states_.row((channel * streams_ + stream) * kStateLines); }
  /* The filter's states for the rows of a band at the end of the strip before, a vector for each line. */
  float* row_states(int y, int channel, int stream) const {
    return row_states_ + y * floats_of_row_states() + (channel * streams_ + stream) * kStateLines * band_;
  }
  void clear_row_states(int y) const { std::fill_n(row_states(y, 0, 0), floats_of_row_states() * band_, 0.0f); }

  /* Linear light of a further scale: planes r, g, b. Scales take turns in two places. */
  float* light_row(int scale, int h, int kind, int y) const { return light_[scale % 2].row(kind * h + y); }

 private:
  int floats_of_row_states() const { return kSsimulacra2Channels * streams_ * kStateLines; }

  int band_, streams_;
  Plane<float> channels_, blurred_, states_, light_[2];
  float* row_states_;
};

class Ssimulacra2Memory {
 public:
  using Side = Ssimulacra2Side;
  static constexpr int kColumnsBefore = 12;  // vectors
  static constexpr int kLocals = 3;          // lines of what the errors need of the reference

  Ssimulacra2Memory(const Ssimulacra2Params& params, int band, int encodes, std::byte* memory) : band_(band) {
    Scratch scratch(memory);
    ref_ = Side(params, band, 2, scratch);
    columns_ =
        scratch.take_plane<float>((kColumnsBefore + Side::kStrip + Side::kAfter) * band, 1 + kSsimulacra2Channels);
    locals_ = scratch.take_plane<float>(Side::kStrip + 16, kSsimulacra2Channels * kLocals * band);
    lines_ = scratch.take_plane<float>(Side::kBefore + Side::kStrip + Side::kAfter + kRowSlack, 2 * 3 + 5);
    for (int i = 0; i < std::min(encodes, kSsimulacra2Encodes); i++) dist_[i] = Side(params, band, 3, scratch);
    bytes_ = scratch.bytes();
  }

  size_t bytes() const { return bytes_; }

  const Side& ref() const { return ref_; }
  const Side& dist(size_t encode) const { return dist_[encode]; }

  /* A channel of a band of an encode, columns as vectors; the strip begins kColumnsBefore vectors into it. */
  float* columns() const { return columns_.row(0); }
  /* A channel of a band of the reference, likewise; it stays for all encodes. */
  float* ref_columns(int channel) const { return columns_.row(1 + channel); }
  /* A line of Ssimulacra2Local of the reference, y >= -4; of as many rows as a band has. */
  float* locals(int channel, int line, int y) const {
    return locals_.row((channel * kLocals + line) * band_ + (y + band_) % band_);
  }

  /* Rows of light at scale 0, for even and odd rows. */
  float* light(int y, int kind) const { return lines_.row(y % 2 * 3 + kind); }
  /* Samples as floats, for light_row(). */
  LightLines samples() const { return {{lines_.row(6), lines_.row(7), lines_.row(8), lines_.row(9), lines_.row(10)}}; }

 private:
  int band_;
  Side ref_, dist_[kSsimulacra2Encodes];
  Plane<float> columns_, locals_, lines_;
  size_t bytes_;
};

}  // namespace vmafx

#endif
