#include "kernels/recolor/recolor.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/rounding.h"
#include "base/status.h"
#include "kernels/recolor/recolor_curves.h"
#include "kernels/recolor/recolor_rows.h"
#include "kernels/steps/linear_light_of.h"
#include "kernels/steps/matrix3.h"

namespace vmafx {
namespace {

constexpr int kIctcp = 14, kBt2020Primaries = 9;  // code points of H.273
constexpr Matrix3 kIdentity = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* -- Signals ------------------------------------------------------------------------------------------------------- */

/* BT.2100 table 7: R G B of BT.2020 to L M S. */
constexpr Matrix3 kRgbToLms = {1688. / 4096, 2146. / 4096, 262. / 4096, 683. / 4096, 2951. / 4096,
                               462. / 4096,  99. / 4096,   309. / 4096, 3688. / 4096};

/* BT.2100 table 7: L'M'S' to I, C_T, C_P. */
constexpr Matrix3 kLmsToIctcpOfPq = {
    0.5, 0.5, 0, 6610. / 4096, -13613. / 4096, 7003. / 4096, 17933. / 4096, -17390. / 4096, -543. / 4096};
constexpr Matrix3 kLmsToIctcpOfHlg = {
    0.5, 0.5, 0, 3625. / 4096, -7465. / 4096, 3840. / 4096, 9500. / 4096, -9212. / 4096, -288. / 4096};

/* R'G'B' to Y'CbCr. */
Matrix3 ycbcr_of(const LumaParts& parts) {
  const double r = parts.red, b = parts.blue, g = 1 - r - b;
  const double cb = 2 * (1 - b), cr = 2 * (1 - r);
  return {r, g, b, -r / cb, -g / cb, (1 - b) / cb, (1 - r) / cr, -g / cr, -b / cr};
}

StatusOr<Matrix3> ictcp_of(const Color& color, const TransferCurve& curve) {
  if (color.primaries != kBt2020Primaries || !curve.is_hdr())
    return error(EINVAL, "ICtCp is defined for the primaries of BT.2020, and PQ or HLG (primaries %d, transfer %d)",
                 color.primaries, color.transfer);
  return curve.kind == TransferCurve::Kind::kPq ? kLmsToIctcpOfPq : kLmsToIctcpOfHlg;
}

/* Codes of numbers: code = number · scale + offset. */
struct CodeScale {
  double luma, luma_offset, chroma, chroma_offset;
};

CodeScale code_scale(const VideoFormat& format) {
  const double step = 1 << (format.bpc - 8), most = (1 << format.bpc) - 1;
  const bool full = format.color.range == Color::Range::kFull;
  return {full ? most : 219 * step, full ? 0 : 16 * step, full ? most : 224 * step, 128 * step};
}

/* All that a format says of its colors. */
struct Space {
  TransferCurve curve;
  Matrix3 from_rgb;  // or from L'M'S'
  bool is_lms = false;
  int primaries = 0;
  Matrix3 to_xyz;

  /* The weights of luminance. */
  const double* luminance() const { return &to_xyz[3]; }
};

Status check_known(const Color& color) {
  for (const auto& [code, name] :
       {std::pair{color.matrix, "matrix"}, {color.transfer, "transfer"}, {color.primaries, "primaries"}})
    if (code == Color::kUnspecified) return error(EINVAL, "its %s is not known", name);
  return {};
}

StatusOr<Space> space_of(const VideoFormat& format) {
  const Color& color = format.color;
  VMAFX_TRY(check_known(color));
  Space space;
  VMAFX_ASSIGN(space.curve, transfer_curve_of(color.transfer));
  VMAFX_ASSIGN(space.to_xyz, primaries_to_xyz(color.primaries));
  space.primaries = color.primaries;
  space.is_lms = color.matrix == kIctcp;
  if (space.is_lms) {
    VMAFX_ASSIGN(space.from_rgb, ictcp_of(color, space.curve));
  } else {
    VMAFX_ASSIGN(const LumaParts parts, luma_parts_of(color.matrix));
    space.from_rgb = ycbcr_of(parts);
  }
  return space;
}

void store(const Matrix3& from, float (&to)[9]) {
  std::ranges::transform(from, to, [](double v) { return float(v); });
}

}  // namespace

/* -- Steps and tables ---------------------------------------------------------------------------------------------- */

/* Puts the conversion of one format to another together. */
class RecolorPlan {
 public:
  RecolorPlan(const Space& from, const Space& to, const ColorRules& rules, Recolorer& out)
      : from_(from), to_(to), rules_(rules), out_(out) {}

  /* Whether light changes, or is needed to change the matrix. */
  bool needs_light() const {
    return from_.curve != to_.curve || from_.primaries != to_.primaries || from_.is_lms != to_.is_lms;
  }

  void plan_light() {
    Recolor& p = out_.params_;
    const double unit = cd_of(to_.curve), scale = cd_of(from_.curve) / unit;
    p.decode = by_signal([&](double signal) { return from_.curve.light(signal) * (from_hlg() ? 1 : scale); });
    p.encode = by_light([&](double light) { return to_.curve.signal(light); });
    if (from_.is_lms) add(inverse(kRgbToLms));
    if (from_hlg()) add_gain([&](double y) { return std::pow(y, kHlgGamma - 1) * scale; }, from_.luminance());
    if (from_.primaries != to_.primaries) add(product(inverse(to_.to_xyz), from_.to_xyz));
    if (out_.maps_tones_) add_gain([&](double light) { return tone_gain(light); }, nullptr);
    if (to_hlg()) add_gain([](double y) { return std::pow(y, 1 / kHlgGamma - 1); }, to_.luminance());
    if (to_.is_lms) add(kRgbToLms);
    if (matrix_ != kIdentity || !p.n_steps) end_step();
  }

 private:
  bool from_hlg() const { return from_.curve.kind == TransferCurve::Kind::kHlg; }
  bool to_hlg() const { return to_.curve.kind == TransferCurve::Kind::kHlg; }

  double cd_of(const TransferCurve& curve) const {
    if (curve.kind == TransferCurve::Kind::kPq) return kPqPeak;
    return curve.kind == TransferCurve::Kind::kHlg ? kHlgPeak : rules_.white;
  }

  double tone_gain(double light) const {
    return tone_mapped(light * rules_.white, rules_.peak, rules_.white) / (light * rules_.white);
  }

  void add(const Matrix3& matrix) { matrix_ = product(matrix, matrix_); }

  RecolorStep& end_step() {
    RecolorStep& step = out_.params_.steps[out_.params_.n_steps++];
    step = {};
    step.gain = kNoTable;
    store(matrix_, step.matrix);
    matrix_ = kIdentity;
    return step;
  }

  /* `weights`: of the luminance; null: the largest of the three counts. */
  template <class Gain>
  void add_gain(Gain gain, const double* weights) {
    RecolorStep& step = end_step();
    step.gain = by_light(gain);
    step.of_largest = !weights;
    for (int i = 0; weights && i < 3; i++) step.weights[i] = static_cast<float>(weights[i]);
  }

  template <class Value>
  int32_t by_signal(Value value) {
    const int32_t first = next_table();
    for (int i = 0; i < kSignalEntries; i++)
      out_.tables_.push_back(static_cast<float>(std::min<double>(value(double(i) / kSignalSteps), kMostLight)));
    return first;
  }

  template <class Value>
  int32_t by_light(Value value) {
    const int32_t first = next_table();
    constexpr int kInDoubling = 1 << (23 - kLightShift);
    for (int i = 0; i < kLightEntries; i++) {
      const double light = std::ldexp(1 + double(i % kInDoubling) / kInDoubling, i / kInDoubling - 44);
      out_.tables_.push_back(static_cast<float>(value(light)));
    }
    return first;
  }

  int32_t next_table() const { return static_cast<int32_t>(out_.tables_.size()); }

  const Space &from_, &to_;
  const ColorRules& rules_;
  Recolorer& out_;
  Matrix3 matrix_ = kIdentity;  // since the last step
};

namespace {

void set_samples(const VideoFormat& from, const VideoFormat& to, Recolor& p) {
  const CodeScale in = code_scale(from), out = code_scale(to);
  LinearLight light{};
  light.neutral_chroma = 16 << (from.bpc - 1);
  p.source = picture_light_of(from, light);
  p.source.has_chroma = p.source.has_chroma && p.source.chroma_w > 0 && p.source.chroma_h > 0;
  p.from = {static_cast<float>(1 / in.luma), static_cast<float>(-in.luma_offset / in.luma),
            static_cast<float>(1 / (16 * in.chroma)), 0};
  p.to = {static_cast<float>(out.luma), static_cast<float>(out.luma_offset), static_cast<float>(out.chroma),
          static_cast<float>(out.chroma_offset)};
  p.most = static_cast<float>((1 << to.bpc) - 1);
  p.bpc = to.bpc;
  p.has_chroma = to.planes() == 3;
  p.chroma_w = to.plane_w(1);
  p.chroma_h = to.plane_h(1);
  p.across = chroma_across(to);
  p.down = chroma_down(to);
}

bool same_chroma(const VideoFormat& from, const VideoFormat& to) {
  const auto same = [](const ChromaAxis& a, const ChromaAxis& b) {
    return a.halved == b.halved && (!a.halved || a.offset == b.offset);
  };
  return from.chroma == to.chroma && same(chroma_across(from), chroma_across(to)) &&
         same(chroma_down(from), chroma_down(to));
}

}  // namespace

StatusOr<std::shared_ptr<const Recolorer>> Recolorer::create(const VideoFormat& from, const VideoFormat& to,
                                                             const ColorRules& rules) {
  VMAFX_ASSIGN(const Space source, space_of(from));
  VMAFX_ASSIGN(const Space target, space_of(to));
  std::shared_ptr<Recolorer> out(new Recolorer);
  set_samples(from, to, out->params_);
  RecolorPlan plan(source, target, rules, *out);
  const bool needs_light = plan.needs_light();
  out->maps_tones_ = rules.maps_tones && source.curve.is_hdr() && !target.curve.is_hdr();
  Recolor& p = out->params_;
  if (needs_light) {
    store(inverse(source.from_rgb), p.to_signal);
    store(target.from_rgb, p.from_signal);
    plan.plan_light();
  } else {
    p.decode = p.encode = kNoTable;
    p.keeps_planes = source.from_rgb == target.from_rgb && same_chroma(from, to);
    store(kIdentity, p.to_signal);
    store(p.keeps_planes ? kIdentity : product(target.from_rgb, inverse(source.from_rgb)), p.from_signal);
  }
  return std::shared_ptr<const Recolorer>(std::move(out));
}

size_t Recolorer::scratch_bytes() const { return RecolorLines::bytes(params_.source.w); }

}  // namespace vmafx
