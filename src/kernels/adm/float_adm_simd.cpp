/* float_adm, the SIMD twin: one pass over the pictures, row by row.
 *
 * A row of bands is made as soon as its four input rows are there; its band a goes into the next scale's ring of four
 * rows, its detail through decoupling and csf at once, and through masking when the row below it is there. So nothing
 * but rows is ever stored, all pictures are read once, and of every scale only what the scored 80 % of columns and rows
 * need is computed.
 *
 * Measured, 1920x1080, one thread of a busy Zen 4 server, ms of processor time a frame at 8 and 10 bit: AVX-512 5.9 and
 * 5.7, AVX2 7.4 and 7.7, SSE4 10.7 and 10.7. libvmaf f85a853, which has no SIMD here, in the same minutes: 64 at 8 bit.
 *
 * Several encodes share what is the reference's alone: its transform, the cubes of the denominator and their sums in
 * libvmaf's order, and the reciprocals that decoupling takes, whose table look-ups are dear. Measured on such a server,
 * 8 bit, ms for an encode, alone and of eight: AVX-512 5.9 and 4.4 (0.75), AVX2 6.9 and 5.4 (0.79), SSE4 10.0 and 7.8
 * (0.78). With AVX-512 each further encode takes 0.71 of the first one. */
#include "kernels/adm/float_adm.h"

#include <algorithm>
#include <cstring>
#include <forward_list>
#include <new>
#include <optional>
#include <span>

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

/* An encode's rows at a scale. */
struct EncodeRows {
  float* restored[kAdmSignalRows][kAdmBands];
  float* added[kAdmSignalRows][kAdmBands];
  float* share_of_restored[kAdmNearRows][kAdmBands];
  float* share_of_added[kAdmNearRows][kAdmBands];
  std::byte* part_rows;           // for the sums of twice kAdmBands quantities
  std::optional<RowStrip> parts;  // for cubes
};

/* The rows of a picture, as a scale reads them. */
struct InputRows {
  SplitRow row[kAdmInputRows];
};

/* A scale and its rows. */
struct Level : AdmLevel {
  const FloatAdmScale* scale;

  InputRows* input;  // the reference's, then every encode's
  EncodeRows* encode;
  float* scored;
  std::byte* den_rows;  // for the sums of kAdmBands quantities
};

/* A row after the vertical pass. */
struct PassedRow {
  SplitRow low, high;
};

struct Pyramid {
  Level level[kAdmScales];
  PassedRow* passed;  // the reference's, then every encode's
  SplitRow unused;    // takes the last scale's band a
};

SplitRow split_row(AdmRowMemory& memory, int samples) {
  float* even = memory.row<float>((samples + 1) / 2);
  return {even, memory.row<float>((samples + 1) / 2)};
}

EncodeRows place_encode(AdmRowMemory& memory, const FloatAdmParams& params, const FloatAdmScale& s) {
  EncodeRows rows = {};
  for (auto* parts : {&rows.restored, &rows.added})
    for (auto& bands : *parts)
      for (float*& row : bands) row = memory.row<float>(s.w);
  for (auto* shares : {&rows.share_of_restored, &rows.share_of_added})
    for (auto& bands : *shares)
      for (float*& row : bands) row = memory.row<float>(s.w);
  if (params.cubes()) rows.part_rows = memory.bytes(RowStrip::bytes(2 * kAdmBands, s.w));
  return rows;
}

/* Places all rows; returns their bytes. */
size_t place_rows(const FloatAdmParams& params, int encodes, std::byte* scratch, Pyramid& p) {
  AdmRowMemory memory(scratch);
  p.passed = memory.row<PassedRow>(1 + encodes);
  for (int picture = 0; picture <= encodes; picture++) {
    const SplitRow low = split_row(memory, params.scale[0].in_w), high = split_row(memory, params.scale[0].in_w);
    if (scratch) p.passed[picture] = {low, high};
  }
  p.unused = split_row(memory, params.scale[kAdmScales - 1].w);
  for (int i = 0; i < kAdmScales; i++) {
    const FloatAdmScale& s = params.scale[i];
    Level& level = p.level[i];
    level.input = memory.row<InputRows>(1 + encodes);
    level.encode = memory.row<EncodeRows>(encodes);
    for (int picture = 0; picture <= encodes; picture++) {
      InputRows rows;
      for (SplitRow& row : rows.row) row = split_row(memory, s.in_w);
      if (scratch) level.input[picture] = rows;
    }
    for (int encode = 0; encode < encodes; encode++) {
      const EncodeRows rows = place_encode(memory, params, s);
      if (scratch) new (&level.encode[encode]) EncodeRows(rows);
    }
    level.scored = memory.row<float>(s.w);
    if (params.cubes()) level.den_rows = memory.bytes(RowStrip::bytes(kAdmBands, s.w));
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
void float_adm(const FloatAdmParams& params, const SamplePlane& ref, std::span<const SamplePlane> dist,
               std::byte* scratch, std::span<uint64_t* const> sums, const FloatAdmBlocks* blocks) {
  for (size_t i = 0; i < dist.size(); i++)
    if (blocks) float_adm_mapped_plain(params, ref, dist[i], scratch, sums[i], *blocks);
    else float_adm_plain(params, ref, dist[i], scratch, sums[i]);
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

/* One frame of the reference and of its encodes on their way through the scales. */
class Frame {
 public:
  /* `blocks`: those of the first encode; nullptr: none. */
  Frame(const FloatAdmParams& params, std::byte* scratch, std::span<uint64_t* const> sums, const FloatAdmBlocks* blocks)
      : params_(params), sums_(sums), encodes_(static_cast<int>(sums.size())) {
    plan_adm_levels(params.scale, params.skip_scale0, p_.level);
    std::memset(scratch, 0, place_rows(params, encodes_, nullptr, p_));
    place_rows(params, encodes_, scratch, p_);
    for (const Level& level : p_.level) mark_scored(level);
    if (!params.cubes()) return;
    for (const Level& level : p_.level) {
      const Interval made = aligned_down(level.cols), scored = scored_columns(level);
      den_[level.index].emplace(kAdmBands, made.end - made.begin, level.den_rows, words(0, kFloatAdmDen, level.index));
      for (int i = 0; i < encodes_; i++)
        level.encode[i].parts.emplace(2 * kAdmBands, scored.end - scored.begin, level.encode[i].part_rows,
                                      words(i, kFloatAdmDlm, level.index));
      if (!blocks) continue;
      tell_blocks(*den_[level.index], level, made.begin, kFloatAdmDen, *blocks);
      tell_blocks(*level.encode[0].parts, level, scored.begin, kFloatAdmDlm, *blocks);
    }
  }

  template <class T>
  void run(const SamplePlane& ref, std::span<const SamplePlane> dist) {
    Level& level = p_.level[0];
    const Interval cols = halved(level.in_cols);
    for (int y = level.in_rows.begin; y < level.in_rows.end; y++) {
      for (int picture = 0; picture <= encodes_; picture++) {
        const Plane<const T> plane = (picture > 0 ? dist[picture - 1] : ref).template as<T>();
        split_row(plane.row(y), plane.w, params_.bpc, cols.begin, cols.end,
                  level.input[picture].row[y % kAdmInputRows]);
      }
      advance(level, y);
    }
    if (params_.cubes()) finish_strips();
    for (int i = 1; i < encodes_; i++) copy_den(i);
  }

 private:
  /* Has the rows of a strip, which begin at column `first` of the scored rows, add to blocks. Its first quantities are
   * those of `kind`. */
  void tell_blocks(RowStrip& strip, const Level& level, int first, int kind, const FloatAdmBlocks& blocks) {
    const FloatAdmScale& s = *level.scale;
    const BlockGrid grid = FloatAdmBlocks::grid(s, level.index);
    FloatAdmBlockSums* const of_scale = blocks.scale[level.index];
    const auto add_row = [=, &s](int quantity, int y, std::span<const float> values) {
      for (int x = s.left; x < s.right; x++)
        of_scale[grid.at(x, s.top + y)].of[kind + quantity / kAdmBands][quantity % kAdmBands] +=
            static_cast<double>(values[static_cast<size_t>(x - first)]);
    };
    strip.tell_rows(takers_.emplace_front(add_row));
  }

  void finish_strips() {
    for (const Level& level : p_.level) {
      den_[level.index]->finish();
      for (int i = 0; i < encodes_; i++) level.encode[i].parts->finish();
    }
  }

  void copy_den(int encode) {
    for (int index = 0; index < kAdmScales; index++)
      std::copy_n(words(0, kFloatAdmDen, index), kAdmBands * params_.words_per_sum(),
                  words(encode, kFloatAdmDen, index));
  }

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
    for (int picture = 0; picture <= encodes_; picture++) filter(level, y, picture, has_detail);
    const auto [x0, x1] = aligned_down(level.cols);
    if (has_detail) {
      score_row(level, y, x0, x1);
    } else {
      for (int picture = 0; picture <= encodes_; picture++)
        make_a(p_.passed[picture].low, x0, x1, next_input(level, picture, y));
    }
  }

  void filter(const Level& level, int y, int picture, bool has_detail) {
    const FloatAdmScale& s = *level.scale;
    SplitRow rows[kAdmInputRows];
    for (int tap = 0; tap < kAdmInputRows; tap++)
      rows[tap] = level.input[picture].row[adm_mirror(2 * y - 1 + tap, s.in_h) % kAdmInputRows];
    const auto& [low, high] = p_.passed[picture];
    const auto [x0, x1] = halved(level.in_cols);
    filter_down(rows, x0, x1, low, has_detail ? high : SplitRow{nullptr, nullptr});
    mirror_ends(low, s.in_w);
    if (has_detail) mirror_ends(high, s.in_w);
  }

  /* The place for row y of the band a of `level`. */
  SplitRow next_input(const Level& level, int picture, int y) const {
    const bool last = level.index + 1 == kAdmScales;
    return last ? p_.unused : p_.level[level.index + 1].input[picture].row[y % kAdmInputRows];
  }

  void score_row(const Level& level, int y, int x0, int x1) {
    const FloatAdmScale& s = *level.scale;
    const Interval scored = {s.top, s.bottom};
    decouple_row(level, y, scored.contains(y), x0, x1);
    if (scored.contains(y - 1)) mask_row(level, y - 1);
    if (y == s.h - 1 && scored.contains(y)) mask_row(level, y);
  }

  FilteredRow filtered_row(const Level& level, int y, int picture) const {
    const PassedRow& passed = p_.passed[picture];
    return {passed.low, passed.high, next_input(level, picture, y)};
  }

  EncodeWork encode_work(const Level& level, int y, int encode) const {
    const EncodeRows& rows = level.encode[encode];
    EncodeWork work;
    work.row = filtered_row(level, y, 1 + encode);
    for (int band = 0; band < kAdmBands; band++) {
      work.restored[band] = rows.restored[y % kAdmSignalRows][band];
      work.added[band] = rows.added[y % kAdmSignalRows][band];
      work.share_of_restored[band] = rows.share_of_restored[y % kAdmNearRows][band];
      work.share_of_added[band] = rows.share_of_added[y % kAdmNearRows][band];
    }
    return work;
  }

  void decouple_row(const Level& level, int y, bool counts, int x0, int x1) {
    EncodeWork encodes[kMostEncodes];
    for (int i = 0; i < encodes_; i++) encodes[i] = encode_work(level, y, i);
    BandWork work = {};
    work.params = &params_;
    work.scale = level.scale;
    work.ref = filtered_row(level, y, 0);
    work.encodes = {encodes, sums_.size()};
    work.scored = level.scored;
    work.den = sum_row(0, level, kFloatAdmDen, den_[level.index], 0, x0);
    if (params_.cubes()) (counts ? make_bands<true, true> : make_bands<true, false>)(work, x0, x1);
    else (counts ? make_bands<false, true> : make_bands<false, false>)(work, x0, x1);
    if (counts && params_.cubes()) den_[level.index]->end_row();
    for (const EncodeWork& encode : work.encodes) {
      mirror_shares(encode.share_of_restored, level.scale->w);
      mirror_shares(encode.share_of_added, level.scale->w);
    }
  }

  void mask_row(const Level& level, int y) {
    for (int i = 0; i < encodes_; i++) {
      EncodeRows& rows = level.encode[i];
      cm(level, y, i, rows.restored, rows.added, rows.share_of_added, kFloatAdmDlm);
      cm(level, y, i, rows.added, rows.restored, rows.share_of_restored, kFloatAdmAim);
      if (params_.cubes()) rows.parts->end_row();
    }
  }

  using Signal = float* const[kAdmSignalRows][kAdmBands];
  using Shares = float* const[kAdmNearRows][kAdmBands];

  void cm(const Level& level, int y, int encode, const Signal& signal, const Signal& masking, const Shares& shares,
          int kind) {
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
    work.sums = sum_row(encode, level, kind, level.encode[encode].parts, kind * kAdmBands, x0);
    if (params_.cubes()) (params_.masked ? mask<true, true> : mask<true, false>)(work, x0, x1);
    else (params_.masked ? mask<false, true> : mask<false, false>)(work, x0, x1);
  }

  static Interval scored_columns(const Level& level) { return aligned_down({level.scale->left, level.scale->right}); }

  SumRow sum_row(int encode, const Level& level, int kind, const std::optional<RowStrip>& strip, int quantity,
                 int first) const {
    SumRow row = {{}, first, words(encode, kind, level.index)};
    if (strip)
      for (int band = 0; band < kAdmBands; band++) row.cubes[band] = strip->row(quantity + band);
    return row;
  }

  uint64_t* words(int encode, int kind, int index) const {
    return sums_[encode] + float_adm_sum_index(kind, index, 0) * params_.words_per_sum();
  }

  const FloatAdmParams& params_;
  const std::span<uint64_t* const> sums_;
  const int encodes_;
  Pyramid p_ = {};
  std::optional<RowStrip> den_[kAdmScales];  // for cubes
  std::forward_list<RowStrip::Taker> takers_;
};

void float_adm(const FloatAdmParams& params, const SamplePlane& ref, std::span<const SamplePlane> dist,
               std::byte* scratch, std::span<uint64_t* const> sums, const FloatAdmBlocks* blocks) {
  Frame frame(params, scratch, sums, blocks);
  if (params.bpc == 8) frame.run<uint8_t>(ref, dist);
  else frame.run<uint16_t>(ref, dist);
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(float_adm);

size_t float_adm_encodes_scratch_bytes_simd(const FloatAdmParams& params, int encodes) {
  Pyramid pyramid;
  if (runnable_cpu_targets().front() == HWY_SCALAR) return float_adm_scratch_bytes_plain(params);
  return place_rows(params, encodes, nullptr, pyramid);
}

size_t float_adm_scratch_bytes_simd(const FloatAdmParams& params) {
  return float_adm_encodes_scratch_bytes_simd(params, 1);
}

void float_adm_encodes_simd(const FloatAdmParams& params, const SamplePlane& ref, std::span<const SamplePlane> dist,
                            std::byte* scratch, std::span<uint64_t* const> sums) {
  HWY_DYNAMIC_DISPATCH(float_adm)(params, ref, dist, scratch, sums, nullptr);
}

void float_adm_mapped_simd(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist,
                           std::byte* scratch, uint64_t* sums, const FloatAdmBlocks& blocks) {
  HWY_DYNAMIC_DISPATCH(float_adm)(params, ref, {&dist, 1}, scratch, {&sums, 1}, &blocks);
}

void float_adm_simd(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                    uint64_t* sums) {
  float_adm_encodes_simd(params, ref, {&dist, 1}, scratch, {&sums, 1});
}

}  // namespace vmafx
#endif
