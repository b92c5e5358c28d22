/* Scaling a plane of samples to another size, as floats, before a metric sees it: float_vif and SpEED.
 *
 * A sample is the sum over the taps of its row, and in each over those of its column, of value · (weight · weight), in
 * that order, as in libvmaf; lanczos4 divides it by the sum of those products. prescale_math.h has the taps. The
 * definition, the SIMD twin and the kernels (prescale_hip.h) give the same floats. */
#ifndef VMAFX_KERNELS_STEPS_PRESCALE_H
#define VMAFX_KERNELS_STEPS_PRESCALE_H

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/picture.h"
#include "kernels/forward.h"
#include "kernels/steps/prescale_math.h"

namespace vmafx {

/* "nearest", "bilinear", "bicubic" or "lanczos4"; `metric` is for the message. */
StatusOr<PrescaleMethod> prescale_method(const char* metric, std::string_view name);

/* A side of a plane scaled by `factor`. */
int prescaled_size(int size, double factor);

/* The rows of a scaled plane that are read: those at most `reach` away from a multiple of `step`. */
struct PrescaledRows {
  int step = 1, reach = 0;
  bool has(int y) const { return y % step <= reach || step - y % step <= reach; }
};

/* The plane to scale. A sample of `bpc` bits counts in 256ths of the range, plus `offset`. */
struct PrescaleSource {
  SamplePlane plane, less = {};  // `less` is taken off where there is one
  int bpc;
  float offset = 0;
};

/* The taps for one pair of sizes. Made once, used on any thread. */
class Prescaler {
 public:
  Prescaler(PrescaleMethod method, int from_w, int from_h, int to_w, int to_h);

  /* `out` has the size to_w x to_h. */
  void plain(const PrescaleSource& in, const Plane<float>& out, std::byte* scratch) const;
  void simd(const PrescaleSource& in, const Plane<float>& out, std::byte* scratch,
            const PrescaledRows& wanted = {}) const;
  size_t scratch_bytes() const;  // for one call, 64-byte aligned
  size_t row_floats() const;     // the part of it for a row of the source

  PrescaleMethod method() const { return method_; }
  int taps() const { return taps_; }
  int from_w() const { return from_w_; }
  int from_h() const { return from_h_; }
  /* Tap k of columns x …, in rows that a vector may read past the end of. */
  const int32_t* column_indices(int k) const { return column_indices_.data() + k * pitch_; }
  const float* column_weights(int k) const { return column_weights_.data() + k * pitch_; }
  const PrescaleTap* row(int y) const { return rows_.data() + y * taps_; }

 private:
  PrescaleMethod method_;
  int taps_, from_w_, from_h_;
  size_t pitch_;
  std::vector<int32_t> column_indices_;
  std::vector<float> column_weights_;
  std::vector<PrescaleTap> rows_;
};

}  // namespace vmafx

#endif
