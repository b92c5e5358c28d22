/* The kernels of motion: both passes of the blur in one. Grid: rows of strips cut into blocks, strips down, frames.
 *
 * A thread walks down a strip of 8 columns with the differences of the last five rows in registers, and blurs them
 * down. The second pass needs two blurred columns of the neighbors on either side; they go through shared memory, four
 * rows at a time.
 *
 * Bound by instructions: 28 for a sample, 7 us at 3840x2160 on an H200, where loading it takes 4. */
#include "kernels/gpu/gpu.h"
#include "kernels/motion/motion_work.h"
#include "kernels/steps/mirror.h"

namespace vmafx::motion {

inline constexpr int kW = kMotionStripW, kReach = kMotionRadius;
inline constexpr int kGroup = 4;  // rows between two barriers
inline constexpr int kGroups = kMotionStripH / kGroup;

struct Strip {
  int x, y;  // its first sample; x may lie outside the picture
  int w, h;  // of the picture
};

/* Blurred columns of a strip's row, and two of each neighbor's. */
struct Columns {
  int32_t v[kReach + kW + kReach];
};

/* The columns of a row that a strip's neighbors need: the first two, for the neighbor on the left, and the last two. */
using Edges = gpu::Pack<int32_t, kReach>;
using BlockEdges = Edges[kGroups][kGroup][2][kMotionThreads];

/* Samples of a row, as they are loaded. */
template <class T>
struct Samples;

template <>
struct Samples<uint8_t> {
  gpu::Pack<uint32_t, kW / 4> words; /* bytes of a word are quicker to get at than bytes of a load */
  VMAFX_DEVICE int32_t at(int i) const { return words.v[i / 4] >> i % 4 * 8 & 255; }
  VMAFX_DEVICE void load(const uint8_t* row) { words = gpu::load_pack<kW / 4>(reinterpret_cast<const uint32_t*>(row)); }
};

template <>
struct Samples<uint16_t> {
  gpu::Pack<uint16_t, kW> words;
  VMAFX_DEVICE int32_t at(int i) const { return words.v[i]; }
  VMAFX_DEVICE void load(const uint16_t* row) { words = gpu::load_pack<kW>(row); }
};

/* The row or column that i reflects to; for those that no sample of the picture needs, anything inside. */
VMAFX_DEVICE int reflected(int i, int size) { return mirror(i < -kReach ? 0 : i < size + kReach ? i : size, size); }

/* Differences of one row of the strip. If a strip of the block crosses the end of the row, all strips load sample by
 * sample: a branch in each row would make the loads of one row wait for those of the row before. If none does, columns
 * outside the picture may be anything, since the strips beside them reflect their own. */
template <class T, bool crosses>
VMAFX_DEVICE void row_of_differences(const hip::DevicePlane& earlier, const hip::DevicePlane& current,
                                     const Strip& strip, int y, int32_t (&diffs)[kW]) {
  const T* a = row_of<T>(earlier, y);
  const T* b = row_of<T>(current, y);
  if constexpr (crosses) {
    VMAFX_UNROLL
    for (int i = 0; i < kW; i++) {
      const int x = reflected(strip.x + i, strip.w);
      diffs[i] = a[x] - b[x];
    }
  } else {
    const int x = strip.x >= 0 && strip.x < strip.w ? strip.x : 0;
    Samples<T> from, to;
    from.load(a + x);
    to.load(b + x);
    VMAFX_UNROLL
    for (int i = 0; i < kW; i++) diffs[i] = from.at(i) - to.at(i);
  }
}

VMAFX_DEVICE void put_edges(Edges (&edges)[2][kMotionThreads], const Columns& columns) {
  const unsigned thread = gpu::thread_id().x;
  edges[0][thread] = {{columns.v[kReach], columns.v[kReach + 1]}};
  edges[1][thread] = {{columns.v[kW], columns.v[kW + 1]}};
}

/* The neighbors' columns, or the strip's own reflection at the ends of the row. Not for the outermost threads. */
VMAFX_DEVICE void get_edges(const Edges (&edges)[2][kMotionThreads], const Strip& strip, Columns& columns) {
  constexpr int kFirst = kReach, kLast = kReach + kW - 1;
  const unsigned thread = gpu::thread_id().x;
  const Edges left = edges[1][thread - 1], right = edges[0][thread + 1];
  const bool first = strip.x == 0, last = strip.x + kW == strip.w;
  VMAFX_UNROLL
  for (int i = 1; i <= kReach; i++) {
    columns.v[kFirst - i] = first ? columns.v[kFirst + i] : left.v[kReach - i];
    columns.v[kLast + i] = last ? columns.v[kLast - i] : right.v[i - 1];
  }
}

/* Second pass: Σ of the first `w` samples of a row. */
VMAFX_DEVICE uint32_t row_sad(const Columns& columns, int w) {
  uint32_t sad = 0;
  VMAFX_UNROLL
  for (int i = 0; i < kW; i++) {
    const uint32_t magnitude = motion_row(columns.v + i);
    sad += i < w ? magnitude : 0;
  }
  return sad;
}

/* Σ of a strip: below 64 · 2^16. */
template <class T, bool crosses>
VMAFX_DEVICE uint32_t strip_sad(const hip::DevicePlane& earlier, const hip::DevicePlane& current, const Strip& strip,
                                int bpc, BlockEdges& edges) {
  const unsigned thread = gpu::thread_id().x;
  const bool helps_only = thread == 0 || thread == kMotionThreads - 1 || strip.x >= strip.w;
  int32_t diffs[kMotionTaps][kW];  // row r at r % kMotionTaps
  VMAFX_UNROLL
  for (int r = 0; r < kMotionTaps - 1; r++)
    row_of_differences<T, crosses>(earlier, current, strip, reflected(strip.y - kReach + r, strip.h), diffs[r]);

  uint32_t sad = 0;
  VMAFX_UNROLL
  for (int group = 0; group < kGroups; group++) {
    Columns columns[kGroup];
    VMAFX_UNROLL
    for (int row = 0; row < kGroup; row++) {
      const int r = group * kGroup + row, newest = r + kMotionTaps - 1;
      row_of_differences<T, crosses>(earlier, current, strip, reflected(strip.y - kReach + newest, strip.h),
                                     diffs[newest % kMotionTaps]);
      VMAFX_UNROLL
      for (int i = 0; i < kW; i++) {
        int32_t down[kMotionTaps];
        VMAFX_UNROLL
        for (int k = 0; k < kMotionTaps; k++) down[k] = diffs[(r + k) % kMotionTaps][i];
        columns[row].v[kReach + i] = motion_column(down, bpc);
      }
      put_edges(edges[group][row], columns[row]);
    }
    gpu::block_sync();
    VMAFX_UNROLL
    for (int row = 0; row < kGroup; row++) {
      if (helps_only || strip.y + group * kGroup + row >= strip.h) continue;
      get_edges(edges[group][row], strip, columns[row]);
      sad += row_sad(columns[row], crosses ? strip.w - strip.x : kW);
    }
  }
  return sad;
}

VMAFX_DEFINE_SAMPLE_KERNELS(motion, T, work) {
  const gpu::Dim3 block = gpu::block_id();
  const int frame = static_cast<int>(block.z);
  const hip::DevicePlane& earlier = work.luma.ref[hip::ref_index(frame, work.step)];
  const hip::DevicePlane& current = work.luma.ref[hip::ref_index(frame)];
  if (!earlier.data.get()) return;  // the whole block
  VMAFX_SHARED(Edges, edges, [kGroups][kGroup][2][kMotionThreads]);
  const int bpc = sizeof(T) == 1 ? 8 : work.bpc;

  const int first = static_cast<int>(block.x) * kMotionStrips - 1;
  const Strip strip = {(first + static_cast<int>(gpu::thread_id().x)) * kW, static_cast<int>(block.y) * kMotionStripH,
                       work.w, work.h};
  const bool crosses = work.w % kW != 0 && (first + kMotionThreads) * kW > work.w;
  const uint32_t sad = crosses ? strip_sad<T, true>(earlier, current, strip, bpc, edges)
                               : strip_sad<T, false>(earlier, current, strip, bpc, edges);
  gpu::add_block(work.sums[block.z].sad, sad);
}

}  // namespace vmafx::motion
