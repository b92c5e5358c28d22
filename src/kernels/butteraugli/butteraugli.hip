/* The kernels of butteraugli, in data-flow order: a thread makes what a step has at one sample. */
#include "kernels/butteraugli/butteraugli_math-inl.h"
#include "kernels/butteraugli/butteraugli_work.h"
#include "kernels/gpu/gpu.h"

namespace vmafx::butteraugli_device {

using namespace gpu;

/* The place of a thread. Kernels of one side of a picture run over twice as many z as there are frames. */
struct At {
  int x, y, z;
};

/* The size that this block is of. */
VMAFX_DEVICE const ButteraugliWork& of_block(const ButteraugliStepWork& step) {
  return step.of[block_id().x < step.of[1].first_block ? 0 : 1];
}

/* columns, rows: of a thread, this one and those to the right, or below. */
template <class Work>
VMAFX_DEVICE At at_thread(const Work& work, int columns = 1, int rows = 1) {
  const Dim3 block = block_id(), thread = thread_id();
  return {static_cast<int>((block.x - work.first_block) * kButteraugliThreadsX + thread.x) * columns,
          work.y0 + static_cast<int>(block.y * kButteraugliThreadsY + thread.y) * rows, static_cast<int>(block.z)};
}

template <class Work>
VMAFX_DEVICE bool has(const Work& work, const ButteraugliLevelWork& level, const At& at) {
  return at.x < level.w && at.y < work.y1;
}

/* A plane of a ring, whose rows are a power of two, with at most 2^32 samples. */
struct Plane {
  float* first;
  int rows, pitch;
  VMAFX_DEVICE float* row(int y) const {
    return first + static_cast<uint32_t>(y & (rows - 1)) * static_cast<uint32_t>(pitch);
  }
  VMAFX_DEVICE float& at(int x, int y) const { return row(y)[x]; }
  /* Whether rows y to y + count - 1 lie one behind the other, without a turn of the ring. */
  VMAFX_DEVICE bool is_straight(int y, int count) const { return (y & (rows - 1)) + count <= rows; }
};

/* z: of the frame, or twice that and the side; as the ring has it. */
VMAFX_DEVICE Plane plane_of(hip::DevicePtr<float> scratch, const ButteraugliLevelWork& level,
                            const ButteraugliDeviceRing& ring, int z, int plane) {
  const int64_t index = z * ring.planes + plane;
  return {scratch.get() + ring.first + index * ring.plane_floats, ring.rows, level.pitch};
}

VMAFX_DEVICE Plane plane_of(const ButteraugliWork& work, const ButteraugliDeviceRing& ring, int z, int plane) {
  return plane_of(work.scratch, work.level, ring, z, plane);
}

VMAFX_DEVICE float& sample(const ButteraugliWork& work, const ButteraugliDeviceRing& ring, const At& at, int plane) {
  return plane_of(work, ring, at.z, plane).at(at.x, at.y);
}

// -- Light -----------------------------------------------------------------------------------------------------------

VMAFX_DEFINE_SAMPLE_KERNELS(butteraugli_light, T, work) {
  const At at = at_thread(work);
  if (!has(work, work.level, at)) return;
  const int frame = at.z / 2, side = at.z % 2;
  const Light light = light_at<true>(work.params, at.x, at.y, [&](int p, int y) {
    return row_of<T>(side ? work.planes[p].dist[frame] : work.planes[p].ref[hip::ref_index(frame)], y);
  });
  const float rgb[3] = {light.r, light.g, light.b};
  VMAFX_UNROLL
  for (int c = 0; c < 3; c++)
    plane_of(work.scratch, work.level, work.level.rings.light, at.z, c).at(at.x, at.y) = rgb[c];
}

/* Rows y0 to y1 - 1 of half the size. */
VMAFX_DEFINE_KERNEL(butteraugli_halve, work) {
  const At at = at_thread(work);
  if (!has(work, work.half, at)) return;
  const int x = 2 * at.x, right = x + 1 < work.level.w ? x + 1 : x;
  const int y = 2 * at.y, below = y + 1 < work.level.h ? y + 1 : y;
  VMAFX_UNROLL
  for (int c = 0; c < 3; c++) {
    const Plane from = plane_of(work, work.level.rings.light, at.z, c);
    const float *top = from.row(y), *bottom = from.row(below);
    plane_of(work.scratch, work.half, work.half.rings.light, at.z, c).at(at.x, at.y) =
        mean_of_4(top[x], top[right], bottom[x], bottom[right]);
  }
}

/* Whether all samples so far from this one are in the picture: most threads need not look whether each of them is. */
VMAFX_DEVICE bool is_inside(int at, int size, int reach) { return at >= reach && at + reach < size; }

/* A value for each row of a thread, one below the other. */
using Column = float[kButteraugliThreadRows];

/* Calls make(i, at) for each row of a thread that the step has; rows past it lack rows around them that do not exist
 * yet. */
template <int rows = kButteraugliThreadRows, class Make>
VMAFX_DEVICE void for_each_row(const ButteraugliWork& work, const At& first, Make make) {
  VMAFX_UNROLL
  for (int i = 0; i < rows; i++)
    if (first.y + i < work.y1) make(i, At{first.x, first.y + i, first.z});
}

/* column(x): x, or the one that stands for it beyond the border. */
template <class ColumnOf>
VMAFX_DEVICE void blur_light(const ButteraugliWork& work, const At& first, ColumnOf column, Column (&blurred)[3]) {
  constexpr int kReach = kButteraugliLightRadius;
  VMAFX_UNROLL
  for (int c = 0; c < 3; c++) {
    const Plane light = plane_of(work, work.level.rings.light, first.z, c);
    float along[kButteraugliThreadRows + 2 * kReach];
    VMAFX_UNROLL
    for (int k = 0; k < kButteraugliThreadRows + 2 * kReach; k++) {
      const int y = first.y + k - kReach, last = work.y1 + kReach - 1;
      const int row = mirror_repeated(y < last ? y : last, work.level.h);
      along[k] = butteraugli_blurred_light([&](int dx) { return light.at(column(first.x + dx), row); });
    }
    VMAFX_UNROLL
    for (int i = 0; i < kButteraugliThreadRows; i++)
      blurred[c][i] = butteraugli_blurred_light([&](int dy) { return along[i + kReach + dy]; });
  }
}

VMAFX_DEFINE_DENSE_KERNEL(butteraugli_xyb, 4, step) {
  const ButteraugliWork& work = of_block(step);
  const At first = at_thread(work, 1, kButteraugliThreadRows);
  if (!has(work, work.level, first)) return;
  const ButteraugliRings& rings = work.level.rings;
  Column blurred[3];
  if (is_inside(first.x, work.level.w, kButteraugliLightRadius))
    blur_light(work, first, [](int x) { return x; }, blurred);
  else blur_light(work, first, [&](int x) { return mirror_repeated(x, work.level.w); }, blurred);
  for_each_row(work, first, [&](int i, const At& at) {
    const Light light = {sample(work, rings.light, at, 0), sample(work, rings.light, at, 1),
                         sample(work, rings.light, at, 2)};
    const ButteraugliXyb all = butteraugli_xyb(work.absorbance, light, {blurred[0][i], blurred[1][i], blurred[2][i]});
    sample(work, rings.xyb, at, 0) = all.x;
    sample(work, rings.xyb, at, 1) = all.y;
    sample(work, rings.xyb, at, 2) = all.b;
  });
}

// -- Blurs -----------------------------------------------------------------------------------------------------------

/* The samples that a thread which blurs along a row reads and writes at once. */
struct alignas(sizeof(float) * kButteraugliThreadColumns) Columns {
  float of[kButteraugliThreadColumns];
};

/* How many samples they take on both sides: whole vectors. */
template <class Blur>
constexpr int columns_reach() {
  return (Blur::kRadius + kButteraugliThreadColumns - 1) / kButteraugliThreadColumns * kButteraugliThreadColumns;
}

/* The samples that the columns of a thread take, from `first` on, which is a multiple of those; 0 beyond the
 * borders. */
template <bool is_inside, int count>
VMAFX_DEVICE void take_along(const float* row, int first, int w, float (&taken)[count]) {
  VMAFX_UNROLL
  for (int k = 0; k < count; k += kButteraugliThreadColumns) {
    const int x = first + k;
    Columns columns = {};
    if (is_inside || (x >= 0 && x + kButteraugliThreadColumns <= w)) {
      columns = *reinterpret_cast<const Columns*>(row + x);
    } else if (x >= 0) {
      VMAFX_UNROLL
      for (int i = 0; i < kButteraugliThreadColumns; i++)
        if (x + i < w) columns.of[i] = row[x + i];
    }
    VMAFX_UNROLL
    for (int i = 0; i < kButteraugliThreadColumns; i++) taken[k + i] = columns.of[i];
  }
}

/* The columns of a thread, in all planes of a ring. scales: of each column. */
template <class Blur, bool is_inside>
VMAFX_DEVICE void blur_columns(const ButteraugliWork& work, const ButteraugliDeviceRing& from,
                               const ButteraugliDeviceRing& to, const At& first, const Columns& scales) {
  constexpr int kColumns = kButteraugliThreadColumns, kReach = columns_reach<Blur>();
  VMAFX_ROLLED
  for (int plane = 0; plane < from.planes; plane++) {
    float taken[kColumns + 2 * kReach];
    /* `w` is taken anew for each plane, so that the tests for what is inside are repeated: the answers for all samples
     * do not fit the scalar registers. */
    const int w = static_cast<int>(anew_of_block(static_cast<unsigned>(work.level.w)));
    take_along<is_inside>(plane_of(work, from, first.z, plane).row(first.y), first.x - kReach, w, taken);
    Columns blurred;
    VMAFX_UNROLL
    for (int i = 0; i < kColumns; i++)
      blurred.of[i] = butteraugli_blurred_along<Blur>([&](int k) { return taken[i + kReach + k]; }, scales.of[i]);
    *reinterpret_cast<Columns*>(&sample(work, to, first, plane)) = blurred;
  }
}

/* The threads of a wave that lie beside each other take the same way, so that none waits for another one's. */
template <class Blur>
VMAFX_DEVICE void blur_along(const ButteraugliWork& work, const ButteraugliDeviceRing& from,
                             const ButteraugliDeviceRing& to, const ButteraugliBlurScales<Blur>& all_scales) {
  constexpr int kColumns = kButteraugliThreadColumns, kReach = columns_reach<Blur>();
  const At first = at_thread(work, kColumns);
  if (!has(work, work.level, first)) return;
  const int w = work.level.w,
            beside = static_cast<int>(wave_size() < kButteraugliThreadsX ? wave_size() : kButteraugliThreadsX);
  const int left = first.x - static_cast<int>(thread_id().x) % beside * kColumns, right = left + beside * kColumns;
  const bool inside = left >= kReach && right + kReach <= w;
  Columns scales;
  VMAFX_UNROLL
  for (int i = 0; i < kColumns; i++) scales.of[i] = inside ? all_scales.inside : all_scales.of(first.x + i, w);
  if (inside) blur_columns<Blur, true>(work, from, to, first, scales);
  else blur_columns<Blur, false>(work, from, to, first, scales);
}

/* The rows of a thread. */
template <class Blur, int rows>
VMAFX_DEVICE void blur_down(const ButteraugliWork& work, const ButteraugliDeviceRing& along, const At& first, int plane,
                            const ButteraugliBlurScales<Blur>& scales, float (&blurred)[rows]) {
  constexpr int kTaken = rows + 2 * Blur::kRadius;
  const Plane from = plane_of(work, along, first.z, plane);
  const int h = work.level.h, below = work.y1 + Blur::kRadius, end = below < h ? below : h;
  const int top = first.y - Blur::kRadius;
  if (top >= 0 && top + kTaken <= end) {
    if (from.is_straight(top, kTaken)) {
      const float* column = &from.at(first.x, top);
      butteraugli_blur_down<Blur>([&](int k) { return column[k * from.pitch]; }, blurred);
    } else {
      butteraugli_blur_down<Blur>([&](int k) { return from.at(first.x, top + k); }, blurred);
    }
    VMAFX_UNROLL
    for (int i = 0; i < rows; i++) blurred[i] = blurred[i] * scales.inside;
  } else {
    butteraugli_blur_down<Blur>([&](int k) { return top + k >= 0 && top + k < end ? from.at(first.x, top + k) : 0.0f; },
                                blurred);
    VMAFX_UNROLL
    for (int i = 0; i < rows; i++) blurred[i] = blurred[i] * scales.of(first.y + i, h);
  }
}

// -- Bands of frequencies ---------------------------------------------------------------------------------------------

VMAFX_DEFINE_DENSE_KERNEL(butteraugli_xyb_along, 4, step) {
  const ButteraugliWork& work = of_block(step);
  blur_along<ButteraugliLowBlur>(work, work.level.rings.xyb, work.level.rings.xyb_along, step.low);
}

/* z: three planes of each side. */
VMAFX_DEFINE_KERNEL(butteraugli_low, step) {
  const ButteraugliWork& work = of_block(step);
  constexpr int kRows = kButteraugliLowThreadRows;
  At first = at_thread(work, 1, kRows);
  if (!has(work, work.level, first)) return;
  const int plane = first.z % 3;
  first.z /= 3;
  const ButteraugliRings& rings = work.level.rings;
  float low[kRows];
  blur_down<ButteraugliLowBlur>(work, rings.xyb_along, first, plane, step.low, low);
  for_each_row<kRows>(work, first, [&](int i, const At& at) {
    sample(work, rings.low, at, plane) = low[i];
    sample(work, rings.rest, at, plane) = sample(work, rings.xyb, at, plane) - low[i];
  });
}

VMAFX_DEFINE_DENSE_KERNEL(butteraugli_rest_along, 5, step) {
  const ButteraugliWork& work = of_block(step);
  blur_along<ButteraugliMiddleBlur>(work, work.level.rings.rest, work.level.rings.rest_along, step.middle);
}

VMAFX_DEFINE_DENSE_KERNEL(butteraugli_middle, 6, step) {
  const ButteraugliWork& work = of_block(step);
  const At first = at_thread(work, 1, kButteraugliThreadRows);
  if (!has(work, work.level, first)) return;
  const ButteraugliRings& rings = work.level.rings;
  Column middle[3];
  VMAFX_UNROLL
  for (int c = 0; c < 3; c++)
    blur_down<ButteraugliMiddleBlur>(work, rings.rest_along, first, c, step.middle, middle[c]);
  for_each_row(work, first, [&](int i, const At& at) {
    const float highs_x = sample(work, rings.rest, at, 0) - middle[0][i];
    const float highs_y = sample(work, rings.rest, at, 1) - middle[1][i];
    sample(work, rings.middle, at, 0) = butteraugli_middle_x(middle[0][i]);
    sample(work, rings.middle, at, 1) = butteraugli_middle_y(middle[1][i]);
    sample(work, rings.middle, at, 2) = middle[2][i];
    sample(work, rings.highs, at, 0) = butteraugli_suppressed(highs_x, highs_y);
    sample(work, rings.highs, at, 1) = highs_y;
  });
}

VMAFX_DEFINE_KERNEL(butteraugli_highs_along, step) {
  const ButteraugliWork& work = of_block(step);
  blur_along<ButteraugliHighBlur>(work, work.level.rings.highs, work.level.rings.highs_along, step.high);
}

// -- Differences: z is the frame --------------------------------------------------------------------------------------

/* A sample of both sides. */
struct Sides {
  float ref, dist;
  VMAFX_DEVICE float less() const { return ref - dist; }
};

VMAFX_DEVICE Sides sides(const ButteraugliWork& work, const ButteraugliDeviceRing& ring, const At& at, int plane) {
  return {sample(work, ring, {at.x, at.y, 2 * at.z}, plane), sample(work, ring, {at.x, at.y, 2 * at.z + 1}, plane)};
}

/* The high frequencies of both sides, which are needed here only, and how they and the others differ. */
VMAFX_DEFINE_KERNEL(butteraugli_errors, step) {
  const ButteraugliWork& work = of_block(step);
  const At first = at_thread(work, 1, kButteraugliThreadRows);
  if (!has(work, work.level, first)) return;
  const ButteraugliRings& rings = work.level.rings;
  const ButteraugliWeights& weights = butteraugli_weights(work.version);
  Column blurred[2][2];  // [side][x, y]
  VMAFX_UNROLL
  for (int side = 0; side < 2; side++) {
    VMAFX_UNROLL
    for (int c = 0; c < 2; c++)
      blur_down<ButteraugliHighBlur>(work, rings.highs_along, {first.x, first.y, 2 * first.z + side}, c, step.high,
                                     blurred[side][c]);
  }
  for_each_row(work, first, [&](int i, const At& at) {
    ButteraugliHighs x[2], y[2];
    VMAFX_UNROLL
    for (int side = 0; side < 2; side++) {
      const At here = {at.x, at.y, 2 * at.z + side};
      x[side] = butteraugli_highs_x(sample(work, rings.highs, here, 0), blurred[side][0][i]);
      y[side] = butteraugli_highs_y(sample(work, rings.highs, here, 1), blurred[side][1][i]);
      sample(work, rings.active, here, 0) = butteraugli_activity(x[side], y[side]);
    }
    const Sides middle[3] = {sides(work, rings.middle, at, 0), sides(work, rings.middle, at, 1),
                             sides(work, rings.middle, at, 2)};
    const Sides of[kButteraugliBands] = {{x[0].highest, x[1].highest},
                                         {y[0].highest, y[1].highest},
                                         {x[0].high, x[1].high},
                                         {y[0].high, y[1].high},
                                         middle[0],
                                         middle[1]};
    sample(work, rings.low_error, at, 0) =
        butteraugli_low_error(weights, sides(work, rings.low, at, 0).less(), sides(work, rings.low, at, 1).less(),
                              sides(work, rings.low, at, 2).less());
    sample(work, rings.error, at, 0) = butteraugli_middle_error(middle[0].less(), middle[1].less(), middle[2].less()) +
                                       butteraugli_high_error(weights, x[0].high, x[1].high, y[0].high, y[1].high);
    VMAFX_UNROLL
    for (int band = 0; band < kButteraugliBands; band++)
      sample(work, rings.lines, at, band) = butteraugli_line_sample(of[band].ref, of[band].dist, weights.lines[band]);
  });
}

VMAFX_DEFINE_DENSE_KERNEL(butteraugli_active_along, 5, step) {
  const ButteraugliWork& work = of_block(step);
  blur_along<ButteraugliMaskBlur>(work, work.level.rings.active, work.level.rings.active_along, step.mask);
}

VMAFX_DEFINE_KERNEL(butteraugli_activity, step) {
  const ButteraugliWork& work = of_block(step);
  const At first = at_thread(work, 1, kButteraugliThreadRows);
  if (!has(work, work.level, first)) return;
  const ButteraugliRings& rings = work.level.rings;
  Column blurred;
  blur_down<ButteraugliMaskBlur>(work, rings.active_along, first, 0, step.mask, blurred);
  for_each_row(work, first, [&](int i, const At& at) { sample(work, rings.activity, at, 0) = blurred[i]; });
}

/* The line samples of a block, and those around it, row by row. */
inline constexpr int kReach = kButteraugliLineReach;
inline constexpr int kTileW = kButteraugliThreadsX + 2 * kReach,
                     kTileH = kButteraugliThreadsY * kButteraugliThreadRows + 2 * kReach;
using LineTile = float[kTileH * kTileW];

/* The line samples that a thread loads: the place of each in its plane; -1: outside. */
struct TileLoads {
  static constexpr int kThreads = kButteraugliThreadsX * kButteraugliThreadsY;
  static constexpr int kEach = (kTileH * kTileW + kThreads - 1) / kThreads;
  int from[kEach];
};

VMAFX_DEVICE TileLoads tile_loads(const ButteraugliWork& work, const At& first) {
  const int left = first.x - static_cast<int>(thread_id().x) - kReach,
            top = first.y - static_cast<int>(thread_id().y) * kButteraugliThreadRows - kReach;
  const int below = work.y1 + kReach, end = below < work.level.h ? below : work.level.h;
  TileLoads loads;
  VMAFX_UNROLL
  for (int i = 0; i < TileLoads::kEach; i++) {
    const int to = static_cast<int>(thread_rank()) + i * TileLoads::kThreads;
    const int x = left + to % kTileW, y = top + to / kTileW;
    const bool there = x >= 0 && x < work.level.w && y >= 0 && y < end;
    loads.from[i] = there ? (y & (work.level.rings.lines.rows - 1)) * work.level.pitch + x : -1;
  }
  return loads;
}

VMAFX_DEVICE void load_tile(const float* plane, const TileLoads& loads, LineTile& tile) {
  VMAFX_UNROLL
  for (int i = 0; i < TileLoads::kEach; i++) {
    const int to = static_cast<int>(thread_rank()) + i * TileLoads::kThreads;
    if (to < kTileH * kTileW) tile[to] = loads.from[i] >= 0 ? plane[loads.from[i]] : 0;
  }
}

struct InTile {
  const float* center;
  VMAFX_DEVICE float operator()(int dx, int dy) const { return center[dy * kTileW + dx]; }
};

/* A band's tile is loaded while others still sum up the one before. */
VMAFX_DEFINE_DENSE_KERNEL(butteraugli_lines, 3, step) {
  VMAFX_SHARED(LineTile, tiles, [2]);
  const ButteraugliWork& work = of_block(step);
  const At first = at_thread(work, 1, kButteraugliThreadRows);
  const ButteraugliRings& rings = work.level.rings;
  const TileLoads loads = tile_loads(work, first);
  const int x = static_cast<int>(thread_id().x) + kReach,
            y = static_cast<int>(thread_id().y) * kButteraugliThreadRows + kReach;
  const bool mine = has(work, work.level, first);
  Column error = {};
  if (mine) for_each_row(work, first, [&](int i, const At& at) { error[i] = sample(work, rings.error, at, 0); });
  VMAFX_ROLLED
  for (int band = 0; band < kButteraugliBands; band++) {
    LineTile& tile = tiles[band % 2];
    load_tile(plane_of(work, rings.lines, first.z, band).first, loads, tile);
    block_sync();
    VMAFX_UNROLL
    for (int i = 0; i < kButteraugliThreadRows; i++) {
      const InTile here = {tile + (y + i) * kTileW + x};
      error[i] += band < kButteraugliHighest ? butteraugli_lines(here) : butteraugli_sparse_lines(here);
    }
  }
  if (mine) for_each_row(work, first, [&](int i, const At& at) { sample(work, rings.error, at, 0) = error[i]; });
}

VMAFX_DEFINE_KERNEL(butteraugli_map, step) {
  const ButteraugliWork& work = of_block(step);
  const At at = at_thread(work);
  if (!has(work, work.level, at)) return;
  const ButteraugliRings& rings = work.level.rings;
  const Plane activity = plane_of(work, rings.activity, 2 * at.z, 0);
  const int w = work.level.w, h = work.level.h;
  float hiding;
  if (is_inside(at.x, w, kButteraugliStep) && is_inside(at.y, h, kButteraugliStep))
    hiding = butteraugli_hiding_at([&](int dx, int dy) { return activity.at(at.x + dx, at.y + dy); });
  else
    hiding = butteraugli_hiding_at([&](int dx, int dy) {
      const int x = at.x + dx, y = at.y + dy;
      return x >= 0 && x < w && y >= 0 && y < h ? activity.at(x, y) : kButteraugliNowhere;
    });
  const Sides active = sides(work, rings.activity, at, 0);
  const float error = sample(work, rings.error, at, 0) + butteraugli_activity_error(active.ref, active.dist);
  sample(work, rings.map, at, 0) =
      butteraugli_distance(butteraugli_weights(work.version), hiding, sample(work, rings.low_error, at, 0), error);
}

// -- Sums -------------------------------------------------------------------------------------------------------------

VMAFX_DEVICE float distance_at(const ButteraugliWork& work, const Plane& map, int x, int y, int frame) {
  const float distance = map.at(x, y);
  if (!work.half.h) return distance;
  const float half = plane_of(work.scratch, work.half, work.half.rings.map, frame, 0).at(x / 2, y / 2);
  return butteraugli_of_both(distance, half);
}

VMAFX_DEFINE_KERNEL(butteraugli_sums, work) {
  VMAFX_SHARED(double, powers, [3][kButteraugliSumRows][kButteraugliLanes]);
  VMAFX_SHARED(float, most, [kButteraugliSumRows][kButteraugliLanes]);
  const int lane = static_cast<int>(thread_id().x), row = static_cast<int>(thread_id().y);
  const int y = static_cast<int>(block_id().x * kButteraugliSumRows) + row, frame = static_cast<int>(block_id().y);
  const Plane map = plane_of(work, work.level.rings.map, frame, 0);
  /* The next distances are read at once: one after the other, each would wait for memory. What lies behind a row's end
   * is 0, which changes neither a sum nor the greatest. */
  constexpr int kAtOnce = 8;
  const int w = y < work.level.h ? work.level.w : 0;
  double sums[3] = {0, 0, 0};
  float greatest = 0;
  for (int first = lane; first < w; first += kAtOnce * kButteraugliLanes) {
    float distances[kAtOnce];
    VMAFX_UNROLL
    for (int k = 0; k < kAtOnce; k++) {
      const int x = first + k * kButteraugliLanes;
      const float distance = distance_at(work, map, clamped(x, w), y, frame);
      distances[k] = x < w ? distance : 0;
    }
    VMAFX_UNROLL
    for (int k = 0; k < kAtOnce; k++) {
      const ButteraugliPowers all = butteraugli_powers(distances[k], work.norm);
      greatest = maximum(greatest, distances[k]);
      VMAFX_UNROLL
      for (int i = 0; i < 3; i++) sums[i] += all.of[i];
    }
  }
  VMAFX_UNROLL
  for (int i = 0; i < 3; i++) powers[i][row][lane] = sums[i];
  most[row][lane] = greatest;
  block_sync();
  if (lane > 0 || y >= work.level.h) return;
  for (int i = 1; i < kButteraugliLanes; i++) greatest = maximum(greatest, most[row][i]);
  ButteraugliRow& out = (&work.sums[block_id().y])[y];
  out.most = greatest;
  VMAFX_UNROLL
  for (int i = 0; i < 3; i++) out.powers[i] = butteraugli_sum_of_lanes(powers[i][row]);
}

VMAFX_DEVICE int at_most(int most, int n) { return n < most ? n : most; }

/* In the order of samples, row by row, as the CPU adds them up. */
VMAFX_DEFINE_KERNEL(butteraugli_blocks, work) {
  constexpr int kSide = kButteraugliBlockSide, kRows = kButteraugliBlockRows;
  VMAFX_SHARED(double, powers, [3][kRows][kSide]);
  VMAFX_SHARED(float, distances, [kRows][kSide]);
  const int column = static_cast<int>(thread_id().x), row = static_cast<int>(thread_id().y);
  const int n = static_cast<int>(block_id().x), frame = static_cast<int>(block_id().y);
  const int left = n % work.blocks_across * kSide, top = n / work.blocks_across * kSide;
  const int columns = at_most(kSide, work.level.w - left), rows = at_most(kSide, work.level.h - top);
  const Plane map = plane_of(work, work.level.rings.map, frame, 0);
  const int word = static_cast<int>(thread_rank());  // the first threads have one each: three powers, the greatest
  double sum = 0;
  float greatest = 0;
  for (int first = 0; first < rows; first += kRows) {
    if (column < columns && first + row < rows) {
      const float distance = distance_at(work, map, left + column, top + first + row, frame);
      const ButteraugliPowers all = butteraugli_powers(distance, work.norm);
      distances[row][column] = distance;
      VMAFX_UNROLL
      for (int i = 0; i < 3; i++) powers[i][row][column] = all.of[i];
    }
    block_sync();
    for (int y = 0; word <= 3 && y < at_most(kRows, rows - first); y++)
      for (int x = 0; x < columns; x++) {
        if (word < 3) sum += powers[word][y][x];
        else greatest = maximum(greatest, distances[y][x]);
      }
    block_sync();
  }
  ButteraugliRow& out = (&work.blocks[block_id().y])[n];
  if (word < 3) out.powers[word] = sum;
  if (word == 3) out.most = greatest;
}

}  // namespace vmafx::butteraugli_device
