/* The definition of SpEED on one plane, in the order of speed.h. */
#include <algorithm>

#include "kernels/speed/speed.h"
#include "kernels/speed/speed_blocks-inl.h"
#include "kernels/steps/mirror.h"
#include "kernels/steps/row_sums.h"
#include "kernels/steps/rows-inl.h"

namespace vmafx {
namespace {

using namespace speed;

/* x: the plane under the window, at every 16th sample. First down, then across. */
template <class Sample>
void decimate(const SpeedShape& shape, Sample sample, const Plane<float>& small) {
  for (int y = 0; y < small.h; y++)
    for (int x = 0; x < small.w; x++) {
      const auto column = [&](int dx) {
        const int from = mirror(x * kSpeedStep + dx, shape.w);
        return ordered_sum<0>(shape.antialias,
                              [&](int dy) { return sample(mirror(y * kSpeedStep + dy, shape.h), from); });
      };
      small.row(y)[x] = ordered_sum<0>(shape.antialias, column);
    }
}

template <class T>
void decimate_samples(const SpeedShape& shape, const SpeedPlane& plane, const Plane<float>& small) {
  const auto now = plane.now.as<T>(), before = plane.before.as<T>();
  if (before.data) decimate(shape, Differences{now, before, shape.scale}, small);
  else decimate(shape, Samples{now, shape.scale}, small);
}

void decimate_scaled(const SpeedPlan& plan, const SpeedPlane& plane, const SpeedMemory& memory) {
  plan.scaler->plain(speed_source(plan, plane), memory.scaled, memory.scaler);
  decimate(plan.shape, [&](int y, int x) { return memory.scaled.row(y)[x]; }, memory.small);
}

/* m: x less its local mean. */
void center(const SpeedShape& shape, const Plane<float>& small, const Plane<float>& centered) {
  for (int y = 0; y < small.h; y++)
    for (int x = 0; x < small.w; x++) {
      const auto column = [&](int dx) {
        const int from = mirror(x + dx, small.w);
        return ordered_sum<0>(shape.local, [&](int dy) { return small.row(mirror(y + dy, small.h))[from]; });
      };
      centered.row(y)[x] = small.row(y)[x] - ordered_sum<0>(shape.local, column);
    }
}

/* Σ over all 5x5 windows of their elements a times b, or of a. */
template <bool is_pair>
double sum(const SpeedShape& shape, const Plane<float>& m, int a, int b) {
  double sum = 0;
  for (int y = 0; y < shape.windows_y(); y += kSpeedBand)
    sum += band_sum<is_pair>(shape, m.data, static_cast<int>(m.row(1) - m.row(0)), y,
                             std::min(y + kSpeedBand, shape.windows_y()), a, b);
  return sum;
}

void covariances(const SpeedShape& shape, const Plane<float>& m, Matrix k) {
  double sums[n];
  for (int a = 0; a < n; a++) sums[a] = sum<false>(shape, m, a, a);
  for (int a = 0; a < n; a++)
    for (int b = 0; b <= a; b++) k[a][b] = k[b][a] = covariance(shape, sum<true>(shape, m, a, b), sums[a], sums[b]);
}

bool measure(const SpeedPlan& plan, const SpeedPlane& plane, const SpeedMemory& memory, int side) {
  const SpeedShape& shape = plan.shape;
  if (plan.scaler) decimate_scaled(plan, plane, memory);
  else if (plan.bpc == 8) decimate_samples<uint8_t>(shape, plane, memory.small);
  else decimate_samples<uint16_t>(shape, plane, memory.small);
  center(shape, memory.small, memory.centered);
  float k[n][kSpeedRow];
  covariances(shape, memory.centered, k);
  Model model;
  if (!make_model(Alone(), k, &model)) return false;
  for (int b = 0; b < shape.blocks(); b++) {
    const int x = b % shape.blocks_x * kSpeedBlock, y = b / shape.blocks_x * kSpeedBlock;
    const auto sample = [&](int i) { return memory.centered.row(y + i / kSpeedBlock)[x + i % kSpeedBlock]; };
    float solution[n];
    memory.variance[side][b] = variance(model, sample, [&](int i) -> float& { return solution[i]; });
    memory.entropy[side][b] = entropy(model, memory.variance[side][b], shape.sigma_nn);
  }
  return true;
}

float sum_of_differences(const SpeedShape& shape, const SpeedMemory& m) {
  float sum = 0;
  for (int b = 0; b < shape.blocks(); b++)
    sum += difference(shape, {m.variance[0][b], m.entropy[0][b]}, {m.variance[1][b], m.entropy[1][b]});
  return sum;
}

}  // namespace

PrescaleSource speed_source(const SpeedPlan& plan, const SpeedPlane& plane) {
  if (plane.before.data) return {.plane = plane.before, .less = plane.now, .bpc = plan.bpc};
  return {.plane = plane.now, .bpc = plan.bpc, .offset = -kMiddle};
}

void speed_score(const SpeedPlan& plan, const SpeedPlane& ref, std::span<const SpeedPlane> dists, std::byte* scratch,
                 SpeedMeasure measure, std::span<SpeedSums* const> sums) {
  const SpeedMemory memory(plan, scratch);
  const bool ref_is_usable = measure(plan, ref, memory, 0);
  for (size_t i = 0; i < dists.size(); i++) {
    const bool dist_is_usable = measure(plan, dists[i], memory, 1);
    *sums[i] = {};
    if (!ref_is_usable) sums[i]->singular |= 1;
    if (!dist_is_usable) sums[i]->singular |= 2;
    if (!sums[i]->singular) sums[i]->difference = word_of_sum(sum_of_differences(plan.shape, memory));
  }
}

void speed_plain(const SpeedPlan& plan, const SpeedPlane& ref, std::span<const SpeedPlane> dists, std::byte* scratch,
                 std::span<SpeedSums* const> sums) {
  speed_score(plan, ref, dists, scratch, measure, sums);
}

}  // namespace vmafx
