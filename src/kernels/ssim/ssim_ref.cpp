/* The definition of the sums of float_ssim and float_ms_ssim. */
#include <utility>

#include "kernels/common/mirror.h"
#include "kernels/ssim/ssim.h"
#include "kernels/ssim/ssim_math-inl.h"

namespace vmafx {
namespace {

using FloatPlane = Plane<float>;

/* Means over factor x factor samples. */
template <class T>
void reduce(const Plane<const T>& in, int factor, float scale, const FloatPlane& out) {
  for (int y = 0; y < out.h; y++)
    for (int x = 0; x < out.w; x++) {
      int32_t sum = 0;
      for (int j = 0; j < factor; j++)
        for (int i = 0; i < factor; i++)
          sum += in.row(mirror_repeated(ssim_first_sample(y, factor) + j, in.h))
                     [mirror_repeated(ssim_first_sample(x, factor) + i, in.w)];
      out.row(y)[x] = static_cast<float>(sum) * scale;
    }
}

void reduce(const SsimParams& params, const SamplePlane& in, const FloatPlane& out) {
  const float scale = ssim_mean_scale(params.factor, params.bpc);
  if (params.bpc == 8) reduce(in.as<uint8_t>(), params.factor, scale, out);
  else reduce(in.as<uint16_t>(), params.factor, scale, out);
}

void subtract(const FloatPlane& ref, const FloatPlane& dist) {
  for (int y = 0; y < ref.h; y++)
    for (int x = 0; x < ref.w; x++) dist.row(y)[x] = ref.row(y)[x] - dist.row(y)[x];
}

/* The plane of the next scale: the even columns and rows of the filtered one. `row`: memory for a row. */
void halve(const FloatPlane& in, float* row, const FloatPlane& out) {
  for (int y = 0; y < out.h; y++) {
    for (int x = 0; x < in.w; x++)
      row[x] = symmetric_sum<SsimHalving>([&](int k) { return in.row(mirror_repeated(2 * y + k, in.h))[x]; });
    for (int x = 0; x < out.w; x++)
      out.row(y)[x] = symmetric_sum<SsimHalving>([&](int k) { return row[mirror_repeated(2 * x + k, in.w)]; });
  }
}

void add_window(const SsimMeans& mean, bool with_l, SsimSums& sums) {
  const SsimLosses loss = with_l ? ssim_losses<true>(mean) : ssim_losses<false>(mean);
  sums.l += ssim_fixed(loss.l);
  sums.c += ssim_fixed(loss.c);
  sums.s += ssim_fixed(loss.s);
  sums.lcs += ssim_fixed(loss.lcs);
}

/* `columns`: memory for a row. */
void add_windows(const FloatPlane& ref, const FloatPlane& diff, bool with_l, SsimMeans* columns, SsimSums& sums) {
  constexpr int kRadius = SsimWindow::kRadius;
  for (int y = kRadius; y < ref.h - kRadius; y++) {
    for (int x = 0; x < ref.w; x++)
      columns[x] =
          ssim_means_across([&](int k) { return ref.row(y + k)[x]; }, [&](int k) { return diff.row(y + k)[x]; });
    for (int x = kRadius; x < ref.w - kRadius; x++) {
      const auto along = [&](float SsimMeans::*mean) {
        return symmetric_sum<SsimWindow>([&](int k) { return columns[x + k].*mean; });
      };
      add_window({along(&SsimMeans::ref), along(&SsimMeans::diff), along(&SsimMeans::ref_ref),
                  along(&SsimMeans::diff_diff), along(&SsimMeans::ref_diff)}, with_l, sums);
    }
  }
}

size_t plane_floats(const SsimParams& params) {
  return static_cast<size_t>(ssim_reduced(params.w, params.factor)) * ssim_reduced(params.h, params.factor);
}

FloatPlane plane_at(float* memory, int w, int h) { return {memory, w * static_cast<ptrdiff_t>(sizeof(float)), w, h}; }

}  // namespace

int64_t ssim_windows(const SsimParams& params, int scale) {
  int w = ssim_reduced(params.w, params.factor), h = ssim_reduced(params.h, params.factor);
  for (int s = 0; s < scale; s++) {
    w = ssim_halved(w);
    h = ssim_halved(h);
  }
  return static_cast<int64_t>(w - SsimWindow::kLength + 1) * (h - SsimWindow::kLength + 1);
}

size_t ssim_scratch_bytes_ref(const SsimParams& params) {
  return 4 * plane_floats(params) * sizeof(float) + params.w * sizeof(SsimMeans);
}

void ssim_ref(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
              SsimSums* sums) {
  float *planes[4], *at = reinterpret_cast<float*>(scratch); /* reference and difference, now and at the next scale */
  for (float*& plane : planes) plane = std::exchange(at, at + plane_floats(params));
  int w = ssim_reduced(params.w, params.factor), h = ssim_reduced(params.h, params.factor);
  reduce(params, ref, plane_at(planes[0], w, h));
  reduce(params, dist, plane_at(planes[1], w, h));
  subtract(plane_at(planes[0], w, h), plane_at(planes[1], w, h));
  for (int s = 0; s < params.scales; s++) {
    const FloatPlane now[2] = {plane_at(planes[0], w, h), plane_at(planes[1], w, h)};
    add_windows(now[0], now[1], params.with_l(s), reinterpret_cast<SsimMeans*>(at), sums[s]);
    w = ssim_halved(w);
    h = ssim_halved(h);
    for (int i = 0; i < 2; i++) {
      if (s + 1 < params.scales) halve(now[i], at, plane_at(planes[2 + i], w, h));
      std::swap(planes[i], planes[2 + i]);
    }
  }
}

}  // namespace vmafx
