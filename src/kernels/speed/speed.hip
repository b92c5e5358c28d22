/* The kernels of SpEED, in data-flow order; block z is a unit (speed_work.h). All of them are short beside the loading
 * of the planes: what counts is that there are few of them, for all planes of both sides of a batch at once. */
#include "kernels/common/gpu.h"
#include "kernels/common/mirror.h"
#include "kernels/speed/speed_math.h"
#include "kernels/speed/speed_work.h"

namespace vmafx::speed {

VMAFX_DEVICE int this_unit() { return static_cast<int>(gpu::block_id().z); }

/* Whether a unit has the plane before it that it is compared with. */
VMAFX_DEVICE bool has_score(const SpeedWork& work, int unit) {
  return !work.in_time || work.before[unit].data.get() != nullptr;
}

template <class T>
VMAFX_DEVICE float number_at(const hip::DevicePlane& plane, int x, int y) {
  return static_cast<float>(reinterpret_cast<const T*>(plane.data.get() + y * plane.stride)[x]);
}

template <class T, bool scaled>
VMAFX_DEVICE float sample_at(const SpeedWork& work, int unit, int x, int y) {
  if constexpr (scaled) {
    const float now = prescale::scaled_sample<T>(work.prescale, work.now[unit], x, y);
    return work.in_time ? prescale::scaled_sample<T>(work.prescale, work.before[unit], x, y) - now : now;
  } else {
    const float now = number_at<T>(work.now[unit], x, y);
    if (work.in_time) return (number_at<T>(work.before[unit], x, y) - now) * work.shape.scale;
    return now * work.shape.scale - kMiddle;
  }
}

/* Block (segment of a row, row) of x: sums down at all columns that it meets, then across. */
template <class T, bool scaled>
VMAFX_DEVICE void decimate(const SpeedWork& work) {
  VMAFX_SHARED(float, columns, [kSpeedSegment * kSpeedStep + 2 * kMaxWindowHalf]);
  const SpeedShape& shape = work.shape;
  const int unit = this_unit();
  if (!has_score(work, unit)) return;
  const int rank = static_cast<int>(gpu::thread_rank()), half = shape.antialias.half;
  const int first = static_cast<int>(gpu::block_id().x) * kSpeedSegment, y = static_cast<int>(gpu::block_id().y);
  const int left = shape.small_w - first, count = left < kSpeedSegment ? left : kSpeedSegment;
  for (int i = rank; i < (count - 1) * kSpeedStep + 2 * half + 1; i += kSpeedThreads) {
    if (i % kSpeedStep > 2 * half) continue;
    const int x = mirror(first * kSpeedStep - half + i, shape.w);
    columns[i] = weighted(shape.antialias, [&](int k) {
      return sample_at<T, scaled>(work, unit, x, mirror(y * kSpeedStep + k, shape.h));
    });
  }
  gpu::block_sync();
  if (rank >= count) return;
  const int64_t row = static_cast<int64_t>(unit) * shape.small_h + y;
  work.small[row * shape.small_w + first + rank] =
      weighted(shape.antialias, [&](int k) { return columns[rank * kSpeedStep + half + k]; });
}

/* m of each sample of x. */
VMAFX_DEVICE void centre(const SpeedWork& work) {
  const SpeedShape& shape = work.shape;
  const int unit = this_unit();
  const int at = static_cast<int>(gpu::block_id().x * kSpeedThreads + gpu::thread_rank());
  const int size = shape.small_w * shape.small_h;
  if (at >= size || !has_score(work, unit)) return;
  const int x = at % shape.small_w, y = at / shape.small_w;
  const float* small = work.small.get() + static_cast<int64_t>(unit) * size;
  const float mean = weighted(shape.local, [&](int dx) {
    const int from = mirror(x + dx, shape.small_w);
    return weighted(shape.local, [&](int dy) { return small[mirror(y + dy, shape.small_h) * shape.small_w + from]; });
  });
  work.centred[static_cast<int64_t>(unit) * size + at] = static_cast<int32_t>(to_fixed<kBits>(small[at] - mean));
}

/* Elements a and b <= a of pair number `pair`. */
VMAFX_DEVICE void elements_of(int pair, int* a, int* b) {
  *a = 0;
  while ((*a + 1) * (*a + 2) / 2 <= pair) ++*a;
  *b = pair - *a * (*a + 1) / 2;
}

/* Block (band): a thread for each pair's sum of products, and for each element's sum, over the band's windows. */
VMAFX_DEVICE void multiply(const SpeedWork& work) {
  constexpr int kTogether = 8;  // products below 2^60
  const SpeedShape& shape = work.shape;
  const int unit = this_unit();
  const int rank = static_cast<int>(gpu::thread_rank()), band = static_cast<int>(gpu::block_id().x), w = shape.small_w;
  if (rank >= kSpeedPairs + n || !has_score(work, unit)) return;
  const bool is_pair = rank < kSpeedPairs;
  int a = rank - kSpeedPairs, b = a;
  if (is_pair) elements_of(rank, &a, &b);
  const int32_t* m = work.centred.get() + static_cast<int64_t>(unit) * w * shape.small_h;
  const int from = band * kSpeedBand, below = from + kSpeedBand;
  const int to = below < shape.windows_y() ? below : shape.windows_y();
  __int128 products = 0;
  int64_t sum = 0;
  for (int y = from; y < to; y++) {
    const int32_t* row_a = m + (y + a / kSpeedBlock) * w + a % kSpeedBlock;
    const int32_t* row_b = m + (y + b / kSpeedBlock) * w + b % kSpeedBlock;
    for (int start = 0; start < shape.windows_x(); start += kTogether) {
      const int end = start + kTogether < shape.windows_x() ? start + kTogether : shape.windows_x();
      int64_t some = 0;
      for (int x = start; x < end; x++) {
        some += static_cast<int64_t>(row_a[x]) * row_b[x];
        sum += row_a[x];
      }
      products += some;
    }
  }
  int64_t* parts = work.parts.get() + (static_cast<int64_t>(unit) * work.bands + band) * kSpeedPartWords;
  if (is_pair) {
    parts[2 * rank] = static_cast<int64_t>(products);
    parts[2 * rank + 1] = static_cast<int64_t>(products >> 64);
  } else {
    parts[2 * kSpeedPairs + a] = sum;
  }
}

/* The team of all threads of a block of kSpeedModelThreads, a multiple of 32. */
struct BlockTeam {
  template <class F>
  VMAFX_DEVICE void each(int count, F f) const {
    for (int i = static_cast<int>(gpu::thread_rank()); i < count; i += kSpeedModelThreads) f(i);
    gpu::block_sync();
  }
  template <class F>
  VMAFX_DEVICE void square(int size, F f) const {
    const int rank = static_cast<int>(gpu::thread_rank());
    for (int i = rank / 32; i < size; i += kSpeedModelThreads / 32)
      if (rank % 32 < size) f(i, rank % 32);
    gpu::block_sync();
  }
};

/* K of a unit, and what make_model() makes of it. */
VMAFX_DEVICE void build_model(const SpeedWork& work) {
  VMAFX_SHARED(double, k, [n][n]);
  VMAFX_SHARED(double, room, [n][n]);
  VMAFX_SHARED(double, product, [n]);
  VMAFX_SHARED(int64_t, sums, [n]);
  VMAFX_SHARED(Model, model, [1]);
  const SpeedShape& shape = work.shape;
  const int unit = this_unit();
  if (!has_score(work, unit)) return;
  const BlockTeam team;
  const int64_t* parts = work.parts.get() + static_cast<int64_t>(unit) * work.bands * kSpeedPartWords;
  team.each(n, [&](int i) {
    int64_t sum = 0;
    for (int band = 0; band < work.bands; band++) sum += parts[band * kSpeedPartWords + 2 * kSpeedPairs + i];
    sums[i] = sum;
  });
  team.each(kSpeedPairs, [&](int pair) {
    unsigned __int128 total = 0;
    for (int band = 0; band < work.bands; band++) {
      const int64_t* words = parts + band * kSpeedPartWords + 2 * pair;
      total += static_cast<unsigned __int128>(static_cast<uint64_t>(words[1])) << 64 | static_cast<uint64_t>(words[0]);
    }
    int a, b;
    elements_of(pair, &a, &b);
    const int count = shape.windows_x() * shape.windows_y();
    k[a][b] = k[b][a] = covariance(static_cast<__int128>(total), sums[a], sums[b], count);
  });
  make_model(team, k, room, product, &model[0]);
  const auto* words = reinterpret_cast<const uint64_t*>(&model[0]);
  auto* out = reinterpret_cast<uint64_t*>(work.models.get() + static_cast<int64_t>(unit) * sizeof(Model));
  team.each(sizeof(Model) / 8, [&](int i) { out[i] = words[i]; });
}

/* A block of the plane, of which `m` is the first sample. */
VMAFX_DEVICE Block measure(const Model& model, const int32_t* m, int w, double sigma) {
  double z[n], sum = 0;
  VMAFX_UNROLL
  for (int i = 0; i < n; i++) {
    double left = m[i / kSpeedBlock * w + i % kSpeedBlock] * kUnit;
    VMAFX_UNROLL
    for (int k = 0; k < n; k++)
      if (k < i) left = left - model.lower[i][k] * z[k];
    z[i] = left;
    sum += left * left * model.inverse[i];
  }
  const double variance = sum / n;
  return {variance, entropy(determinant(model, variance, sigma))};
}

/* Block (some blocks of the plane, one for each thread); z: a plane of a frame. Without a loop over more of them, out
 * of which the compiler would move the loads of all of the models. */
VMAFX_DEVICE void score(const SpeedWork& work) {
  VMAFX_SHARED(Model, models, [2]);
  const SpeedShape& shape = work.shape;
  const int number = this_unit() /* here of a pair of them */, frame = number / work.plane_count;
  if (!has_score(work, 2 * number)) return;
  const int rank = static_cast<int>(gpu::thread_rank());
  const auto* from =
      reinterpret_cast<const uint64_t*>(work.models.get()) + static_cast<int64_t>(number) * 2 * sizeof(Model) / 8;
  for (int i = rank; i < static_cast<int>(2 * sizeof(Model) / 8); i += kSpeedScoreThreads)
    reinterpret_cast<uint64_t*>(&models[0])[i] = from[i];
  gpu::block_sync();
  uint64_t* sums = work.sums.get() + frame * work.sums_stride + number % work.plane_count * 2;
  const bool no_ref = !models[0].regular, no_dist = !models[1].regular;
  if (no_ref || no_dist) {
    if (rank == 0 && gpu::block_id().x == 0) gpu::atomic_add(&sums[1], (no_ref ? 1u : 0u) | (no_dist ? 2u : 0u));
    return;
  }
  const int64_t size = static_cast<int64_t>(shape.small_w) * shape.small_h;
  const int32_t* m = work.centred.get() + number * 2 * size;
  const int b = static_cast<int>(gpu::block_id().x * kSpeedScoreThreads) + rank;
  const bool is_there = b < shape.blocks();
  const int at = (b / shape.blocks_x * shape.small_w + b % shape.blocks_x) * kSpeedBlock;
  Block ref = {}, dist = {};
  if (is_there) ref = measure(models[0], m + at, shape.small_w, shape.sigma_nn);
  gpu::block_sync();  // keeps the loads of the second model behind the first: both do not fit the registers of gfx10
  if (is_there) dist = measure(models[1], m + size + at, shape.small_w, shape.sigma_nn);
  const int64_t sum = is_there ? difference(shape, ref, dist) : 0;
  gpu::add_block(sums, sum);
}

}  // namespace vmafx::speed

VMAFX_KERNEL(vmafx_speed_decimate_8, vmafx::kSpeedThreads, (vmafx::SpeedWork work)) {
  vmafx::speed::decimate<uint8_t, false>(work);
}
VMAFX_KERNEL(vmafx_speed_decimate_16, vmafx::kSpeedThreads, (vmafx::SpeedWork work)) {
  vmafx::speed::decimate<uint16_t, false>(work);
}
VMAFX_KERNEL(vmafx_speed_decimate_scaled_8, vmafx::kSpeedThreads, (vmafx::SpeedWork work)) {
  vmafx::speed::decimate<uint8_t, true>(work);
}
VMAFX_KERNEL(vmafx_speed_decimate_scaled_16, vmafx::kSpeedThreads, (vmafx::SpeedWork work)) {
  vmafx::speed::decimate<uint16_t, true>(work);
}
VMAFX_KERNEL(vmafx_speed_centre, vmafx::kSpeedThreads, (vmafx::SpeedWork work)) { vmafx::speed::centre(work); }
VMAFX_KERNEL(vmafx_speed_multiply, vmafx::kSpeedPairThreads, (vmafx::SpeedWork work)) { vmafx::speed::multiply(work); }
VMAFX_KERNEL(vmafx_speed_model, vmafx::kSpeedModelThreads, (vmafx::SpeedWork work)) { vmafx::speed::build_model(work); }
VMAFX_KERNEL(vmafx_speed_score, vmafx::kSpeedScoreThreads, (vmafx::SpeedWork work)) { vmafx::speed::score(work); }
