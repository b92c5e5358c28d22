/* VIF, the definition: plain loops in equation order. Every other path answers to it. */
#include "base/aligned.h"
#include "kernels/steps/mirror.h"
#include "kernels/vif/vif.h"

namespace vmafx {
namespace {

uint64_t tap(int scale, int k) { return kVifTaps[scale][k < 0 ? -k : k]; }

/* What the vertical pass makes of one row: means Q8, squares Q16. */
struct Row {
  uint32_t *mu1, *mu2, *xx, *yy, *xy;
};

/* The two pictures at one scale. */
template <class T>
struct Pair {
  Plane<const T> ref, dist;
};

template <class T>
void filter_vertically(const Pair<T>& in, int scale, int bpc, int y, const Row& out) {
  const int half = kVifHalfWidth[scale];
  const VifShifts shifts = vif_shifts(scale, bpc);
  for (int x = 0; x < in.ref.w; x++) {
    uint64_t mu1 = 0, mu2 = 0, xx = 0, yy = 0, xy = 0;
    for (int k = -half; k <= half; k++) {
      const int row = mirror(y + k, in.ref.h);
      const uint64_t r = in.ref.row(row)[x], d = in.dist.row(row)[x], f = tap(scale, k);
      mu1 += f * r;
      mu2 += f * d;
      xx += f * r * r;
      yy += f * d * d;
      xy += f * r * d;
    }
    out.mu1[x] = static_cast<uint16_t>(vif_round_shift(mu1, shifts.mean));
    out.mu2[x] = static_cast<uint16_t>(vif_round_shift(mu2, shifts.mean));
    out.xx[x] = static_cast<uint32_t>(vif_round_shift(xx, shifts.square));
    out.yy[x] = static_cast<uint32_t>(vif_round_shift(yy, shifts.square));
    out.xy[x] = static_cast<uint32_t>(vif_round_shift(xy, shifts.square));
  }
}

uint64_t filter_horizontally(const uint32_t* row, int w, int scale, int x) {
  const int half = kVifHalfWidth[scale];
  uint64_t sum = 0;
  for (int k = -half; k <= half; k++) sum += tap(scale, k) * row[mirror(x + k, w)];
  return sum;
}

template <class T>
void add_scale(const Pair<T>& in, int scale, const VifParams& params, const Row& row, VifScaleSums& sums) {
  const int w = in.ref.w;
  for (int y = 0; y < in.ref.h; y++) {
    filter_vertically(in, scale, params.bpc, y, row);
    for (int x = 0; x < w; x++) {
      const VifWindow window = {
          static_cast<uint32_t>(filter_horizontally(row.mu1, w, scale, x)),
          static_cast<uint32_t>(filter_horizontally(row.mu2, w, scale, x)),
          static_cast<uint32_t>(vif_round_shift(filter_horizontally(row.xx, w, scale, x), 16)),
          static_cast<uint32_t>(vif_round_shift(filter_horizontally(row.yy, w, scale, x), 16)),
          static_cast<uint32_t>(vif_round_shift(filter_horizontally(row.xy, w, scale, x), 16)),
      };
      vif_add_sample(window, params.gain_limit, sums);
    }
  }
}

/* The plane of the next scale: `in` under that scale's window, every second row and column. */
template <class T>
void decimate(Plane<const T> in, int scale, int bpc, uint32_t* row, Plane<uint16_t> out) {
  const int next = scale + 1, half = kVifHalfWidth[next];
  const int shift = vif_shifts(scale, bpc).mean;
  for (int y = 0; y < out.h; y++) {
    for (int x = 0; x < in.w; x++) {
      uint64_t sum = 0;
      for (int k = -half; k <= half; k++) sum += tap(next, k) * in.row(mirror(2 * y + k, in.h))[x];
      row[x] = static_cast<uint16_t>(vif_round_shift(sum, shift));
    }
    for (int x = 0; x < out.w; x++)
      out.row(y)[x] = static_cast<uint16_t>(vif_round_shift(filter_horizontally(row, in.w, next, 2 * x), 16));
  }
}

/* Scratch: five rows, then the decimated planes of scales 1, 2 and 3, ref before dist. */
size_t row_bytes(const VifParams& params) { return round_to_lines(sizeof(uint32_t) * params.w); }

Plane<uint16_t> decimated_plane(std::byte*& free_memory, int w, int h) {
  const size_t stride = round_to_lines(sizeof(uint16_t) * w);
  Plane<uint16_t> plane{reinterpret_cast<uint16_t*>(free_memory), static_cast<ptrdiff_t>(stride), w, h};
  free_memory += stride * h;
  return plane;
}

Plane<const uint16_t> read_only(const Plane<uint16_t>& p) { return {p.data, p.stride, p.w, p.h}; }

template <class T>
void scales_from(const Pair<T>& in, int scale, const VifParams& params, const Row& row, std::byte* free_memory,
                 VifSums& sums) {
  if (scale > 0 || !params.skip_scale0) add_scale(in, scale, params, row, sums.scale[scale]);
  if (scale + 1 == kVifScales) return;
  const auto ref = decimated_plane(free_memory, in.ref.w / 2, in.ref.h / 2);
  const auto dist = decimated_plane(free_memory, in.ref.w / 2, in.ref.h / 2);
  decimate(in.ref, scale, params.bpc, row.mu1, ref);
  decimate(in.dist, scale, params.bpc, row.mu1, dist);
  scales_from(Pair<uint16_t>{read_only(ref), read_only(dist)}, scale + 1, params, row, free_memory, sums);
}

}  // namespace

size_t vif_scratch_bytes_ref(const VifParams& params) {
  size_t bytes = 5 * row_bytes(params);
  for (int s = 1; s < kVifScales; s++)
    bytes += 2 * round_to_lines(sizeof(uint16_t) * (params.w >> s)) * (params.h >> s);
  return bytes;
}

void vif_ref(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
             VifSums& sums) {
  const auto row_at = [&](int i) { return reinterpret_cast<uint32_t*>(scratch + i * row_bytes(params)); };
  const Row row = {row_at(0), row_at(1), row_at(2), row_at(3), row_at(4)};
  std::byte* free_memory = scratch + 5 * row_bytes(params);
  if (params.bpc == 8)
    scales_from(Pair<uint8_t>{ref.as<uint8_t>(), dist.as<uint8_t>()}, 0, params, row, free_memory, sums);
  else scales_from(Pair<uint16_t>{ref.as<uint16_t>(), dist.as<uint16_t>()}, 0, params, row, free_memory, sums);
}

}  // namespace vmafx
