/* The kernels of motion: both passes of the blur in one. Grid: blocks of strips in x and y, frames in z.
 *
 * A thread walks down a strip of 8 columns. It keeps the differences of the last five rows, with two columns more on either
 * side, blurs them down and then along the row: 12 columns blurred for 8, which costs less than passing the outer ones to the
 * neighbours through shared memory and a barrier. */
#include "kernels/common/gpu.h"
#include "kernels/common/mirror.h"
#include "kernels/motion/motion_math.h"
#include "kernels/motion/motion_strips.h"

namespace vmafx::motion {

inline constexpr int kHaloW = kMotionStripW + 2 * kMotionRadius;
inline constexpr int kHaloH = kMotionStripH + 2 * kMotionRadius;

/* A row of a strip at column x, from two columns before it on. */
template <class T>
struct Row {
  gpu::Pack<T, kMotionRadius> before, after;
  gpu::Pack<T, kMotionStripW> own;

  VMAFX_DEVICE int32_t at(int i) const {
    if (i < kMotionRadius) return before.v[i];
    return i < kMotionRadius + kMotionStripW ? own.v[i - kMotionRadius] : after.v[i - kMotionRadius - kMotionStripW];
  }
};

/* Where a whole strip of 8 columns lies inside the rows: at the borders of the picture, or not. */
struct Strip {
  int x, y;          // its first sample
  int w, h;          // of the plane
  bool first, last;  // in the row
};

/* In wide loads. Beyond a border lies the strip's own reflection: see blur_columns(). */
template <class T>
VMAFX_DEVICE Row<T> load_row(const T* row, const Strip& strip) {
  return {gpu::load_pack<kMotionRadius>(row + strip.x - (strip.first ? 0 : kMotionRadius)),
          gpu::load_pack<kMotionRadius>(row + strip.x + (strip.last ? 0 : kMotionStripW)),
          gpu::load_pack<kMotionStripW>(row + strip.x)};
}

template <class T>
VMAFX_DEVICE const T* row_of(const hip::DevicePlane& plane, int y) {
  return reinterpret_cast<const T*>(plane.data + y * plane.stride);
}

/* The row that row y reflects to; any one for those that no row inside needs. */
VMAFX_DEVICE int mirrored_row(int y, int h) { return mirror(y < h + kMotionRadius ? y : h, h); }

/* Differences of one row of the strip and its neighbours. */
template <class T>
VMAFX_DEVICE void whole_row(const hip::DevicePlane& earlier, const hip::DevicePlane& current, const Strip& strip, int y,
                            int32_t (&diffs)[kHaloW]) {
  const Row<T> a = load_row(row_of<T>(earlier, y), strip), b = load_row(row_of<T>(current, y), strip);
  VMAFX_UNROLL
  for (int i = 0; i < kHaloW; i++) diffs[i] = a.at(i) - b.at(i);
  VMAFX_UNROLL
  for (int i = 1; i <= kMotionRadius; i++) {
    constexpr int kFirst = kMotionRadius, kLast = kMotionRadius + kMotionStripW - 1;
    if (strip.first) diffs[kFirst - i] = diffs[kFirst + i];
    if (strip.last) diffs[kLast + i] = diffs[kLast - i];
  }
}

/* The same sample by sample, where the row ends within the strip or one sample behind it. */
template <class T>
VMAFX_DEVICE void ending_row(const hip::DevicePlane& earlier, const hip::DevicePlane& current, const Strip& strip,
                             int y, int32_t (&diffs)[kHaloW]) {
  const T* a = row_of<T>(earlier, y);
  const T* b = row_of<T>(current, y);
  VMAFX_UNROLL
  for (int i = 0; i < kHaloW; i++) {
    const int x = strip.x - kMotionRadius + i, column = mirror(x < strip.w + kMotionRadius ? x : strip.w, strip.w);
    diffs[i] = a[column] - b[column];
  }
}

/* The blur's second pass over one row of blurred columns: Σ of the strip's first `w` samples. */
VMAFX_DEVICE uint32_t row_sad(const int32_t (&columns)[kHaloW], int w) {
  uint32_t sad = 0;
  VMAFX_UNROLL
  for (int i = 0; i < kMotionStripW; i++) {
    const uint32_t magnitude = motion_row(columns + i);
    sad += i < w ? magnitude : 0;
  }
  return sad;
}

/* Σ of a strip: below 64 · 2^16. */
template <class T, bool whole>
VMAFX_DEVICE uint32_t strip_sad(const hip::DevicePlane& earlier, const hip::DevicePlane& current, const Strip& strip,
                                int bpc) {
  int32_t diffs[kMotionTaps][kHaloW];  // of row r at r % kMotionTaps
  uint32_t sad = 0;
  VMAFX_UNROLL
  for (int r = 0; r < kHaloH; r++) {
    const int y = mirrored_row(strip.y - kMotionRadius + r, strip.h);
    if constexpr (whole) whole_row<T>(earlier, current, strip, y, diffs[r % kMotionTaps]);
    else ending_row<T>(earlier, current, strip, y, diffs[r % kMotionTaps]);
    if (r < kMotionTaps - 1 || strip.y + r - (kMotionTaps - 1) >= strip.h) continue;
    int32_t columns[kHaloW];
    VMAFX_UNROLL
    for (int i = 0; i < kHaloW; i++) {
      int32_t down[kMotionTaps];
      VMAFX_UNROLL
      for (int k = 0; k < kMotionTaps; k++) down[k] = diffs[(r + 1 + k) % kMotionTaps][i];
      columns[i] = motion_column(down, bpc);
    }
    sad += row_sad(columns, whole ? kMotionStripW : strip.w - strip.x);
  }
  return sad;
}

template <class T>
VMAFX_DEVICE void add_strips(const MotionWork& work, int bpc) {
  const gpu::Dim3 block = gpu::block_id(), thread = gpu::thread_id();
  const int frame = static_cast<int>(block.z);
  const hip::DevicePlane& earlier = work.luma.ref[hip::ref_index(frame, work.step)];
  const hip::DevicePlane& current = work.luma.ref[hip::ref_index(frame)];
  if (!earlier.data.get()) return;  // the whole block

  Strip strip = {static_cast<int>(block.x * kMotionStripsX + thread.x) * kMotionStripW,
                 static_cast<int>(block.y * kMotionStripsY + thread.y) * kMotionStripH, work.w, work.h, false, false};
  strip.first = strip.x == 0;
  strip.last = strip.x + kMotionStripW == strip.w;
  uint32_t sad = 0;
  if (strip.x < strip.w && strip.y < strip.h) {
    if (strip.last || strip.x + kMotionStripW + kMotionRadius <= strip.w)
      sad = strip_sad<T, true>(earlier, current, strip, bpc);
    else
      sad = strip_sad<T, false>(earlier, current, strip, bpc);
  }
  gpu::add_block(work.sums + frame * work.sums_stride, static_cast<int64_t>(sad));
}

}  // namespace vmafx::motion

VMAFX_KERNEL(vmafx_motion_8, vmafx::kMotionStripsX* vmafx::kMotionStripsY, (vmafx::MotionWork work)) {
  vmafx::motion::add_strips<uint8_t>(work, 8);
}

VMAFX_KERNEL(vmafx_motion_16, vmafx::kMotionStripsX* vmafx::kMotionStripsY, (vmafx::MotionWork work)) {
  vmafx::motion::add_strips<uint16_t>(work, work.bpc);
}
