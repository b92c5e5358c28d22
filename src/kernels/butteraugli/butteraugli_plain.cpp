/* The definition of butteraugli: whole planes of floats, one step after the other. */
#include <algorithm>
#include <functional>
#include <utility>

#include "kernels/butteraugli/butteraugli.h"
#include "kernels/butteraugli/butteraugli_math-inl.h"
#include "kernels/steps/picture_light_plain.h"

namespace vmafx {
namespace {

/* Planes of floats without gaps, for the picture of full size. */
constexpr int kLight = 0, kLow = 3, kMiddle = 6, kHigh = 9, kHighest = 11, kActivity = 13, kSidePlanes = 14;
constexpr int kRef = 0, kDist = kSidePlanes, kXyb = 2 * kSidePlanes, kTemporary = kXyb + 3, kLowError = kTemporary + 3,
              kError = kLowError + 1, kMap = kError + 1, kHalfMap = kMap + 1, kPlanes = kHalfMap + 1;

/* Samples of a plane around one of them; `outside` beyond its borders. */
struct Around {
  const float* plane;
  const PictureSize& size;
  int x, y;
  float outside = 0;

  float operator()(int dx, int dy) const {
    const int column = x + dx, row = y + dy;
    const bool inside = column >= 0 && column < size.w && row >= 0 && row < size.h;
    return inside ? plane[size.at(column, row)] : outside;
  }
  float mirrored(int dx, int dy) const {
    return plane[size.at(mirror_repeated(x + dx, size.w), mirror_repeated(y + dy, size.h))];
  }
};

// -- Blurs: along the rows first, then down the columns --------------------------------------------------------------

template <class Blur>
void blur(const float* in, const PictureSize& size, float* rows, float* out) {
  for_samples(size, [&](int x, int y, size_t i) {
    const Around at = {in, size, x, y};
    rows[i] = butteraugli_blurred_along<Blur>([&](int k) { return at(k, 0); }, butteraugli_blur_scale<Blur>(x, size.w));
  });
  for_samples(size, [&](int x, int y, size_t i) {
    const Around at = {rows, size, x, y};
    float sum[1];
    butteraugli_blur_down<Blur>([&](int k) { return at(0, k - Blur::kRadius); }, sum);
    out[i] = sum[0] * butteraugli_blur_scale<Blur>(y, size.h);
  });
}

void blur_light(const float* in, const PictureSize& size, float* rows, float* out) {
  for_samples(size, [&](int x, int y, size_t i) {
    const Around at = {in, size, x, y};
    rows[i] = butteraugli_blurred_light([&](int k) { return at.mirrored(k, 0); });
  });
  for_samples(size, [&](int x, int y, size_t i) {
    const Around at = {rows, size, x, y};
    out[i] = butteraugli_blurred_light([&](int k) { return at.mirrored(0, k); });
  });
}

// -- A picture -------------------------------------------------------------------------------------------------------

void make_xyb(const ButteraugliParams& params, const FloatPlanes& memory, const PictureSize& size, int side) {
  const float* light[3];
  float *blurred[3], *xyb[3];
  for (int c = 0; c < 3; c++) {
    light[c] = memory.plane(side + kLight + c);
    blurred[c] = memory.plane(kTemporary + c);
    xyb[c] = memory.plane(kXyb + c);
    blur_light(light[c], size, memory.plane(kError), blurred[c]);
  }
  for (size_t i = 0; i < size.samples(); i++) {
    const ButteraugliXyb all = butteraugli_xyb(params.absorbance, {light[0][i], light[1][i], light[2][i]},
                                               {blurred[0][i], blurred[1][i], blurred[2][i]});
    xyb[0][i] = all.x;
    xyb[1][i] = all.y;
    xyb[2][i] = all.b;
  }
}

void separate(const FloatPlanes& memory, const PictureSize& size, int side) {
  const size_t samples = size.samples();
  float *rows = memory.plane(kTemporary), *rest = memory.plane(kTemporary + 1);
  for (int c = 0; c < 3; c++) {
    const float* xyb = memory.plane(kXyb + c);
    float *low = memory.plane(side + kLow + c), *middle = memory.plane(side + kMiddle + c);
    blur<ButteraugliLowBlur>(xyb, size, rows, low);
    std::transform(xyb, xyb + samples, low, rest, std::minus());
    blur<ButteraugliMiddleBlur>(rest, size, rows, middle);
    if (c == 2) break;
    std::transform(rest, rest + samples, middle, memory.plane(side + kHigh + c), std::minus());
    std::transform(middle, middle + samples, middle, c ? butteraugli_middle_y : butteraugli_middle_x);
  }
  float *x = memory.plane(side + kHigh), *y = memory.plane(side + kHigh + 1);
  std::transform(x, x + samples, y, x, butteraugli_suppressed);
  for (int c = 0; c < 2; c++) {
    float *high = memory.plane(side + kHigh + c), *highest = memory.plane(side + kHighest + c);
    blur<ButteraugliHighBlur>(high, size, rows, rest);
    for (size_t i = 0; i < samples; i++) {
      const ButteraugliHighs highs = c ? butteraugli_highs_y(high[i], rest[i]) : butteraugli_highs_x(high[i], rest[i]);
      high[i] = highs.high;
      highest[i] = highs.highest;
    }
  }
}

void make_activity(const FloatPlanes& memory, const PictureSize& size, int side) {
  float *rows = memory.plane(kTemporary), *activity = memory.plane(kTemporary + 1);
  const float *x = memory.plane(side + kHigh), *y = memory.plane(side + kHigh + 1);
  const float *highest_x = memory.plane(side + kHighest), *highest_y = memory.plane(side + kHighest + 1);
  for (size_t i = 0; i < size.samples(); i++)
    activity[i] = butteraugli_activity({highest_x[i], x[i]}, {highest_y[i], y[i]});
  blur<ButteraugliMaskBlur>(activity, size, rows, memory.plane(side + kActivity));
}

// -- Differences -----------------------------------------------------------------------------------------------------

void set_errors(const ButteraugliWeights& weights, const FloatPlanes& memory, const PictureSize& size) {
  const auto ref = [&](int p, size_t i) { return memory.plane(kRef + p)[i]; };
  const auto dist = [&](int p, size_t i) { return memory.plane(kDist + p)[i]; };
  const auto less = [&](int p, size_t i) { return ref(p, i) - dist(p, i); };
  for (size_t i = 0; i < size.samples(); i++) {
    memory.plane(kLowError)[i] = butteraugli_low_error(weights, less(kLow, i), less(kLow + 1, i), less(kLow + 2, i));
    memory.plane(kError)[i] =
        butteraugli_middle_error(less(kMiddle, i), less(kMiddle + 1, i), less(kMiddle + 2, i)) +
        butteraugli_high_error(weights, ref(kHigh, i), dist(kHigh, i), ref(kHigh + 1, i), dist(kHigh + 1, i));
  }
}

void add_lines(const ButteraugliWeights& weights, const FloatPlanes& memory, const PictureSize& size) {
  constexpr int kBands[kButteraugliBands] = {kHighest, kHighest + 1, kHigh, kHigh + 1, kMiddle, kMiddle + 1};
  float *samples = memory.plane(kTemporary), *error = memory.plane(kError);
  for (int band = 0; band < kButteraugliBands; band++) {
    const float *ref = memory.plane(kRef + kBands[band]), *dist = memory.plane(kDist + kBands[band]);
    for (size_t i = 0; i < size.samples(); i++)
      samples[i] = butteraugli_line_sample(ref[i], dist[i], weights.lines[band]);
    for_samples(size, [&](int x, int y, size_t i) {
      const Around at = {samples, size, x, y};
      error[i] += band < kButteraugliHighest ? butteraugli_lines(at) : butteraugli_sparse_lines(at);
    });
  }
}

void make_map(const ButteraugliParams& params, const FloatPlanes& memory, const PictureSize& size, int map) {
  const ButteraugliWeights& weights = butteraugli_weights(params.version);
  for (const int side : {kRef, kDist}) {
    make_xyb(params, memory, size, side);
    separate(memory, size, side);
    make_activity(memory, size, side);
  }
  set_errors(weights, memory, size);
  add_lines(weights, memory, size);
  const float *ref = memory.plane(kRef + kActivity), *dist = memory.plane(kDist + kActivity);
  for_samples(size, [&](int x, int y, size_t i) {
    const float error = memory.plane(kError)[i] + butteraugli_activity_error(ref[i], dist[i]);
    const float hiding = butteraugli_hiding_at(Around{ref, size, x, y, kButteraugliNowhere});
    memory.plane(map)[i] = butteraugli_distance(weights, hiding, memory.plane(kLowError)[i], error);
  });
}

void add_row(const float* distances, int w, double norm, ButteraugliRow& sums) {
  double powers[3][kButteraugliLanes] = {};
  float most = 0;
  for (int x = 0; x < w; x++) {
    most = std::max(most, distances[x]);
    const ButteraugliPowers all = butteraugli_powers(distances[x], norm);
    for (int i = 0; i < 3; i++) powers[i][x % kButteraugliLanes] += all.of[i];
  }
  for (int i = 0; i < 3; i++) sums.powers[i] = butteraugli_sum_of_lanes(powers[i]);
  sums.most = most;
}

}  // namespace

size_t butteraugli_scratch_bytes_plain(const ButteraugliParams& params) {
  return kPlanes * sizeof(float) * static_cast<size_t>(params.w) * params.h;
}

void butteraugli_plain(const ButteraugliParams& params, const Picture& ref, const Picture& dist, std::byte* scratch,
                       ButteraugliRow* rows, const ButteraugliRowSink& sink) {
  const PictureSize size = {params.w, params.h}, half = {butteraugli_half(size.w), butteraugli_half(size.h)};
  const FloatPlanes memory = {reinterpret_cast<float*>(scratch), size.samples()};
  light_up<true>(params, ref, memory, kRef + kLight);
  light_up<true>(params, dist, memory, kDist + kLight);
  float* map = memory.plane(kMap);
  make_map(params, memory, size, kMap);
  if (butteraugli_has_half(size.w, size.h)) {
    for (const int side : {kRef, kDist})
      for (int c = 0; c < 3; c++) halve(memory.plane(side + kLight + c), size, half);
    make_map(params, memory, half, kHalfMap);
    for_samples(size, [&](int x, int y, size_t i) {
      map[i] = butteraugli_of_both(map[i], memory.plane(kHalfMap)[half.at(x / 2, y / 2)]);
    });
  }
  for (int y = 0; y < size.h; y++) {
    const float* row = map + size.at(0, y);
    add_row(row, size.w, params.norm, rows[y]);
    if (sink) sink(y, {row, static_cast<size_t>(size.w)});
  }
}

void butteraugli_add_to_blocks(const ButteraugliParams& params, int y, std::span<const float> distances,
                               const BlockGrid& grid, ButteraugliRow* blocks) {
  for (int x = 0; x < params.w; x++) {
    const float distance = distances[static_cast<size_t>(x)];
    ButteraugliRow& block = blocks[grid.at(x, y)];
    const ButteraugliPowers powers = butteraugli_powers(distance, params.norm);
    for (int i = 0; i < 3; i++) block.powers[i] += powers.of[i];
    block.most = std::max(block.most, static_cast<double>(distance));
  }
}

}  // namespace vmafx
