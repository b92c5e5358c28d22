/* The kernels of SpEED, in data-flow order; block z is a unit (speed_work.h). They must be few, for all planes of both
 * sides of a batch at once: the longest, whose QR steps one thread makes (some 0.13 ms on an H200), takes as long for
 * one plane as for many. */
#include "kernels/gpu/gpu.h"
#include "kernels/speed/speed_blocks-inl.h"
#include "kernels/speed/speed_work.h"
#include "kernels/steps/mirror.h"
#include "kernels/steps/row_sums.h"
#include "kernels/steps/rows-inl.h"

namespace vmafx::speed {

VMAFX_DEVICE int this_unit() { return static_cast<int>(gpu::block_id().z); }

/* Whether a unit has the plane before it that it is compared with. */
VMAFX_DEVICE bool has_score(const SpeedWork& work, int unit) {
  return !work.in_time || work.before[unit].data.get() != nullptr;
}

/* A sample of the plane as it is, which may then be scaled. */
template <class T>
VMAFX_DEVICE float value_at(const SpeedWork& work, int unit, int x, int y) {
  const float now = row_of<T>(work.now[unit], y)[x];
  if (work.in_time) return (static_cast<float>(row_of<T>(work.before[unit], y)[x]) - now) * work.shape.scale;
  return now * work.shape.scale - kMiddle;
}

template <class T, bool scaled>
VMAFX_DEVICE float sample_at(const SpeedWork& work, int unit, int x, int y) {
  if constexpr (!scaled) return value_at<T>(work, unit, x, y);
  return prescale::scaled_value(work.prescale, x, y,
                                [&](int column, int row) { return value_at<T>(work, unit, column, row); });
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
    columns[i] = ordered_sum<0>(shape.antialias, [&](int k) {
      return sample_at<T, scaled>(work, unit, x, mirror(y * kSpeedStep + k, shape.h));
    });
  }
  gpu::block_sync();
  if (rank >= count) return;
  const int64_t row = static_cast<int64_t>(unit) * shape.small_h + y;
  work.small[row * shape.small_w + first + rank] =
      ordered_sum<0>(shape.antialias, [&](int k) { return columns[rank * kSpeedStep + half + k]; });
}
VMAFX_DEFINE_SAMPLE_KERNELS(speed_decimate, T, work) { decimate<T, false>(work); }
VMAFX_DEFINE_SAMPLE_KERNELS(speed_decimate_scaled, T, work) { decimate<T, true>(work); }

/* m of each sample of x. */
VMAFX_DEFINE_KERNEL(speed_center, work) {
  const SpeedShape& shape = work.shape;
  const int unit = this_unit();
  const int at = static_cast<int>(gpu::block_id().x * kSpeedThreads + gpu::thread_rank());
  const int size = shape.small_w * shape.small_h;
  if (at >= size || !has_score(work, unit)) return;
  const int x = at % shape.small_w, y = at / shape.small_w;
  const float* small = work.small.get() + static_cast<int64_t>(unit) * size;
  const float mean = ordered_sum<0>(shape.local, [&](int dx) {
    const int from = mirror(x + dx, shape.small_w);
    return ordered_sum<0>(shape.local,
                          [&](int dy) { return small[mirror(y + dy, shape.small_h) * shape.small_w + from]; });
  });
  work.centered[static_cast<int64_t>(unit) * size + at] = small[at] - mean;
}

/* Elements a and b <= a of pair number `pair`. */
VMAFX_DEVICE void elements_of(int pair, int* a, int* b) {
  *a = 0;
  while ((*a + 1) * (*a + 2) / 2 <= pair) ++*a;
  *b = pair - *a * (*a + 1) / 2;
}

/* Block (band): a thread for each pair's sum of products, and for each element's sum, over the band's windows. */
VMAFX_DEFINE_KERNEL(speed_multiply, work) {
  const SpeedShape& shape = work.shape;
  const int unit = this_unit();
  const int rank = static_cast<int>(gpu::thread_rank()), band = static_cast<int>(gpu::block_id().x), w = shape.small_w;
  if (rank >= kSpeedPartWords || !has_score(work, unit)) return;
  const float* m = work.centered.get() + static_cast<int64_t>(unit) * w * shape.small_h;
  const int from = band * kSpeedBand, below = from + kSpeedBand;
  const int to = below < shape.windows_y() ? below : shape.windows_y();
  double sum;
  if (rank < kSpeedPairs) {
    int a, b;
    elements_of(rank, &a, &b);
    sum = band_sum<true>(shape, m, w, from, to, a, b);
  } else {
    sum = band_sum<false>(shape, m, w, from, to, rank - kSpeedPairs, 0);
  }
  work.parts[(static_cast<int64_t>(unit) * work.bands + band) * kSpeedPartWords + rank] = sum;
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
  VMAFX_DEVICE void product(int first, int column, ConstMatrix a, ConstMatrix b, Matrix out) const {
    const int rank = static_cast<int>(gpu::thread_rank()), j = column + rank % 32;
    for (int i = first + rank / 32; i < n; i += kSpeedModelThreads / 32)
      if (j < n) out[i][j] = product_element(first, a, b, i, j);
    gpu::block_sync();
  }
};

/* K of a unit. */
VMAFX_DEVICE void gather_covariances(const SpeedWork& work, const BlockTeam& team, double* sums, Matrix k) {
  const double* parts = work.parts.get() + static_cast<int64_t>(this_unit()) * work.bands * kSpeedPartWords;
  const auto sum_of = [&](int word) {
    double sum = 0;
    for (int band = 0; band < work.bands; band++) sum += parts[band * kSpeedPartWords + word];
    return sum;
  };
  team.each(n, [&](int i) { sums[i] = sum_of(kSpeedPairs + i); });
  team.each(kSpeedPairs, [&](int pair) {
    int a, b;
    elements_of(pair, &a, &b);
    k[a][b] = k[b][a] = covariance(work.shape, sum_of(pair), sums[a], sums[b]);
  });
}

/* The model of a unit: the first block makes the eigenvalues, for the most part with one thread, the second meanwhile
 * what the linear systems need. */
VMAFX_DEFINE_KERNEL(speed_model, work) {
  VMAFX_SHARED(float, k, [n][kSpeedRow]);
  VMAFX_SHARED(double, sums, [n]);
  const int unit = this_unit();
  if (!has_score(work, unit)) return;
  const BlockTeam team;
  Model* const model = work.models.get() + unit;
  gather_covariances(work, team, sums, k);
  if (gpu::block_id().x == 0) {
    VMAFX_SHARED(Tridiagonal, t, [1]);
    VMAFX_SHARED(float, v, [2 * n]);
    VMAFX_SHARED(float, x, [n]);
    tridiagonalise(team, k, v, x, &t[0]);
    team.each(1, [&](int) { diagonalise(&t[0]); });
    team.each(n, [&](int i) {
      model->eigenvalues[i] = t[0].diagonal[i];
      if (i == 0) model->is_regular = is_regular(t[0].diagonal);
    });
  } else {
    VMAFX_SHARED(FactorRoom, room, [1]);
    VMAFX_SHARED(float, turned, [n][kSpeedRow]);
    VMAFX_SHARED(float, triangle, [n][kSpeedRow]);
    factorise(team, k, &room[0], turned, triangle);
    team.each(n * kSpeedRow, [&](int at) {
      const int i = at / kSpeedRow, j = at % kSpeedRow;
      model->turned[i][j] = j < n ? turned[i][j] : 0;
      model->triangle[i][j] = j < n ? triangle[i][j] : 0;
      if (at == 0) model->is_solvable = is_solvable(triangle);
    });
  }
}

/* Block (some blocks of the plane, one for each thread). */
VMAFX_DEFINE_KERNEL(speed_measure, work) {
  VMAFX_SHARED(Model, model, [1]);
  VMAFX_SHARED(float, y, [n][kSpeedMeasureThreads]);
  VMAFX_SHARED(float, x, [n][kSpeedMeasureThreads]);
  const SpeedShape& shape = work.shape;
  const int unit = this_unit();
  if (!has_score(work, unit)) return;
  const int rank = static_cast<int>(gpu::thread_rank());
  const auto* from = reinterpret_cast<const uint32_t*>(work.models.get() + unit);
  for (int i = rank; i < static_cast<int>(sizeof(Model) / 4); i += kSpeedMeasureThreads)
    reinterpret_cast<uint32_t*>(&model[0])[i] = from[i];
  gpu::block_sync();
  const int b = static_cast<int>(gpu::block_id().x * kSpeedMeasureThreads) + rank;
  if (b >= shape.blocks() || !model[0].is_regular || !model[0].is_solvable) return;
  const float* m = work.centered.get() + static_cast<int64_t>(unit) * shape.small_w * shape.small_h +
                   (b / shape.blocks_x * shape.small_w + b % shape.blocks_x) * kSpeedBlock;
  for (int i = 0; i < n; i++) y[i][rank] = m[i / kSpeedBlock * shape.small_w + i % kSpeedBlock];
  const float s = variance(model[0], [&](int i) { return y[i][rank]; }, [&](int i) -> float& { return x[i][rank]; });
  work.blocks[static_cast<int64_t>(unit) * shape.blocks() + b] = {s, entropy(model[0], s, shape.sigma_nn)};
}

VMAFX_DEVICE bool is_singular(const SpeedWork& work, int unit) {
  const Model& model = work.models[unit];
  return !model.is_regular || !model.is_solvable;
}

/* z: a plane of a frame. The differences of some blocks at a time, then one thread's sum. */
VMAFX_DEFINE_KERNEL(speed_score, work) {
  VMAFX_SHARED(float, differences, [kSpeedScoreThreads]);
  const SpeedShape& shape = work.shape;
  const int number = this_unit() /* here of a pair of them */, frame = number / work.plane_count;
  if (!has_score(work, 2 * number)) return;
  const int rank = static_cast<int>(gpu::thread_rank());
  SpeedSums& sums = (&work.sums[frame])[number % work.plane_count];
  const bool no_ref = is_singular(work, 2 * number), no_dist = is_singular(work, 2 * number + 1);
  if (no_ref || no_dist) {
    if (rank == 0) sums.singular = (no_ref ? 1u : 0u) | (no_dist ? 2u : 0u);
    return;
  }
  const SpeedBlockSums* ref = work.blocks.get() + static_cast<int64_t>(number) * 2 * shape.blocks();
  const SpeedBlockSums* dist = ref + shape.blocks();
  float sum = 0;
  for (int first = 0; first < shape.blocks(); first += kSpeedScoreThreads) {
    const int left = shape.blocks() - first, count = left < int{kSpeedScoreThreads} ? left : int{kSpeedScoreThreads};
    if (rank < count) differences[rank] = difference(shape, ref[first + rank], dist[first + rank]);
    gpu::block_sync();
    if (rank == 0)
      for (int i = 0; i < count; i++) sum += differences[i];
    gpu::block_sync();
  }
  if (rank == 0) sums.difference = word_of_sum(sum);
}

}  // namespace vmafx::speed
