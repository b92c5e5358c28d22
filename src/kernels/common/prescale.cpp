#include "kernels/common/prescale.h"

#include <cerrno>

#include "base/aligned.h"

namespace vmafx {
namespace {

constexpr size_t kMostLanes = 64;  // floats of any instruction set (SVE: 2048 bits)
size_t padded(size_t count) { return (count + kMostLanes - 1) / kMostLanes * kMostLanes; }

template <class T>
float column_sum(const Plane<const T>& in, int x, const PrescaleTap* taps, int count, float scale, float offset) {
  float sum = 0;
  for (int k = 0; k < count; k++) {
    const float term = taps[k].weight * (static_cast<float>(in.row(taps[k].index)[x]) * scale + offset);
    sum = k ? sum + term : term;
  }
  return sum;
}

template <class T>
void scale_plane(const Prescaler& p, const Plane<const T>& in, float scale, float offset, const Plane<float>& out,
                 float* sums) {
  for (int y = 0; y < out.h; y++) {
    for (int x = 0; x < in.w; x++) sums[x] = column_sum(in, x, p.row(y), p.taps(), scale, offset);
    for (int x = 0; x < out.w; x++) {
      float sum = 0;
      for (int k = 0; k < p.taps(); k++) {
        const float term = p.column_weights(k)[x] * sums[p.column_indices(k)[x]];
        sum = k ? sum + term : term;
      }
      out.row(y)[x] = sum;
    }
  }
}

}  // namespace

StatusOr<PrescaleMethod> prescale_method(const char* metric, std::string_view name) {
  if (name == "nearest") return PrescaleMethod::kNearest;
  if (name == "bilinear") return PrescaleMethod::kBilinear;
  if (name == "bicubic") return PrescaleMethod::kBicubic;
  if (name == "lanczos4") return PrescaleMethod::kLanczos4;
  return error(EINVAL, "%s: a plane is prescaled by nearest, bilinear, bicubic or lanczos4, not by \"%.*s\"", metric,
               static_cast<int>(name.size()), name.data());
}

int prescaled_size(int size, double factor) { return static_cast<int>(size * factor + 0.5); }

Prescaler::Prescaler(PrescaleMethod method, int from_w, int from_h, int to_w, int to_h)
    : method_(method), taps_(prescale_taps(method)), from_w_(from_w), from_h_(from_h), pitch_(padded(to_w)), column_indices_(pitch_ * taps_),
      column_weights_(pitch_ * taps_), rows_(static_cast<size_t>(to_h) * taps_) {
  PrescaleTap taps[9];
  for (int x = 0; x < to_w; x++) {
    prescale_taps_at(method, x, from_w, to_w, taps);
    for (int k = 0; k < taps_; k++) {
      column_indices_[k * pitch_ + x] = taps[k].index;
      column_weights_[k * pitch_ + x] = taps[k].weight;
    }
  }
  for (int y = 0; y < to_h; y++) prescale_taps_at(method, y, from_h, to_h, &rows_[static_cast<size_t>(y) * taps_]);
}

size_t Prescaler::scratch_bytes() const { return round_to_lines(sizeof(float) * padded(from_w_)); }

void Prescaler::ref(const SamplePlane& in, int bpc, float offset, const Plane<float>& out, std::byte* scratch) const {
  const float scale = 1.0f / static_cast<float>(1 << (bpc - 8));
  float* sums = reinterpret_cast<float*>(scratch);
  if (bpc == 8) scale_plane(*this, in.as<uint8_t>(), scale, offset, out, sums);
  else scale_plane(*this, in.as<uint16_t>(), scale, offset, out, sums);
}

}  // namespace vmafx
