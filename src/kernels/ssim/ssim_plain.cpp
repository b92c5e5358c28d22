/* The definition of the sums of float_ssim and float_ms_ssim. */
#include <utility>

#include "kernels/arithmetic/fixed.h"
#include "kernels/ssim/ssim.h"
#include "kernels/ssim/ssim_math-inl.h"
#include "kernels/steps/mirror.h"
#include "kernels/steps/rows.h"

namespace vmafx {
namespace {

using FloatPlane = Plane<float>;

/* Means over factor x factor samples. */
template <class T>
void reduce(const SsimParams& params, const Plane<const T>& in, const FloatPlane& out) {
  const int factor = params.factor;
  const float scale = scale_to_8_bits(params.bpc);
  for (int y = 0; y < out.h; y++)
    for (int x = 0; x < out.w; x++)
      out.row(y)[x] = ssim_block_mean(factor, [&](int j, int i) {
        return in.row(mirror_repeated(ssim_first_sample(y, factor) + j,
                                      in.h))[mirror_repeated(ssim_first_sample(x, factor) + i, in.w)] *
               scale;
      });
}

void reduce(const SsimParams& params, const SamplePlane& in, const FloatPlane& out) {
  if (params.bpc == 8) reduce(params, in.as<uint8_t>(), out);
  else reduce(params, in.as<uint16_t>(), out);
}

/* The plane of the next scale: the even columns and rows of the filtered one. */
void halve(const FloatPlane& in, const FloatPlane& out) {
  constexpr int kRadius = SsimHalving::kRadius;
  for (int y = 0; y < out.h; y++)
    for (int x = 0; x < out.w; x++) {
      float high[2 * kRadius + 1], low[2 * kRadius + 1];
      for (int k = -kRadius; k <= kRadius; k++) {
        const float* row = in.row(mirror_repeated(2 * y + k, in.h));
        const SsimSampleSum sum = ssim_halving_row(k, [&](int i) { return row[mirror_repeated(2 * x + i, in.w)]; });
        high[kRadius + k] = sum.high();
        low[kRadius + k] = sum.low();
      }
      out.row(y)[x] =
          ssim_halving_sum([&](int k) { return high[kRadius + k]; }, [&](int k) { return low[kRadius + k]; });
    }
}

void add_window(const SsimMeans& mean, bool with_l, SsimSums& sums) {
  const SsimValues values = with_l ? ssim_values<true>(mean) : ssim_values<false>(mean);
  sums.l += to_fixed<kSsimBits>(values.l);
  sums.c += to_fixed<kSsimBits>(values.c);
  sums.s += to_fixed<kSsimBits>(values.s);
  sums.lcs += to_fixed<kSsimBits>(values.lcs);
  sums.different += ssim_differ(mean);
}

/* Where the windows of a plane go. */
struct Blocks {
  BlockGrid grid;
  SsimSums* sums = nullptr;  // of all scales; nullptr: nowhere

  void add(int scale, int x, int y, const SsimMeans& mean, bool with_l) const {
    const size_t first = static_cast<size_t>(scale) * grid.blocks();
    if (sums) add_window(mean, with_l, sums[first + grid.at(x << scale, y << scale)]);
  }
};

/* `rows`: memory for the latest kLength rows of means along. */
void add_windows(const FloatPlane& ref, const FloatPlane& dist, int scale, bool with_l, SsimMeans* rows, SsimSums& sums,
                 const Blocks& blocks) {
  constexpr int kRadius = SsimWindow::kRadius, kLength = SsimWindow::kLength;
  const int windows = ref.w - 2 * kRadius;
  for (int y = 0; y < ref.h; y++) {
    for (int x = 0; x < windows; x++)
      rows[y % kLength * windows + x] =
          ssim_means([&](int k) { return ssim_products(ref.row(y)[x + kRadius + k], dist.row(y)[x + kRadius + k]); });
    for (int x = 0; x < windows && y >= 2 * kRadius; x++) {
      const SsimMeans mean = ssim_means([&](int k) { return rows[(y - kRadius + k) % kLength * windows + x]; });
      add_window(mean, with_l, sums);
      blocks.add(scale, x, y - 2 * kRadius, mean, with_l);
    }
  }
}

size_t plane_floats(const SsimParams& params) {
  const SsimSize size(params, 0);
  return static_cast<size_t>(size.w) * size.h;
}

FloatPlane plane_at(float* memory, const SsimSize& size) {
  return {memory, size.w * static_cast<ptrdiff_t>(sizeof(float)), size.w, size.h};
}

void run(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch, SsimSums& sums,
         const Blocks& blocks) {
  float *planes[4], *at = reinterpret_cast<float*>(scratch); /* of both pictures, now and at the next scale */
  for (float*& plane : planes) plane = std::exchange(at, at + plane_floats(params));
  reduce(params, ref, plane_at(planes[0], {params, 0}));
  reduce(params, dist, plane_at(planes[1], {params, 0}));
  for (int s = 0; s < params.scales; s++) {
    const FloatPlane now[2] = {plane_at(planes[0], {params, s}), plane_at(planes[1], {params, s})};
    add_windows(now[0], now[1], s, params.with_l(s), reinterpret_cast<SsimMeans*>(at), (&sums)[s], blocks);
    for (int i = 0; i < 2; i++) {
      if (s + 1 < params.scales) halve(now[i], plane_at(planes[2 + i], {params, s + 1}));
      std::swap(planes[i], planes[2 + i]);
    }
  }
}

}  // namespace

size_t ssim_scratch_bytes_plain(const SsimParams& params) {
  return 4 * plane_floats(params) * sizeof(float) + SsimWindow::kLength * params.w * sizeof(SsimMeans);
}

void ssim_plain(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                SsimSums& sums) {
  run(params, ref, dist, scratch, sums, {});
}

void ssim_mapped_plain(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                       SsimSums& sums, const BlockGrid& grid, SsimSums* blocks) {
  run(params, ref, dist, scratch, sums, {grid, blocks});
}

}  // namespace vmafx
