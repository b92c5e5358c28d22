/* The working memory of ssimulacra2's SIMD twin. It takes a picture in strips of columns and a strip in bands of four
 * rows, so that what it holds between the passes stays in the second-level cache: 290 KiB. */
#ifndef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_STRIP_H
#define VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_STRIP_H

#include <cstddef>

#include "base/aligned.h"
#include "kernels/common/rows.h"
#include "kernels/ssimulacra2/ssimulacra2_math.h"

namespace vmafx {

inline constexpr int kSsimulacra2Strip = 256;  // columns; whole vectors
inline constexpr int kSsimulacra2Channels = 3;

/* What is blurred of a channel. */
enum Ssimulacra2Stream { kRefStream, kDistStream, kSquaresStream, kDifferencesStream, kSsimulacra2Streams };

class Ssimulacra2StripMemory {
 public:
  static constexpr int kLine = kSsimulacra2Strip + 2 * kSsimulacra2Radius + kRowSlack;  // floats: a strip with margins
  static constexpr int kBlurredLine = kSsimulacra2Strip + 16;  // apart in the sets of a cache
  static constexpr int kBlurredRows = kSsimulacra2Band + 2 * kSsimulacra2Radius;

  explicit Ssimulacra2StripMemory(std::byte* scratch) : floats_(reinterpret_cast<float*>(scratch)) {}

  /* A row of XYB; the strip begins kSsimulacra2Radius into it. `side`: 0 ref, 1 dist. */
  float* channel(int y, int channel, int side) const {
    return floats_ + kLine * (y % kRows * 2 * kSsimulacra2Channels + 2 * channel + side);
  }
  /* Of the row at hand: a stream of a channel. */
  float* products() const { return floats_ + kProducts; }

  /* Rows of absorbances at scale 0, for even and odd rows. */
  float* absorbed(int y, int side, int kind) const {
    return floats_ + kAbsorbed + kLine * (y % 2 * 6 + side * 3 + kind);
  }
  /* Samples as floats. */
  float* samples(int line) const { return floats_ + kSamples + kLine * line; }

  /* Rows of a stream that are blurred along, kBlurredRows from row -kSsimulacra2Radius on; the next ones take the place
   * of the first. */
  float* blurred(int channel, int stream) const {
    return floats_ + kBlurred + (channel * kSsimulacra2Streams + stream) * kBlurredRows * kBlurredLine;
  }
  float* blurred(int channel, int stream, int y) const {
    return blurred(channel, stream) + (y + kSsimulacra2Radius) % kBlurredRows * kBlurredLine;
  }

 private:
  static constexpr int kRows = 2 * kSsimulacra2Band;  // of a band, and those before that its filter has yet to take
  static constexpr int kProducts = kRows * 2 * kSsimulacra2Channels * kLine;
  static constexpr int kAbsorbed = kProducts + kLine;
  static constexpr int kSamples = kAbsorbed + 2 * 6 * kLine;
  static constexpr int kSampleLines = 5;
  static constexpr int kBlurred = kSamples + kSampleLines * kLine;

  float* floats_;

 public:
  static constexpr int kFloats = kBlurred + kSsimulacra2Channels * kSsimulacra2Streams * kBlurredRows * kBlurredLine;
  static constexpr size_t kBytes = round_to_lines(sizeof(float) * kFloats);
};

/* Absorbances of a scale: planes l, m, s of ref, then of dist. Strips write whole vectors. */
struct Ssimulacra2ScalePlanes {
  float* first;
  int w, h;

  static size_t stride(int w) { return (w + kRowSlack + 15) / 16 * 16; }
  static size_t bytes(int w, int h) { return 6 * sizeof(float) * stride(w) * h; }
  float* row(int side, int kind, int y) const {
    return first + (static_cast<size_t>(side * 3 + kind) * h + y) * stride(w);
  }
};

}  // namespace vmafx

#endif
