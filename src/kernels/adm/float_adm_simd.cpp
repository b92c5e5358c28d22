/* float_adm, the SIMD twin: one pass over the pictures, row by row.
 *
 * A row of bands is made as soon as its four input rows are there; its band a goes into the next scale's ring of four rows, its detail
 * through decoupling and csf at once, and through masking when the row below it is there. So nothing but rows is ever stored, both
 * pictures are read once, and of every scale only what the scored 80 % of columns and rows need is computed.
 *
 * Measured, 1920x1080, one thread of a busy Zen 4 server, ms of processor time a frame at 8 and 10 bit: AVX-512 5.9 and 5.7, AVX2 7.4 and
 * 7.7, SSE4 10.7 and 10.7. libvmaf f85a853, which has no SIMD here, in the same minutes: 64 at 8 bit. */
#include "kernels/adm/float_adm.h"

#include <algorithm>
#include <cstring>
#include <optional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adm/float_adm_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/cpu.h"
#include "kernels/adm/adm_pass.h"
#include "kernels/adm/float_adm_stages-inl.h"
#include "kernels/steps/row_sums.h"

#ifndef VMAFX_FLOAT_ADM_SIMD_ONCE
#define VMAFX_FLOAT_ADM_SIMD_ONCE
namespace vmafx {
namespace {

/* A scale and its rows. */
struct Level : AdmLevel {
  const FloatAdmScale* scale;

  SplitRow input[2][kAdmInputRows];  // [ref or dist]
  float* restored[kAdmSignalRows][kAdmBands];
  float* added[kAdmSignalRows][kAdmBands];
  float* share_of_restored[kAdmNearRows][kAdmBands];
  float* share_of_added[kAdmNearRows][kAdmBands];
  float* scored;
  std::byte *den_rows, *part_rows;  // for the sums, of kAdmBands quantities and twice that
};

struct Pyramid {
  Level level[kAdmScales];
  SplitRow low[2], high[2];  // after the vertical pass
  SplitRow unused;           // where the last scale's band a goes
};

SplitRow split_row(AdmRowMemory& memory, int samples) {
  float* even = memory.row<float>((samples + 1) / 2);
  return {even, memory.row<float>((samples + 1) / 2)};
}

/* Places all rows; returns their bytes. */
size_t place_rows(const FloatAdmParams& params, std::byte* scratch, Pyramid& p) {
  AdmRowMemory memory(scratch);
  for (auto* rows : {&p.low, &p.high})
    for (SplitRow& row : *rows) row = split_row(memory, params.scale[0].in_w);
  p.unused = split_row(memory, params.scale[kAdmScales - 1].w);
  for (int i = 0; i < kAdmScales; i++) {
    const FloatAdmScale& s = params.scale[i];
    Level& level = p.level[i];
    for (auto& ring : level.input)
      for (SplitRow& row : ring) row = split_row(memory, s.in_w);
    for (auto* parts : {&level.restored, &level.added})
      for (auto& bands : *parts)
        for (float*& row : bands) row = memory.row<float>(s.w);
    for (auto* shares : {&level.share_of_restored, &level.share_of_added})
      for (auto& bands : *shares)
        for (float*& row : bands) row = memory.row<float>(s.w);
    level.scored = memory.row<float>(s.w);
    if (!params.cubes()) continue;
    level.den_rows = memory.bytes(RowStrip::bytes(kAdmBands, s.w));
    level.part_rows = memory.bytes(RowStrip::bytes(2 * kAdmBands, s.w));
  }
  return memory.used();
}

void mark_scored(const Level& level) {
  const FloatAdmScale& s = *level.scale;
  std::memset(level.scored + s.left, 0xFF, (s.right - s.left) * sizeof(float));
}

float* place(const SplitRow& row, int column) {
  float* const samples = column & 1 ? row.odd : row.even;
  return samples + (column >> 1);
}

/* Columns -1, w and w + 1 of a row of w. */
void mirror_ends(const SplitRow& row, int w) {
  for (const int column : {-1, w, w + 1}) *place(row, column) = *place(row, adm_mirror(column, w));
}
void mirror_shares(float* const (&bands)[kAdmBands], int w) {
  for (float* row : bands) {
    row[-1] = row[1];
    row[w] = row[w - 1];
  }
}

}  // namespace
}  // namespace vmafx
#endif

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* Without vectors a machine takes the definition. */
void float_adm(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               uint64_t* sums) {
  float_adm_ref(params, ref, dist, scratch, sums);
}

#else

/* `interval` with its begin on a whole pair of vectors. */
inline Interval aligned_down(Interval interval) {
  const int pair = 2 * lanes();
  return {interval.begin / pair * pair, interval.end};
}

/* In columns of a split row. */
inline Interval halved(Interval interval) {
  const Interval aligned = aligned_down(interval);
  return {aligned.begin / 2, (aligned.end + 1) / 2};
}

/* One frame on its way through the scales. */
class Frame {
 public:
  Frame(const FloatAdmParams& params, std::byte* scratch, uint64_t* sums) : params_(params), sums_(sums) {
    plan_adm_levels(params.scale, params.skip_scale0, p_.level);
    std::memset(scratch, 0, place_rows(params, scratch, p_));
    for (const Level& level : p_.level) mark_scored(level);
    if (!params.cubes()) return;
    for (const Level& level : p_.level) {
      const Interval made = aligned_down(level.cols), scored = scored_columns(level);
      den_[level.index].emplace(kAdmBands, made.end - made.begin, level.den_rows, words(kFloatAdmDen, level.index));
      parts_[level.index].emplace(2 * kAdmBands, scored.end - scored.begin, level.part_rows,
                                  words(kFloatAdmDlm, level.index));
    }
  }

  template <class T>
  void run(const Plane<const T>& ref, const Plane<const T>& dist) {
    Level& level = p_.level[0];
    const Interval cols = halved(level.in_cols);
    for (int y = level.in_rows.begin; y < level.in_rows.end; y++) {
      split_row(ref.row(y), ref.w, params_.bpc, cols.begin, cols.end, level.input[0][y % kAdmInputRows]);
      split_row(dist.row(y), dist.w, params_.bpc, cols.begin, cols.end, level.input[1][y % kAdmInputRows]);
      advance(level, y);
    }
    for (auto* strips : {&den_, &parts_})
      for (std::optional<RowStrip>& strip : *strips)
        if (strip) strip->finish();
  }

 private:
  /* Row y of the input of `level` is there: makes what can be made of it. */
  void advance(Level& level, int y) {
    while (level.is_ready(y, level.scale->in_h)) {
      const int row = level.next_row++;
      make_row(level, row);
      if (level.index + 1 < kAdmScales) advance(p_.level[level.index + 1], row);
    }
  }

  void make_row(const Level& level, int y) {
    const bool has_detail = level.detail_rows.contains(y);
    for (int picture = 0; picture < 2; picture++) filter(level, y, picture, has_detail);
    const auto [x0, x1] = aligned_down(level.cols);
    if (has_detail) {
      score_row(level, y, x0, x1);
    } else {
      for (int picture = 0; picture < 2; picture++) make_a(p_.low[picture], x0, x1, next_input(level, picture, y));
    }
  }

  void filter(const Level& level, int y, int picture, bool has_detail) {
    const FloatAdmScale& s = *level.scale;
    SplitRow rows[kAdmInputRows];
    for (int tap = 0; tap < kAdmInputRows; tap++)
      rows[tap] = level.input[picture][adm_mirror(2 * y - 1 + tap, s.in_h) % kAdmInputRows];
    const SplitRow &low = p_.low[picture], &high = p_.high[picture];
    const auto [x0, x1] = halved(level.in_cols);
    filter_down(rows, x0, x1, low, has_detail ? high : SplitRow{nullptr, nullptr});
    mirror_ends(low, s.in_w);
    if (has_detail) mirror_ends(high, s.in_w);
  }

  /* Where row y of the band a of `level` goes. */
  SplitRow next_input(const Level& level, int picture, int y) const {
    const bool last = level.index + 1 == kAdmScales;
    return last ? p_.unused : p_.level[level.index + 1].input[picture][y % kAdmInputRows];
  }

  void score_row(const Level& level, int y, int x0, int x1) {
    const FloatAdmScale& s = *level.scale;
    const Interval scored = {s.top, s.bottom};
    decouple_row(level, y, scored.contains(y), x0, x1);
    if (scored.contains(y - 1)) mask_row(level, y - 1);
    if (y == s.h - 1 && scored.contains(y)) mask_row(level, y);
  }

  void decouple_row(const Level& level, int y, bool counts, int x0, int x1) {
    BandWork work = {};
    work.params = &params_;
    work.scale = level.scale;
    for (int picture = 0; picture < 2; picture++) {
      work.low[picture] = p_.low[picture];
      work.high[picture] = p_.high[picture];
      work.a[picture] = next_input(level, picture, y);
    }
    for (int band = 0; band < kAdmBands; band++) {
      work.restored[band] = level.restored[y % kAdmSignalRows][band];
      work.added[band] = level.added[y % kAdmSignalRows][band];
      work.share_of_restored[band] = level.share_of_restored[y % kAdmNearRows][band];
      work.share_of_added[band] = level.share_of_added[y % kAdmNearRows][band];
    }
    work.scored = level.scored;
    work.den = sum_row(level, kFloatAdmDen, den_[level.index], 0, x0);
    if (params_.cubes()) (counts ? make_bands<true, true> : make_bands<true, false>)(work, x0, x1);
    else (counts ? make_bands<false, true> : make_bands<false, false>)(work, x0, x1);
    if (counts && params_.cubes()) den_[level.index]->end_row();
    mirror_shares(work.share_of_restored, level.scale->w);
    mirror_shares(work.share_of_added, level.scale->w);
  }

  void mask_row(const Level& level, int y) {
    cm(level, y, level.restored, level.added, level.share_of_added, kFloatAdmDlm);
    cm(level, y, level.added, level.restored, level.share_of_restored, kFloatAdmAim);
    if (params_.cubes()) parts_[level.index]->end_row();
  }

  using Signal = float* const[kAdmSignalRows][kAdmBands];
  using Shares = float* const[kAdmNearRows][kAdmBands];

  void cm(const Level& level, int y, const Signal& signal, const Signal& masking, const Shares& shares, int kind) {
    const FloatAdmScale& s = *level.scale;
    const auto [x0, x1] = scored_columns(level);
    MaskWork work = {};
    work.params = &params_;
    work.scored = level.scored;
    for (int band = 0; band < kAdmBands; band++) {
      work.signal[band] = signal[y % kAdmSignalRows][band];
      work.masking[band] = masking[y % kAdmSignalRows][band];
      for (int dy = -1; dy <= 1; dy++) work.share[1 + dy][band] = shares[adm_mirror(y + dy, s.h) % kAdmNearRows][band];
    }
    work.sums = sum_row(level, kind, parts_[level.index], kind * kAdmBands, x0);
    if (params_.cubes()) (params_.masked ? mask<true, true> : mask<true, false>)(work, x0, x1);
    else (params_.masked ? mask<false, true> : mask<false, false>)(work, x0, x1);
  }

  static Interval scored_columns(const Level& level) { return aligned_down({level.scale->left, level.scale->right}); }

  SumRow sum_row(const Level& level, int kind, const std::optional<RowStrip>& strip, int quantity, int first) const {
    SumRow row = {{}, first, words(kind, level.index)};
    if (strip)
      for (int band = 0; band < kAdmBands; band++) row.cubes[band] = strip->row(quantity + band);
    return row;
  }

  uint64_t* words(int kind, int index) const {
    return sums_ + float_adm_sum_index(kind, index, 0) * params_.words_per_sum();
  }

  const FloatAdmParams& params_;
  uint64_t* sums_;
  Pyramid p_ = {};
  std::optional<RowStrip> den_[kAdmScales], parts_[kAdmScales];  // for cubes
};

void float_adm(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               uint64_t* sums) {
  Frame frame(params, scratch, sums);
  if (params.bpc == 8) frame.run(ref.as<uint8_t>(), dist.as<uint8_t>());
  else frame.run(ref.as<uint16_t>(), dist.as<uint16_t>());
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(float_adm);

size_t float_adm_scratch_bytes_simd(const FloatAdmParams& params) {
  Pyramid pyramid;
  if (runnable_cpu_targets().front() == HWY_SCALAR) return float_adm_scratch_bytes_ref(params);
  return place_rows(params, nullptr, pyramid);
}

void float_adm_simd(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                    uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(float_adm)(params, ref, dist, scratch, sums);
}

}  // namespace vmafx
#endif
