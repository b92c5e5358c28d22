/* float_vif, the definition: plain loops in equation order. Every other path answers to it. */
#include "base/aligned.h"
#include "kernels/steps/mirror.h"
#include "kernels/steps/row_sums.h"
#include "kernels/steps/rows.h"
#include "kernels/vif/float_vif.h"
#include "kernels/vif/float_vif_math-inl.h"

namespace vmafx {
namespace {

using FloatPlane = Plane<float>;

template <class Value>
float filter_down(const GaussianWindow& window, int y, int h, Value value) {
  return ordered_sum<0>(window, [&](int k) { return value(mirror(y + k, h)); });
}

float filter_across(const GaussianWindow& window, const float* row, int x, int w) {
  return ordered_sum<0>(window, [&](int k) { return row[mirror(x + k, w)]; });
}

/* Scratch: five rows, then the planes of scales 0 to 3, ref before dist. */
class Memory {
 public:
  Memory(const FloatVifParams& params, std::byte* scratch)
      : pitch_(sizeof(float) * params.w), rows_(scratch), planes_(scratch + 5 * pitch_) {}

  float* row(int i) const { return reinterpret_cast<float*>(rows_ + i * pitch_); }
  FloatPlane plane(int w, int h) {
    const FloatPlane plane{reinterpret_cast<float*>(planes_), static_cast<ptrdiff_t>(sizeof(float)) * w, w, h};
    planes_ += sizeof(float) * w * h;
    return plane;
  }
  static size_t bytes(const FloatVifParams& params) {
    size_t samples = 5 * static_cast<size_t>(params.w);
    for (int s = 0; s < kFloatVifScales; s++) samples += 2 * static_cast<size_t>(params.w >> s) * (params.h >> s);
    return sizeof(float) * samples;
  }

 private:
  size_t pitch_;
  std::byte *rows_, *planes_;
};

template <class T>
void convert(const Plane<const T>& in, int bpc, const FloatPlane& out) {
  for (int y = 0; y < out.h; y++)
    for (int x = 0; x < out.w; x++)
      out.row(y)[x] = static_cast<float>(in.row(y)[x]) * scale_to_8_bits(bpc) + kFloatVifOffset;
}

void read(const FloatVifParams& params, const SamplePlane& in, const FloatPlane& out, std::byte* prescaler_scratch) {
  if (params.prescaler) params.prescaler->ref(params.source(in), out, prescaler_scratch);
  else if (params.bpc == 8) convert(in.as<uint8_t>(), params.bpc, out);
  else convert(in.as<uint16_t>(), params.bpc, out);
}

void add_scale(const FloatPlane& ref, const FloatPlane& dist, const GaussianWindow& window, const FloatVifEye& eye,
               const Memory& memory, FloatVifScaleSums& sums) {
  const int w = ref.w, h = ref.h;
  RowSum nums, dens;
  float *mu1 = memory.row(0), *mu2 = memory.row(1), *xx = memory.row(2), *yy = memory.row(3), *xy = memory.row(4);
  for (int y = 0; y < h; y++) {
    for (int x = 0; x < w; x++) {
      const auto r = [&](int row) { return ref.row(row)[x]; };
      const auto d = [&](int row) { return dist.row(row)[x]; };
      mu1[x] = filter_down(window, y, h, r);
      mu2[x] = filter_down(window, y, h, d);
      xx[x] = filter_down(window, y, h, [&](int row) { return r(row) * r(row); });
      yy[x] = filter_down(window, y, h, [&](int row) { return d(row) * d(row); });
      xy[x] = filter_down(window, y, h, [&](int row) { return r(row) * d(row); });
    }
    for (int x = 0; x < w; x++) {
      const FloatVifMeans means = {filter_across(window, mu1, x, w), filter_across(window, mu2, x, w),
                                   filter_across(window, xx, x, w), filter_across(window, yy, x, w),
                                   filter_across(window, xy, x, w)};
      float num, den;
      float_vif_sample(means, eye, num, den);
      nums.add(num);
      dens.add(den);
    }
    nums.end_row();
    dens.end_row();
  }
  sums = {nums.word(), dens.word()};
}

/* The plane of the next scale: `in` under that scale's window, every second row and column. */
void decimate(const FloatPlane& in, const GaussianWindow& window, float* row, const FloatPlane& out) {
  for (int y = 0; y < out.h; y++) {
    for (int x = 0; x < in.w; x++) row[x] = filter_down(window, 2 * y, in.h, [&](int i) { return in.row(i)[x]; });
    for (int x = 0; x < out.w; x++) out.row(y)[x] = filter_across(window, row, 2 * x, in.w);
  }
}

}  // namespace

size_t float_vif_scratch_bytes_ref(const FloatVifParams& params) {
  return round_to_lines(Memory::bytes(params)) + (params.prescaler ? params.prescaler->scratch_bytes() : 0);
}

void float_vif_ref(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                   FloatVifSums& sums) {
  Memory memory(params, scratch);
  FloatPlane r = memory.plane(params.w, params.h), d = memory.plane(params.w, params.h);
  std::byte* prescaler_scratch = scratch + round_to_lines(Memory::bytes(params));
  read(params, ref, r, prescaler_scratch);
  read(params, dist, d, prescaler_scratch);
  for (int s = 0; s < kFloatVifScales; s++) {
    if (s > 0 || !params.skip_scale0) add_scale(r, d, params.window[s], params.eye, memory, sums.scale[s]);
    if (s + 1 == kFloatVifScales) break;
    const FloatPlane next_r = memory.plane(r.w / 2, r.h / 2), next_d = memory.plane(r.w / 2, r.h / 2);
    decimate(r, params.window[s + 1], memory.row(0), next_r);
    decimate(d, params.window[s + 1], memory.row(0), next_d);
    r = next_r, d = next_d;
  }
}

}  // namespace vmafx
