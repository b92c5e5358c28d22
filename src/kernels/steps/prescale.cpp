#include "kernels/steps/prescale.h"

#include <cerrno>
#include <cmath>

#include "base/status.h"
#include "kernels/steps/rows.h"

namespace vmafx {
namespace {

constexpr size_t kMostLanes = 64;  // floats of any instruction set (SVE: 2048 bits)
size_t padded(size_t count) { return (count + kMostLanes - 1) / kMostLanes * kMostLanes; }

template <class T>
float value(const PrescaleSource& in, int x, int y) {
  float number = in.plane.as<T>().row(y)[x];
  if (in.less.data) number -= in.less.as<T>().row(y)[x];
  return number * scale_to_8_bits(in.bpc) + in.offset;
}

template <class T>
float sample(const Prescaler& p, const PrescaleSource& in, int x, int y) {
  float sum = 0, weights = 0;
  for (int j = 0; j < p.taps(); j++)
    for (int i = 0; i < p.taps(); i++) {
      const float weight = p.column_weights(i)[x] * p.row(y)[j].weight;
      sum += value<T>(in, p.column_indices(i)[x], p.row(y)[j].index) * weight;
      weights += weight;
    }
  return p.method() == PrescaleMethod::kLanczos4 ? sum / weights : sum;
}

template <class T>
void scale_plane(const Prescaler& p, const PrescaleSource& in, const Plane<float>& out) {
  for (int y = 0; y < out.h; y++)
    for (int x = 0; x < out.w; x++) out.row(y)[x] = sample<T>(p, in, x, y);
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

int prescaled_size(int size, double factor) { return static_cast<int>(std::floor(size * factor + 0.5)); }

Prescaler::Prescaler(PrescaleMethod method, int from_w, int from_h, int to_w, int to_h)
    : method_(method), taps_(prescale_taps(method)), from_w_(from_w), from_h_(from_h), pitch_(padded(to_w)),
      column_indices_(pitch_ * taps_), column_weights_(pitch_ * taps_), rows_(static_cast<size_t>(to_h) * taps_) {
  PrescaleTap taps[kPrescaleMaxTaps];
  for (int x = 0; x < to_w; x++) {
    prescale_taps_at(method, x, from_w, to_w, taps);
    for (int k = 0; k < taps_; k++) {
      column_indices_[k * pitch_ + x] = taps[k].index;
      column_weights_[k * pitch_ + x] = taps[k].weight;
    }
  }
  for (int y = 0; y < to_h; y++) prescale_taps_at(method, y, from_h, to_h, &rows_[static_cast<size_t>(y) * taps_]);
}

size_t Prescaler::scratch_bytes() const { return kPrescaleMaxTaps * row_floats() * sizeof(float); }
size_t Prescaler::row_floats() const { return padded(from_w_); }

void Prescaler::plain(const PrescaleSource& in, const Plane<float>& out, std::byte*) const {
  if (in.bpc == 8) scale_plane<uint8_t>(*this, in, out);
  else scale_plane<uint16_t>(*this, in, out);
}

}  // namespace vmafx
