/* ADM, the definition: plain loops over whole planes, in the order of the equations. Every other twin answers to it.
 *
 * The integer and the floating-point ADM differ in their arithmetic, which a Form has, of one scale:
 *
 *   Params, Sums, Number                        Number: of samples and coefficients
 *   params, scale, index, sums                  what it is made of
 *   sample(value, bpc)                          centered
 *   low_pass, high_pass(a, b, c, d)             of the wavelet, and what is kept of their sums: down(sum), across(sum)
 *   aligned(oh, ov, th, tv)
 *   restored(o, t, aligned), added(t, restored)
 *   measures_aim()
 *   weighted(band, coefficient)                 by the eye's sensitivity, as a mask
 *   threshold(mask(band, dx, dy))               at a sample, of weighted coefficients around it
 *   den(band, reference), excess(band, coefficient, threshold)
 *   BandSums(form, kind)                        add(band, …) takes those two; end_row() */
#ifndef VMAFX_KERNELS_ADM_ADM_DEFINITION_H
#define VMAFX_KERNELS_ADM_ADM_DEFINITION_H

#include <cstddef>
#include <utility>

#include "base/aligned.h"
#include "base/picture.h"
#include "kernels/adm/adm_scales.h"

namespace vmafx {

template <class Form>
class AdmDefinition {
 public:
  using Params = typename Form::Params;
  using Number = typename Form::Number;

  static size_t scratch_bytes(const Params& params) { return AdmDefinition(params, nullptr).used_; }

  static void run(const Params& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                  typename Form::Sums& sums) {
    AdmDefinition definition(params, scratch);
    definition.load(ref, definition.in_[0]);
    definition.load(dist, definition.in_[1]);
    for (int index = 0; index < kAdmScales; index++) definition.run_scale({params, params.scale[index], index, sums});
  }

 private:
  /* A plane for each detail band. All planes have the size of scale 0; smaller scales lie in their upper left corners. */
  using Details = Plane<Number>[kAdmBands];

  AdmDefinition(const Params& params, std::byte* memory) : params_(params), memory_(memory) {
    const AdmExtent& first = params.scale[0];
    for (Plane<Number>& plane : in_) plane = take(first.in_w, first.in_h);
    for (Plane<Number>& plane : a_) plane = take(first.w, first.h);
    for (Details* details : {&detail_[0], &detail_[1], &restored_, &added_, &weighted_})
      for (Plane<Number>& plane : *details) plane = take(first.w, first.h);
    low_ = take(first.in_w, 1).data;
    high_ = take(first.in_w, 1).data;
  }

  Plane<Number> take(int w, int h) {
    const auto stride = static_cast<ptrdiff_t>(round_to_lines(w * sizeof(Number)));
    const Plane<Number> plane = {memory_ ? reinterpret_cast<Number*>(memory_ + used_) : nullptr, stride, w, h};
    used_ += stride * h;
    return plane;
  }

  void load(const SamplePlane& from, const Plane<Number>& to) const {
    if (params_.bpc == 8) load(from.as<uint8_t>(), to);
    else load(from.as<uint16_t>(), to);
  }
  template <class T>
  void load(const Plane<const T>& from, const Plane<Number>& to) const {
    for (int y = 0; y < to.h; y++)
      for (int x = 0; x < to.w; x++) to.row(y)[x] = Form::sample(from.row(y)[x], params_.bpc);
  }

  void run_scale(const Form& form) {
    for (int picture = 0; picture < 2; picture++) dwt2(form, in_[picture], a_[picture], detail_[picture]);
    if (form.index > 0 || !params_.skip_scale0) {
      decouple(form);
      den(form);
      csf(form, added_);
      cm(form, restored_, kAdmDlm);
      if (form.measures_aim()) {
        csf(form, restored_);
        cm(form, added_, kAdmAim);
      }
    }
    std::swap(in_, a_);
  }

  void dwt2(const Form& form, const Plane<Number>& in, const Plane<Number>& a, const Details& detail) const {
    const AdmExtent& scale = form.scale;
    for (int y = 0; y < scale.h; y++) {
      const Number* rows[4];
      for (int tap = 0; tap < 4; tap++) rows[tap] = in.row(adm_mirror(2 * y - 1 + tap, scale.in_h));
      for (int x = 0; x < scale.in_w; x++) {
        low_[x] = form.down(Form::low_pass(rows[0][x], rows[1][x], rows[2][x], rows[3][x]));
        high_[x] = form.down(Form::high_pass(rows[0][x], rows[1][x], rows[2][x], rows[3][x]));
      }
      for (int x = 0; x < scale.w; x++) {
        int at[4];
        for (int tap = 0; tap < 4; tap++) at[tap] = adm_mirror(2 * x - 1 + tap, scale.in_w);
        const auto across = [&](auto filter, const Number* row) {
          return form.across(filter(row[at[0]], row[at[1]], row[at[2]], row[at[3]]));
        };
        a.row(y)[x] = across(Form::low_pass, low_);
        detail[0].row(y)[x] = across(Form::low_pass, high_);
        detail[1].row(y)[x] = across(Form::high_pass, low_);
        detail[2].row(y)[x] = across(Form::high_pass, high_);
      }
    }
  }

  void decouple(const Form& form) const {
    for (int y = 0; y < form.scale.h; y++) {
      for (int x = 0; x < form.scale.w; x++) {
        const auto o = [&](int band) { return detail_[0][band].row(y)[x]; };
        const auto t = [&](int band) { return detail_[1][band].row(y)[x]; };
        const bool aligned = form.aligned(o(0), o(1), t(0), t(1));
        for (int band = 0; band < kAdmBands; band++) {
          const Number restored = form.restored(o(band), t(band), aligned);
          restored_[band].row(y)[x] = restored;
          added_[band].row(y)[x] = form.added(t(band), restored);
        }
      }
    }
  }

  void den(const Form& form) const {
    typename Form::BandSums sums(form, kAdmDen);
    for (int y = form.scale.top; y < form.scale.bottom; y++) {
      for (int x = form.scale.left; x < form.scale.right; x++)
        for (int band = 0; band < kAdmBands; band++) sums.add(band, form.den(band, detail_[0][band].row(y)[x]));
      sums.end_row();
    }
  }

  void csf(const Form& form, const Details& in) const {
    for (int band = 0; band < kAdmBands; band++)
      for (int y = 0; y < form.scale.h; y++)
        for (int x = 0; x < form.scale.w; x++) weighted_[band].row(y)[x] = form.weighted(band, in[band].row(y)[x]);
  }

  /* What `signal` exceeds the thresholds by that what was weighted sets. */
  void cm(const Form& form, const Details& signal, AdmKind kind) const {
    typename Form::BandSums sums(form, kind);
    for (int y = form.scale.top; y < form.scale.bottom; y++) {
      for (int x = form.scale.left; x < form.scale.right; x++) {
        const auto threshold = form.threshold([&](int band, int dx, int dy) {
          return weighted_[band].row(adm_mirror(y + dy, form.scale.h))[adm_mirror(x + dx, form.scale.w)];
        });
        for (int band = 0; band < kAdmBands; band++)
          sums.add(band, form.excess(band, signal[band].row(y)[x], threshold));
      }
      sums.end_row();
    }
  }

  const Params& params_;
  std::byte* const memory_;
  size_t used_ = 0;
  Plane<Number> in_[2], a_[2];  // of ref and dist. a: low-pass both ways, the next scale's pictures
  Details detail_[2], restored_, added_, weighted_;
  Number *low_, *high_;  // a row after the vertical pass
};

}  // namespace vmafx

#endif
