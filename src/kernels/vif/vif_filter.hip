/* The windows of vif on the device: tiles, and weighted sums of what lies in registers. */
#ifndef VMAFX_KERNELS_VIF_VIF_FILTER_HIP
#define VMAFX_KERNELS_VIF_VIF_FILTER_HIP

#include <bit>

#include "kernels/gpu/gpu.h"
#include "kernels/steps/mirror.h"
#include "kernels/vif/vif_work.h"

namespace vmafx::vif_device {

using namespace gpu;

/* Two planes of one scale, of samples T: the two pictures of a frame where nothing else is said. */
template <class T>
struct Pair {
  const uint8_t *ref, *dist;
  int64_t ref_stride, dist_stride;  // bytes
  int w, h;

  VMAFX_DEVICE const T* ref_row(int y) const { return reinterpret_cast<const T*>(ref + y * ref_stride); }
  VMAFX_DEVICE const T* dist_row(int y) const { return reinterpret_cast<const T*>(dist + y * dist_stride); }
};

/* A plane of VifPlanes. */
struct Plane {
  const uint8_t* data;
  int64_t stride;
};
VMAFX_DEVICE Plane plane_of(const VifWork& work, int scale, unsigned number) {
  const unsigned frame = number / 2;
  if (scale > 0) return {work.scale[scale].planes.plane(frame, number % 2), work.scale[scale].planes.stride};
  const hip::DevicePlane& luma = number % 2 ? work.luma.dist[frame] : work.luma.ref[hip::ref_index(frame)];
  return {luma.data, luma.stride};
}

template <class T>
VMAFX_DEVICE Pair<T> pair_of(const VifWork& work, int scale, unsigned first, unsigned second) {
  const Plane ref = plane_of(work, scale, first), dist = plane_of(work, scale, second);
  return {ref.data, dist.data, ref.stride, dist.stride, work.scale[scale].w, work.scale[scale].h};
}

// -- Tiles -----------------------------------------------------------------------------------------------------------

/* The samples under a tile: `needed` rows and those that make whole packs of each thread of stage(). */
template <class T, int needed>
struct Staged {
  static constexpr int kPack = 8 / sizeof(T), kPacks = kVifThreads / kPack;  // 8 bytes; in a row
  static constexpr int kStep = kVifThreads / kPacks, kRows = (needed + kStep - 1) / kStep * kStep;
  T ref[kRows][kVifThreads], dist[kRows][kVifThreads];
};

/* Copies the columns from x on that the planes have, and the rows from y on, reflected. A thread copies packs of the
 * same columns. */
template <int half, class T, int needed>
VMAFX_DEVICE void stage(const Pair<T>& in, int x, int y, Staged<T, needed>& staged) {
  using S = Staged<T, needed>;
  constexpr int kPack = S::kPack, kPacks = S::kPacks, kStep = S::kStep, kRows = S::kRows;
  const int thread = static_cast<int>(thread_id().x), first = thread / kPacks, column = thread % kPacks * kPack;
  const int from = x + column;
  if (from < 0 || from >= in.w) return;
  if (from + kPack > in.w) {
    VMAFX_ROLLED
    for (int k = first; k < kRows; k += kStep) {
      VMAFX_ROLLED
      for (int i = 0; i < in.w - from; i++) {
        staged.ref[k][column + i] = in.ref_row(mirror_near(y + k, in.h, half))[from + i];
        staged.dist[k][column + i] = in.dist_row(mirror_near(y + k, in.h, half))[from + i];
      }
    }
  } else if (y < 0 || y + kRows > in.h) {
    VMAFX_ROLLED
    for (int k = first; k < kRows; k += kStep) {
      const int row = mirror_near(y + k, in.h, half);
      store_pack(&staged.ref[k][column], load_pack<kPack>(in.ref_row(row) + from));
      store_pack(&staged.dist[k][column], load_pack<kPack>(in.dist_row(row) + from));
    }
  } else {
    VMAFX_UNROLL
    for (int k = 0; k < kRows; k += kStep) {
      store_pack(&staged.ref[first + k][column], load_pack<kPack>(in.ref_row(y + first + k) + from));
      store_pack(&staged.dist[first + k][column], load_pack<kPack>(in.dist_row(y + first + k) + from));
    }
  }
}

/* This thread's column of a tile that begins at x, reflected. */
template <int half>
VMAFX_DEVICE int column_of_thread(int x, int w) {
  return mirror_near(x + static_cast<int>(thread_id().x), w, half) - x;
}
template <class T, int staged_rows, int rows>
VMAFX_DEVICE void load_column(const T (&staged)[staged_rows][kVifThreads], int column, uint32_t (&samples)[rows]) {
  VMAFX_UNROLL
  for (int k = 0; k < rows; k++) samples[k] = staged[k][column];
}

// -- Windows: values, an array or Products, are weighted by the window of `scale` that begins at values[first] --------

template <int n>
struct Products {
  const uint32_t (&a)[n], (&b)[n];
  VMAFX_DEVICE uint32_t operator[](int i) const { return a[i] * b[i]; }
};

/* `sum` and the weighted sum, in 32 bits. As windows are symmetric, two values are added before they are weighted. */
template <int scale, class Values>
VMAFX_DEVICE uint32_t weigh(const Values& values, int first, uint32_t sum) {
  constexpr int kHalf = kVifHalfWidth[scale];
  sum += kVifTaps[scale][0] * values[first + kHalf];
  VMAFX_UNROLL
  for (int k = 1; k <= kHalf; k++) sum += kVifTaps[scale][k] * (values[first + kHalf - k] + values[first + kHalf + k]);
  return sum;
}

/* The mean of 16-bit values. As taps add up to 65536, their sum and its rounding fit 32 bits. */
template <int scale, class Values>
VMAFX_DEVICE uint32_t mean(const Values& values, int first, int shift) {
  return weigh<scale>(values, first, (1u << shift) >> 1) >> shift;
}

/* Means of 32-bit values, shift 1 to 16: sums of 48 bits, in integers or in doubles. */
template <int scale, bool doubles>
struct LongMeans;

/* The sum is 2^16 * high + low, the sums of the upper and the lower halves of the values. Both fit 32 bits, so that low
 * is the sum in 32 bits less 2^16 * high. */
template <int scale>
struct LongMeans<scale, false> {
  template <int results, class Values>
  VMAFX_DEVICE static void get(const Values& values, int first, int shift, uint32_t (&means)[results]) {
    constexpr int kHalf = kVifHalfWidth[scale];
    VMAFX_UNROLL
    for (int i = 0; i < results; i++) means[i] = weigh<scale>(values, first + i, (1u << shift) >> 1);
    VMAFX_UNROLL
    for (int i = 0; i < results; i++) {
      const int center = first + i + kHalf;
      uint32_t high = kVifTaps[scale][0] * (values[center] >> 16);
      VMAFX_UNROLL
      for (int k = 1; k <= kHalf; k++)
        high += kVifTaps[scale][k] * ((values[center - k] >> 16) + (values[center + k] >> 16));
      means[i] = (high << (16 - shift)) + ((means[i] - (high << 16)) >> shift);
    }
  }
};

/* Nothing is rounded but the last addition, to a multiple of 1. A quarter more than the sum breaks ties upward. */
template <int scale>
struct LongMeans<scale, true> {
  template <int results, class Values>
  VMAFX_DEVICE static void get(const Values& values, int first, int shift, uint32_t (&means)[results]) {
    constexpr int kHalf = kVifHalfWidth[scale];
    double sums[results];
    VMAFX_UNROLL
    for (int i = 0; i < results; i++) sums[i] = 0.25;
    VMAFX_UNROLL
    for (int k = 0; k < results + 2 * kHalf; k++) {
      const double value = values[first + k];
      VMAFX_UNROLL
      for (int i = 0; i < results; i++) {
        const int tap = k - kHalf < i ? i - (k - kHalf) : k - kHalf - i;
        if (tap <= kHalf) sums[i] = multiply_add(value, kVifTaps[scale][tap <= kHalf ? tap : 0], sums[i]);
      }
    }
    const double scaling = 1.0 / (1 << shift);
    VMAFX_UNROLL
    for (int i = 0; i < results; i++)
      means[i] = static_cast<uint32_t>(std::bit_cast<uint64_t>(multiply_add(sums[i], scaling, 0x1p52)));
  }
};

}  // namespace vmafx::vif_device

#endif
