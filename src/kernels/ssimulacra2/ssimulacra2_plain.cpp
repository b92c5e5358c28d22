/* The definition of ssimulacra2: whole planes of floats, one step after the other. */
#include <algorithm>
#include <functional>
#include <utility>

#include "kernels/ssimulacra2/ssimulacra2.h"
#include "kernels/ssimulacra2/ssimulacra2_math-inl.h"
#include "kernels/steps/picture_light_plain.h"

namespace vmafx {
namespace {

/* Planes of floats without gaps, for the largest scale. */
enum Planes {
  kRefLight,
  kDistLight = 3,
  kRef = 6,
  kDist,
  kProduct,
  kBlurredRows,
  kBlurred,
  kPlanes = kBlurred + kSsimulacra2Streams
};

void make_channel(const Ssimulacra2Params& params, const FloatPlanes& memory, int light, int channel, size_t samples,
                  float* out) {
  for (size_t i = 0; i < samples; i++) {
    const Xyb all =
        xyb(params.absorbance, {memory.plane(light)[i], memory.plane(light + 1)[i], memory.plane(light + 2)[i]});
    out[i] = channel == 0 ? all.x : channel == 1 ? all.y : all.b;
  }
}

// -- Blur ------------------------------------------------------------------------------------------------------------

/* `count` samples, of which neighbors are `stride` apart, are 0 beyond their ends. */
struct Line {
  const float* first;
  int count;
  size_t stride;

  /* The filter's input for output n. */
  float input(int n) const { return sample(n - kSsimulacra2Behind) + sample(n + kSsimulacra2Ahead); }
  float sample(int n) const { return n >= 0 && n < count ? first[n * stride] : 0; }
};

void blur_row(const Line& line, float* out) {
  BlurState state = {};
  for (int x = -kSsimulacra2Ahead; x < line.count;) {
    if (ssimulacra2_four_at_once(x, line.count)) {
      float four[4] = {line.input(x), line.input(x + 1), line.input(x + 2), line.input(x + 3)};
      blur_four_along(state, four);
      for (const float value : four) out[x++] = value;
    } else {
      const float value = blurred_along(state, line.input(x));
      if (x >= 0) out[x] = value;
      x++;
    }
  }
}

void blur(const float* in, const PictureSize& size, float* rows, float* out) {
  for (int y = 0; y < size.h; y++) blur_row({in + size.at(0, y), size.w, 1}, rows + size.at(0, y));
  for (int x = 0; x < size.w; x++) {
    const Line column = {rows + x, size.h, static_cast<size_t>(size.w)};
    BlurState state = {};
    for (int y = -kSsimulacra2Ahead; y < size.h; y++) {
      const float value = blurred_down(state, column.input(y));
      if (y >= 0) out[size.at(x, y)] = value;
    }
  }
}

// -- Errors ----------------------------------------------------------------------------------------------------------

/* The errors of one band of a column. */
struct BandErrors {
  float sum[3] = {}, fourth[3] = {};

  void add(const Ssimulacra2Errors& errors) {
    for (int i = 0; i < 3; i++) {
      sum[i] += errors.of[i];
      fourth[i] += fourth_power(errors.of[i]);
    }
  }

  void add_to(Ssimulacra2Map (&maps)[3]) const {
    for (int i = 0; i < 3; i++) {
      maps[i].sum += to_fixed<kSsimulacra2SumBits>(sum[i]);
      maps[i].fourth_powers += fourth[i] * kSsimulacra2FourthScale;
    }
  }
};

/* Takes a channel's errors at a scale. */
struct Output {
  Ssimulacra2Map (&maps)[3];
  int channel;
  BlockGrid grid;
  Ssimulacra2BlockSums* blocks;  // or nullptr
};

void add_errors(const FloatPlanes& memory, const PictureSize& size, const Output& to) {
  const float *ref = memory.plane(kRef), *dist = memory.plane(kDist);
  for (int y = 0; y < size.h; y += kSsimulacra2Band)
    for (int x = 0; x < size.w; x++) {
      BandErrors band;
      for (int row = y; row < y + kSsimulacra2Band && row < size.h; row++) {
        const size_t i = size.at(x, row);
        float blurred[kSsimulacra2Streams];
        for (int k = 0; k < kSsimulacra2Streams; k++) blurred[k] = memory.plane(kBlurred + k)[i];
        band.add(errors_of(ref[i], dist[i], blurred));
      }
      band.add_to(to.maps);
      if (to.blocks) band.add_to(to.blocks[to.grid.at(x, y)].map[to.channel]);
    }
}

void add_channel(const Ssimulacra2Params& params, const FloatPlanes& memory, const PictureSize& size,
                 const Output& to) {
  float *ref = memory.plane(kRef), *dist = memory.plane(kDist), *product = memory.plane(kProduct);
  float* rows = memory.plane(kBlurredRows);
  const size_t samples = static_cast<size_t>(size.w) * size.h;
  make_channel(params, memory, kRefLight, to.channel, samples, ref);
  make_channel(params, memory, kDistLight, to.channel, samples, dist);
  blur(ref, size, rows, memory.plane(kBlurred));
  blur(dist, size, rows, memory.plane(kBlurred + 1));
  const std::pair<const float*, const float*> factors[] = {{ref, ref}, {dist, dist}, {ref, dist}};
  for (int i = 0; i < 3; i++) {
    std::transform(factors[i].first, factors[i].first + samples, factors[i].second, product, std::multiplies());
    blur(product, size, rows, memory.plane(kBlurred + 2 + i));
  }
  add_errors(memory, size, to);
}

void run(const Ssimulacra2Params& params, const Picture& ref, const Picture& dist, std::byte* scratch,
         Ssimulacra2Sums& sums, const Ssimulacra2Blocks* blocks) {
  const FloatPlanes memory = {reinterpret_cast<float*>(scratch), static_cast<size_t>(params.w) * params.h};
  light_up<false>(params, ref, memory, kRefLight);
  light_up<false>(params, dist, memory, kDistLight);
  PictureSize size = {params.w, params.h};
  for (int scale = 0; scale < ssimulacra2_scales(params.w, params.h); scale++) {
    if (scale > 0) {
      const PictureSize larger = std::exchange(size, {(size.w + 1) / 2, (size.h + 1) / 2});
      for (int p = 0; p < 6; p++) halve(memory.plane(p), larger, size);
    }
    for (int channel = 0; channel < 3; channel++)
      add_channel(params, memory, size,
                  {sums.map[scale][channel], channel, Ssimulacra2Blocks::grid(params, scale),
                   blocks ? blocks->scale[scale] : nullptr});
  }
}

}  // namespace

size_t ssimulacra2_scratch_bytes_plain(const Ssimulacra2Params& params) {
  return kPlanes * sizeof(float) * static_cast<size_t>(params.w) * params.h;
}

void ssimulacra2_plain(const Ssimulacra2Params& params, const Picture& ref, const Picture& dist, std::byte* scratch,
                       Ssimulacra2Sums& sums) {
  run(params, ref, dist, scratch, sums, nullptr);
}

void ssimulacra2_mapped_plain(const Ssimulacra2Params& params, const Picture& ref, const Picture& dist,
                              std::byte* scratch, Ssimulacra2Sums& sums, const Ssimulacra2Blocks& blocks) {
  run(params, ref, dist, scratch, sums, &blocks);
}

}  // namespace vmafx
