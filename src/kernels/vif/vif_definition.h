/* VIF, the definition: plain loops in equation order. Every other path answers to it.
 *
 * The integer and the floating-point VIF differ in their arithmetic, which a Form has, of one scale:
 *
 *   Params, Sums, Blocks              Params: w, h of scale 0, skip_scale0
 *   Sample, Number, Sum               of planes; of rows after the vertical pass; of a window's weighted sum
 *   kScales
 *   Form(params, scale, blocks), half, tap(k)  the scale's window; `blocks`: see run()
 *   mean_shift, square_shift          after the vertical pass, of sums of samples and of squares
 *   rounded(sum, shift)
 *   add({mu1, mu2, xx, yy, xy}), end_row(), finish(sums) */
#ifndef VMAFX_KERNELS_VIF_VIF_DEFINITION_H
#define VMAFX_KERNELS_VIF_VIF_DEFINITION_H

#include <cstddef>

#include "base/picture.h"
#include "kernels/steps/mirror.h"
#include "kernels/steps/scratch.h"

namespace vmafx {

template <class Form>
class VifDefinition {
 public:
  using Params = typename Form::Params;
  using Sample = typename Form::Sample;
  using Number = typename Form::Number;
  using Sum = typename Form::Sum;

  /* Without `memory` it only says how much of it there must be. */
  VifDefinition(const Params& params, std::byte* memory) : params_(params) {
    Scratch scratch(memory);
    for (Number*& row : rows_) row = scratch.take<Number>(params.w);
    for (int scale = 0; scale < Form::kScales; scale++)
      for (Plane<Sample>& plane : planes_[scale])
        plane = scratch.take_plane<Sample>(params.w >> scale, params.h >> scale);
    scratch_bytes_ = scratch.bytes();
  }

  size_t scratch_bytes() const { return scratch_bytes_; }

  /* Scale 0 of ref and of dist, for the caller to fill. */
  const Plane<Sample>& picture(int which) const { return planes_[0][which]; }

  /* `blocks`: where the form adds what each block adds; nullptr: nowhere. */
  void run(typename Form::Sums& sums, const typename Form::Blocks* blocks = nullptr) const {
    for (int scale = 0; scale < Form::kScales; scale++) {
      if (scale > 0 || !params_.skip_scale0) add_scale(scale, sums, blocks);
      if (scale + 1 == Form::kScales) return;
      for (int which = 0; which < 2; which++) decimate(scale, planes_[scale][which], planes_[scale + 1][which]);
    }
  }

 private:
  template <class Value>
  static Sum weighted(const Form& form, int at, int size, Value value) {
    Sum sum = 0;
    for (int k = -form.half; k <= form.half; k++) sum += form.tap(k) * value(mirror(at + k, size));
    return sum;
  }

  void add_scale(int scale, typename Form::Sums& sums, const typename Form::Blocks* blocks) const {
    Form form(params_, scale, blocks);
    const Plane<Sample>&ref = planes_[scale][0], &dist = planes_[scale][1];
    for (int y = 0; y < ref.h; y++) {
      for (int x = 0; x < ref.w; x++) {
        Sum mu1 = 0, mu2 = 0, xx = 0, yy = 0, xy = 0;
        for (int k = -form.half; k <= form.half; k++) {
          const int row = mirror(y + k, ref.h);
          const Sum tap = form.tap(k), r = ref.row(row)[x], d = dist.row(row)[x];
          mu1 += tap * r;
          mu2 += tap * d;
          xx += tap * (r * r);
          yy += tap * (d * d);
          xy += tap * (r * d);
        }
        rows_[0][x] = Form::rounded(mu1, form.mean_shift);
        rows_[1][x] = Form::rounded(mu2, form.mean_shift);
        rows_[2][x] = Form::rounded(xx, form.square_shift);
        rows_[3][x] = Form::rounded(yy, form.square_shift);
        rows_[4][x] = Form::rounded(xy, form.square_shift);
      }
      for (int x = 0; x < ref.w; x++) {
        const auto mean = [&](int i, int shift) {
          return Form::rounded(weighted(form, x, ref.w, [&](int column) { return rows_[i][column]; }), shift);
        };
        form.add({mean(0, 0), mean(1, 0), mean(2, kAcross), mean(3, kAcross), mean(4, kAcross)});
      }
      form.end_row();
    }
    form.finish(sums);
  }

  /* `in` of a scale under the next scale's window, every second row and column. */
  void decimate(int scale, const Plane<Sample>& in, const Plane<Sample>& out) const {
    const Form next(params_, scale + 1, nullptr);
    const int shift = Form(params_, scale, nullptr).mean_shift;
    Number* const row = rows_[0];
    for (int y = 0; y < out.h; y++) {
      for (int x = 0; x < in.w; x++)
        row[x] = Form::rounded(weighted(next, 2 * y, in.h, [&](int i) { return in.row(i)[x]; }), shift);
      for (int x = 0; x < out.w; x++)
        out.row(y)[x] =
            static_cast<Sample>(Form::rounded(weighted(next, 2 * x, in.w, [&](int i) { return row[i]; }), kAcross));
    }
  }

  static constexpr int kAcross = 16;  // shift after the horizontal pass, but for means: these keep all bits

  const Params& params_;
  size_t scratch_bytes_;
  Number* rows_[5];  // after the vertical pass: mu1, mu2, xx, yy, xy
  Plane<Sample> planes_[Form::kScales][2];
};

}  // namespace vmafx

#endif
