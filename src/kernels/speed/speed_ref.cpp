/* The definition of SpEED on one plane, in the order of speed.h. */
#include "kernels/common/mirror.h"
#include "kernels/speed/speed.h"
#include "kernels/speed/speed_math.h"

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
        return weighted(shape.antialias, [&](int dy) { return sample(from, mirror(y * kSpeedStep + dy, shape.h)); });
      };
      small.row(y)[x] = weighted(shape.antialias, column);
    }
}

template <class T>
void decimate_samples(const SpeedShape& shape, const SpeedPlane& plane, const Plane<float>& small) {
  const auto now = plane.now.as<T>(), before = plane.before.as<T>();
  if (before.data)
    decimate(shape, [&](int x, int y) {
      return (static_cast<float>(before.row(y)[x]) - static_cast<float>(now.row(y)[x])) * shape.scale;
    }, small);
  else
    decimate(shape, [&](int x, int y) { return static_cast<float>(now.row(y)[x]) * shape.scale - kMiddle; }, small);
}

void decimate_scaled(const SpeedPlan& plan, const SpeedPlane& plane, const SpeedMemory& memory) {
  const auto &now = memory.scaled[0], &before = memory.scaled[1];
  plan.scaler->ref(plane.now, plan.bpc, -kMiddle, now, memory.scaler);
  if (plane.before.data) {
    plan.scaler->ref(plane.before, plan.bpc, -kMiddle, before, memory.scaler);
    decimate(plan.shape, [&](int x, int y) { return before.row(y)[x] - now.row(y)[x]; }, memory.small);
  } else {
    decimate(plan.shape, [&](int x, int y) { return now.row(y)[x]; }, memory.small);
  }
}

/* m: x less its local mean. */
void centre(const SpeedShape& shape, const Plane<float>& small, const Plane<int32_t>& centred) {
  for (int y = 0; y < small.h; y++)
    for (int x = 0; x < small.w; x++) {
      const auto column = [&](int dx) {
        const int from = mirror(x + dx, small.w);
        return weighted(shape.local, [&](int dy) { return small.row(mirror(y + dy, small.h))[from]; });
      };
      const float m = small.row(y)[x] - weighted(shape.local, column);
      centred.row(y)[x] = static_cast<int32_t>(to_fixed<kBits>(m));
    }
}

/* Σ over all 5x5 windows of their elements a times b, and of a. */
__int128 products(const SpeedShape& shape, const Plane<int32_t>& m, int a, int b) {
  __int128 sum = 0;
  for (int y = 0; y < shape.windows_y(); y++) {
    const int32_t* row_a = m.row(y + a / kSpeedBlock) + a % kSpeedBlock;
    const int32_t* row_b = m.row(y + b / kSpeedBlock) + b % kSpeedBlock;
    for (int x = 0; x < shape.windows_x(); x++) sum += int64_t{row_a[x]} * row_b[x];
  }
  return sum;
}
int64_t sum_of(const SpeedShape& shape, const Plane<int32_t>& m, int a) {
  int64_t sum = 0;
  for (int y = 0; y < shape.windows_y(); y++)
    for (int x = 0; x < shape.windows_x(); x++) sum += m.row(y + a / kSpeedBlock)[x + a % kSpeedBlock];
  return sum;
}

/* y' K^-1 y / 25, y from (x, y): with K = L D L', z = L^-1 y and so Σ z² / d. */
double variance(const Model& model, const Plane<int32_t>& m, int x, int y) {
  double z[n], sum = 0;
  for (int i = 0; i < n; i++) {
    z[i] = m.row(y + i / kSpeedBlock)[x + i % kSpeedBlock] * kUnit;
    for (int k = 0; k < i; k++) z[i] = z[i] - model.lower[i][k] * z[k];
    sum += z[i] * z[i] * model.inverse[i];
  }
  return sum / n;
}

void model_plane(const SpeedPlan& plan, const SpeedPlane& plane, const SpeedMemory& memory, Model* model) {
  if (plan.scaler) decimate_scaled(plan, plane, memory);
  else if (plan.bpc == 8) decimate_samples<uint8_t>(plan.shape, plane, memory.small);
  else decimate_samples<uint16_t>(plan.shape, plane, memory.small);
  centre(plan.shape, memory.small, memory.centred);
  double k[n][n], work[n][n], product[n];
  speed_covariances(plan.shape, memory.centred, k);
  make_model(Alone(), k, work, product, model);
}

void measure_blocks(const SpeedShape& shape, const Model& model, const Plane<int32_t>& m, double* variances,
                    double* entropies) {
  for (int b = 0; b < shape.blocks(); b++) {
    variances[b] = variance(model, m, b % shape.blocks_x * kSpeedBlock, b / shape.blocks_x * kSpeedBlock);
    entropies[b] = entropy(determinant(model, variances[b], shape.sigma_nn));
  }
}

}  // namespace

void speed_covariances(const SpeedShape& shape, const Plane<int32_t>& m, double (*k)[kSpeedDim]) {
  int64_t sums[n];
  for (int a = 0; a < n; a++) sums[a] = sum_of(shape, m, a);
  fill_covariances(shape, [&](int a, int b) { return products(shape, m, a, b); }, sums, k);
}

void speed_ref(const SpeedPlan& plan, const SpeedPlane& ref, const SpeedPlane& dist, std::byte* scratch,
               SpeedSums* sums) {
  const SpeedMemory memory = plan.memory(scratch);
  *sums = {};
  for (int side = 0; side < 2; side++) {
    Model model;
    model_plane(plan, side ? dist : ref, memory, &model);
    if (!model.regular) sums->singular |= 1u << side;
    else measure_blocks(plan.shape, model, memory.centred, memory.variance[side], memory.entropy[side]);
  }
  if (sums->singular) return;
  for (int b = 0; b < plan.shape.blocks(); b++)
    sums->difference += difference(plan.shape, {memory.variance[0][b], memory.entropy[0][b]},
                                   {memory.variance[1][b], memory.entropy[1][b]});
}

}  // namespace vmafx
