/* The definition of ssimulacra2: whole planes of floats, one step after the other. */
#include <utility>

#include "kernels/common/rows-inl.h"
#include "kernels/ssimulacra2/ssimulacra2.h"
#include "kernels/ssimulacra2/ssimulacra2_math-inl.h"

namespace vmafx {
namespace {

/* Planes of floats without gaps, for the largest scale. */
enum Planes { kRefAbsorbed, kDistAbsorbed = 3, kRef = 6, kDist, kBlurredRow, kBlurred, kPlanes = kBlurred + 4 };

struct Memory {
  float* plane(int p) const { return floats + p * plane_floats; }
  float* floats;
  size_t plane_floats;
};

struct Size {
  int w, h;
  size_t at(int x, int y) const { return static_cast<size_t>(y) * w + x; }
};

// -- Absorbances -----------------------------------------------------------------------------------------------------

/* 16 times the code of chroma at a luma sample. */
template <class T>
int chroma_at(const Plane<const T>& chroma, const ChromaTaps& across, const ChromaTaps& down) {
  const T *top = chroma.row(down.first), *below = chroma.row(down.second);
  return chroma_between(chroma_between(top[across.first], top[across.second], across.weight),
                        chroma_between(below[across.first], below[across.second], across.weight), down.weight);
}

template <class T>
void absorb(const Ssimulacra2Params& params, const Picture& picture, const Memory& memory, int first) {
  const auto luma = picture.plane[0].as<T>(), cb = picture.plane[1].as<T>(), cr = picture.plane[2].as<T>();
  const Size size = {params.w, params.h};
  for (int y = 0; y < params.h; y++)
    for (int x = 0; x < params.w; x++) {
      float u = 0, v = 0;
      if (params.has_chroma) {
        const ChromaTaps across = params.across.taps(x, cb.w), down = params.down.taps(y, cb.h);
        u = static_cast<float>(chroma_at(cb, across, down) - params.light.neutral_chroma);
        v = static_cast<float>(chroma_at(cr, across, down) - params.light.neutral_chroma);
      }
      const Absorbed a = absorbed(params.absorbance, linear_light(params.light, luma.row(y)[x], u, v));
      memory.plane(first)[size.at(x, y)] = a.l;
      memory.plane(first + 1)[size.at(x, y)] = a.m;
      memory.plane(first + 2)[size.at(x, y)] = a.s;
    }
}

/* In place: what is written has been read. */
void halve(float* plane, const Size& from, const Size& to) {
  for (int y = 0; y < to.h; y++)
    for (int x = 0; x < to.w; x++) {
      const int right = 2 * x + 1 < from.w ? 2 * x + 1 : 2 * x, below = 2 * y + 1 < from.h ? 2 * y + 1 : 2 * y;
      plane[to.at(x, y)] = mean_of_4(plane[from.at(2 * x, 2 * y)], plane[from.at(2 * x, below)],
                                     plane[from.at(right, 2 * y)], plane[from.at(right, below)]);
    }
}

void make_channel(const Memory& memory, int absorbed, int channel, size_t samples, float* out) {
  for (size_t i = 0; i < samples; i++) {
    const Xyb all =
        xyb({memory.plane(absorbed)[i], memory.plane(absorbed + 1)[i], memory.plane(absorbed + 2)[i]});
    out[i] = channel == 0 ? all.x : channel == 1 ? all.y : all.b;
  }
}

// -- Blur ------------------------------------------------------------------------------------------------------------

/* `value(i)` of all samples, blurred in rows, then in columns. */
template <class Value>
void blur(const Value& value, const Size& size, float* rows, float* out) {
  for (int y = 0; y < size.h; y++)
    for (int x = 0; x < size.w; x++)
      rows[size.at(x, y)] = symmetric_sum<Ssimulacra2Filter>(
          [&](int i) { return x + i >= 0 && x + i < size.w ? value(size.at(x + i, y)) : 0.0f; });
  for (int y = 0; y < size.h; y++)
    for (int x = 0; x < size.w; x++)
      out[size.at(x, y)] = symmetric_sum<Ssimulacra2Filter>(
          [&](int i) { return y + i >= 0 && y + i < size.h ? rows[size.at(x, y + i)] : 0.0f; });
}

// -- Errors ----------------------------------------------------------------------------------------------------------

/* Of one band of a column. */
struct BandErrors {
  float sum[3] = {}, fourth[3] = {};

  void add(const Ssimulacra2Errors& errors) {
    const float values[3] = {errors.ssim, maximum(errors.edge, 0.0f), maximum(-errors.edge, 0.0f)};
    for (int i = 0; i < 3; i++) {
      sum[i] += values[i];
      fourth[i] += fourth_power(values[i]);
    }
  }

  void add_to(Ssimulacra2Map (&maps)[3]) const {
    for (int i = 0; i < 3; i++) {
      maps[i].sum += to_fixed<kSsimulacra2SumBits>(sum[i]);
      maps[i].fourth_powers += fourth[i] * kSsimulacra2FourthScale;
    }
  }
};

void add_errors(const Memory& memory, const Size& size, Ssimulacra2Map (&maps)[3]) {
  const float *ref = memory.plane(kRef), *dist = memory.plane(kDist);
  const float *ref_mean = memory.plane(kBlurred), *dist_mean = memory.plane(kBlurred + 1),
              *squares = memory.plane(kBlurred + 2), *differences = memory.plane(kBlurred + 3);
  for (int y = 0; y < size.h; y += kSsimulacra2Band)
    for (int x = 0; x < size.w; x++) {
      BandErrors band;
      for (int row = y; row < y + kSsimulacra2Band && row < size.h; row++) {
        const size_t i = size.at(x, row);
        band.add(errors_of(ref[i], dist[i], ref_mean[i], dist_mean[i], squares[i], differences[i]));
      }
      band.add_to(maps);
    }
}

void add_channel(const Memory& memory, const Size& size, int channel, Ssimulacra2Map (&maps)[3]) {
  float *ref = memory.plane(kRef), *dist = memory.plane(kDist), *rows = memory.plane(kBlurredRow);
  const size_t samples = static_cast<size_t>(size.w) * size.h;
  make_channel(memory, kRefAbsorbed, channel, samples, ref);
  make_channel(memory, kDistAbsorbed, channel, samples, dist);
  blur([&](size_t i) { return ref[i]; }, size, rows, memory.plane(kBlurred));
  blur([&](size_t i) { return dist[i]; }, size, rows, memory.plane(kBlurred + 1));
  blur([&](size_t i) { return sum_of_squares(ref[i], dist[i]); }, size, rows, memory.plane(kBlurred + 2));
  blur([&](size_t i) { return squared_difference(ref[i], dist[i]); }, size, rows, memory.plane(kBlurred + 3));
  add_errors(memory, size, maps);
}

}  // namespace

size_t ssimulacra2_scratch_bytes_ref(const Ssimulacra2Params& params) {
  return kPlanes * sizeof(float) * static_cast<size_t>(params.w) * params.h;
}

void ssimulacra2_ref(const Ssimulacra2Params& params, const Picture& ref, const Picture& dist, std::byte* scratch,
                     Ssimulacra2Sums& sums) {
  const Memory memory = {reinterpret_cast<float*>(scratch), static_cast<size_t>(params.w) * params.h};
  const auto absorb_depth = params.bpc == 8 ? absorb<uint8_t> : absorb<uint16_t>;
  absorb_depth(params, ref, memory, kRefAbsorbed);
  absorb_depth(params, dist, memory, kDistAbsorbed);
  Size size = {params.w, params.h};
  for (int scale = 0; scale < ssimulacra2_scales(params.w, params.h); scale++) {
    if (scale > 0) {
      const Size larger = std::exchange(size, {(size.w + 1) / 2, (size.h + 1) / 2});
      for (int p = 0; p < 6; p++) halve(memory.plane(p), larger, size);
    }
    for (int channel = 0; channel < 3; channel++) add_channel(memory, size, channel, sums.map[scale][channel]);
  }
}

}  // namespace vmafx
