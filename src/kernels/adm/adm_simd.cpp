/* ADM, the SIMD twin: one pass over the reference and its encodes, row by row.
 *
 * A row of bands is made as soon as its four input rows are there; its band a goes into the next scale's ring of four
 * rows, its detail through decoupling and csf at once, and through masking when the row below it is there. So nothing
 * but rows is ever stored, and all pictures are read once. Only what the scored 80 % of columns and rows need is
 * computed, at every scale.
 *
 * The floor, for 1920x1080 8 bit: 64 % of 4.1 MB is read, 0.2 ms at 15 GB/s, and hidden by prefetching: decoupling asks
 * for the rows of pictures that the next row of bands is made of. A vector of 32 columns of scale 0's bands takes some
 * 800 instructions: 200 for the transform of both pictures, 110 for each band's restored part, 110 for the masks, 250
 * for the cubes; one of 16 columns at scales 1 to 3, where products have 64 bits, some 700. That is 8.4 + 4.8 million
 * instructions of 64 bytes, 1.1 ms at three of them a cycle and 4 GHz.
 *
 * Measured on a Zen 5 server, one thread, least of many runs on a busy machine, ms a frame at 8 and 10 bit: AVX-512
 * 1.6 and 1.6, AVX2 2.9 and 3.1, SSE4 6.0 and 6.2. libvmaf f85a853 in the same minutes: AVX-512 5.8 and 6.6, AVX2 12.3
 * and 12.1, plain C 26.0 and 25.8.
 *
 * Several encodes share what depends on the reference alone: its transform, its cubes, and what decoupling takes of it,
 * which stays at hand for a vector of columns while all encodes pass. As compiled for AVX-512, a vector of scale 0
 * takes 950 vector instructions with one encode; 250 of them are the reference's, and 280 of the 840 at scales 1 to 3.
 * So eight encodes together take at least 0.75 of eight alone, and many 0.71. Measured at 1920x1080, 8 bit, on a Zen 4
 * server, ms for an encode, alone and of eight: AVX-512 3.0 and 2.4 (0.79), AVX2 3.4 and 2.8 (0.81), SSE4 6.4 and 4.8
 * (0.75). Masking and the transform miss that bound most. They take longer than alone, because the rows of eight
 * encodes are 2 MB, more than the cache next to a core holds. */
#include "kernels/adm/adm.h"

#include <algorithm>
#include <cstring>
#include <span>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adm/adm_simd.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/cpu.h"
#include "base/rounding.h"
#include "kernels/adm/adm_cm-inl.h"
#include "kernels/adm/adm_pass.h"
#include "kernels/steps/prefetch.h"

#ifndef VMAFX_ADM_SIMD_ONCE
#define VMAFX_ADM_SIMD_ONCE
namespace vmafx {
namespace {

/* The rows of a mask, of the added or of the restored part. */
struct MaskMemory {
  int32_t* neighbors[kAdmNearRows][2];
  int32_t* center[kAdmSignalRows][2];

  MaskRow row(int y) const {
    const auto& near = neighbors[y % kAdmNearRows];
    const auto& mid = center[y % kAdmSignalRows];
    return {{near[0], near[1]}, {mid[0], mid[1]}};
  }
};

/* The rows of a picture at a scale. */
struct PictureRows {
  std::byte* input[kAdmInputRows];  // band a of the scale before; scales 1 to 3
  std::byte* detail[kAdmBands];
};

/* The rows of an encode at a scale, viewed in one way. At scale 0 all views have the first one's restored and added
 * rows. */
struct ViewRows {
  std::byte* restored[kAdmSignalRows][kAdmBands];
  std::byte* added[kAdmSignalRows][kAdmBands];
  MaskMemory mask_of_added, mask_of_restored;
};

/* A scale and its rows. */
struct Level : AdmLevel {
  const AdmScale* scale;

  std::byte* scored;
  PictureRows* picture;  // the reference's, then every encode's
  ViewRows* view;        // of each encode, one for each view
};

struct Pyramid {
  Level level[kAdmScales];
  int16_t* passed[kAdmInputRows];  // a row after the vertical pass: low and high; from scale 1 on each in halves
  std::byte* unused;               // takes the last scale's band a
};

/* The size of a band's samples. */
size_t sample_bytes(int scale) { return scale == 0 ? sizeof(int16_t) : sizeof(int32_t); }

void place_mask(AdmRowMemory& memory, int w, bool fine, MaskMemory& mask) {
  const int parities = fine ? 2 : 1, samples = fine ? (w + 1) / 2 : w;
  for (auto& row : mask.neighbors)
    for (int parity = 0; parity < parities; parity++) row[parity] = memory.row<int32_t>(samples);
  for (auto& row : mask.center)
    for (int parity = 0; parity < parities; parity++) row[parity] = memory.row<int32_t>(samples);
}

PictureRows place_picture(AdmRowMemory& memory, const AdmScale& s, int index) {
  PictureRows rows = {};
  if (index > 0)
    for (std::byte*& row : rows.input) row = memory.bytes(s.in_w * (index == 1 ? sizeof(int16_t) : sizeof(int32_t)));
  for (std::byte*& row : rows.detail) row = memory.bytes(s.w * sample_bytes(index));
  return rows;
}

/* `first`: the rows of the encode's first view; null: this is the first. */
ViewRows place_view(AdmRowMemory& memory, const AdmScale& s, int index, const ViewRows* first) {
  ViewRows rows;
  if (first && index == 0) rows = *first;
  else
    for (auto* parts : {&rows.restored, &rows.added})
      for (auto& bands : *parts)
        for (std::byte*& row : bands) row = memory.bytes(s.w * sample_bytes(index));
  place_mask(memory, s.w, index == 0, rows.mask_of_added);
  place_mask(memory, s.w, index == 0, rows.mask_of_restored);
  return rows;
}

/* Places all rows; returns their bytes. */
size_t place_rows(const AdmParams& params, int encodes, std::byte* scratch, Pyramid& p) {
  AdmRowMemory memory(scratch);
  const size_t views = params.views.size();
  for (int16_t*& row : p.passed) row = memory.row<int16_t>(params.scale[0].in_w);
  p.unused = memory.bytes(params.scale[kAdmScales - 1].w * sizeof(int32_t));
  for (int i = 0; i < kAdmScales; i++) {
    const AdmScale& s = params.scale[i];
    Level& level = p.level[i];
    level.scored = memory.bytes(s.w * sample_bytes(i));
    level.picture = memory.row<PictureRows>(1 + encodes);
    level.view = memory.row<ViewRows>(encodes * views);
    for (int picture = 0; picture <= encodes; picture++) {
      const PictureRows rows = place_picture(memory, s, i);
      if (scratch) level.picture[picture] = rows;
    }
    ViewRows first;
    for (size_t view = 0; view < encodes * views; view++) {
      const bool is_first = view % views == 0;
      const ViewRows rows = place_view(memory, s, i, is_first ? nullptr : &first);
      if (is_first) first = rows;
      if (scratch) level.view[view] = rows;
    }
  }
  return memory.used();
}

template <class T>
void mark_scored(const Level& level) {
  const AdmScale& s = *level.scale;
  std::fill(reinterpret_cast<T*>(level.scored) + s.left, reinterpret_cast<T*>(level.scored) + s.right,
            static_cast<T>(-1));
}

/* Columns -1 and w of a mask's neighbors: 1 and w - 1. */
void mirror_mask(const MaskRow& row, int w, bool fine) {
  if (!fine) {
    row.neighbors[0][-1] = row.neighbors[0][1];
    row.neighbors[0][w] = row.neighbors[0][w - 1];
    return;
  }
  const auto at = [&](int column) -> int32_t& { return row.neighbors[column & 1][column >> 1]; };
  at(-1) = at(1);
  at(w) = at(w - 1);
}

}  // namespace
}  // namespace vmafx
#endif

HWY_BEFORE_NAMESPACE();
VMAFX_ALLOW_VNNI
namespace vmafx {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

/* One lane holds no pairs: a machine without vectors takes the definition. */
void adm(const AdmParams& params, const SamplePlane& ref, std::span<const SamplePlane> dist, std::byte* scratch,
         std::span<AdmSums* const> sums, const AdmBlocks* blocks) {
  for (size_t i = 0; i < dist.size(); i++) {
    if (blocks) adm_mapped_plain(params, ref, dist[i], scratch, *sums[i], *blocks);
    else adm_plain(params, ref, dist[i], scratch, *sums[i]);
  }
}

#else

template <class T>
T* samples(std::byte* row) {
  return reinterpret_cast<T*>(row);
}

/* `interval` with its begin on a whole vector of 16-bit lanes, which is two of 32-bit lanes. */
Interval aligned_down(Interval interval) {
  const int lanes = static_cast<int>(hn::Lanes(D16()));
  return {interval.begin / lanes * lanes, interval.end};
}

/* Has `work` done block by block and its sums, which must not be rounded, shared out to the row's blocks. `pick`: the
 * sums of a block, `sums`: those of the frame. */
template <class Sum, class Work, class Run, class Pick>
void run_blocks(Work& work, Sum*(Work::* to), const BlockGrid& grid, AdmBlockSums* row, int shift, Interval columns,
                Sum* sums, Run run, Pick pick) {
  RowParts<Sum> parts[kAdmBands] = {RowParts<Sum>(shift), RowParts<Sum>(shift), RowParts<Sum>(shift)};
  for (int x = columns.begin; x < columns.end;) {
    const int end = std::min(columns.end, (x / grid.side + 1) * grid.side);
    Sum terms[kAdmBands] = {};
    work.*to = terms;
    run(work, x, end);
    for (int band = 0; band < kAdmBands; band++) {
      const Sum part = parts[band].take(static_cast<uint64_t>(terms[band]));
      sums[band] += part;
      pick(row[x / grid.side])[band] += part;
    }
    x = end;
  }
}

/* One frame of the reference and of its encodes on their way through the scales. */
class Frame {
 public:
  /* `blocks`: of the one encode, viewed in one way; nullptr: not wanted. */
  Frame(const AdmParams& params, std::byte* scratch, std::span<AdmSums* const> sums, const AdmBlocks* blocks)
      : params_(params), sums_(sums), encodes_(static_cast<int>(sums.size())), blocks_(blocks) {
    for (int i = 0; i < kAdmScales; i++) {
      unrounded_[i] = params.scale[i];
      unrounded_[i].row_shift = unrounded_[i].den_row_shift = 0;
    }
    plan_adm_levels(params.scale, params.skip_scale0, p_.level);
    std::memset(scratch, 0, place_rows(params, encodes_, nullptr, p_));
    place_rows(params, encodes_, scratch, p_);
    mark_scored<int16_t>(p_.level[0]);
    for (int i = 1; i < kAdmScales; i++) mark_scored<int32_t>(p_.level[i]);
  }

  template <class T>
  void run(const SamplePlane& ref, std::span<const SamplePlane> dist) {
    Level& level = p_.level[0];
    for (int y = level.rows.begin; y < level.rows.end; y++) {
      transform_source(ref.as<T>(), y, 0);
      for (int encode = 0; encode < encodes_; encode++) transform_source(dist[encode].as<T>(), y, 1 + encode);
      finish_row(level, y);
    }
    for (AdmSums* of_encode : sums_)
      for (size_t view = 0; view < params_.views.size(); view++)
        if (AdmSums& sums = of_encode[view]; &sums != sums_[0])
          std::memcpy(sums.csf_den, sums_[0]->csf_den, sizeof(AdmSums::csf_den));
  }

 private:
  /* The place for row y of the band a of `level`. */
  std::byte* band_a(const Level& level, int picture, int y) const {
    const bool last = level.index + 1 == kAdmScales;
    return last ? p_.unused : p_.level[level.index + 1].picture[picture].input[y % kAdmInputRows];
  }

  template <class T>
  void transform_source(const Plane<const T>& plane, int y, int picture) {
    const Level& level = p_.level[0];
    const T* rows[kAdmInputRows];
    for (int tap = 0; tap < kAdmInputRows; tap++) rows[tap] = plane.row(adm_mirror(2 * y - 1 + tap, plane.h));
    const auto [x0, x1] = aligned_down(level.in_cols);
    /* Prefetches the samples that the next row of bands takes; in rows with details, decoupling does it. */
    for (int next = 0; next < 2; next++) {
      const int row = std::min(2 * y + 3 + next, plane.h - 1);
      if (level.detail_rows.contains(y)) ahead_[2 * picture + next] = Ahead(plane, row);
      else prefetch(plane.row(row) + x0, plane.row(row) + x1);
    }
    vertical_source<T>(rows, x0, x1, plane.w, params_.bpc, p_.passed[0], p_.passed[1]);
    mirror_ends(p_.passed[0], plane.w);
    mirror_ends(p_.passed[1], plane.w);
    const auto [band0, band1] = aligned_down(level.cols);
    std::byte* const* detail = level.picture[picture].detail;
    horizontal_fine(p_.passed[0], band0, band1, samples<int16_t>(band_a(level, picture, y)),
                    samples<int16_t>(detail[1]));
    if (!level.detail_rows.contains(y)) return;
    const auto [detail0, detail1] = aligned_down(level.detail_cols);
    horizontal_fine(p_.passed[1], detail0, detail1, samples<int16_t>(detail[0]), samples<int16_t>(detail[2]));
  }

  template <class T>
  void transform_rows(const Level& level, int y, int picture) {
    const AdmScale& s = *level.scale;
    const T* rows[kAdmInputRows];
    for (int tap = 0; tap < kAdmInputRows; tap++)
      rows[tap] = samples<T>(level.picture[picture].input[adm_mirror(2 * y - 1 + tap, s.in_h) % kAdmInputRows]);
    const auto [x0, x1] = aligned_down(level.in_cols);
    const SplitRow low = {p_.passed[0], p_.passed[1]}, high = {p_.passed[2], p_.passed[3]};
    vertical_coarse(rows, x0, x1, low, high);
    for (int16_t* row : p_.passed) mirror_ends(row, s.in_w);
    const auto [band0, band1] = aligned_down(level.cols);
    const auto [detail0, detail1] = aligned_down(level.detail_cols);
    std::byte* const* detail = level.picture[picture].detail;
    const auto horizontal = s.horizontal_shift == 15 ? horizontal_coarse<15> : horizontal_coarse<16>;
    horizontal(low, band0, band1, samples<int32_t>(band_a(level, picture, y)), samples<int32_t>(detail[1]));
    if (level.detail_rows.contains(y))
      horizontal(high, detail0, detail1, samples<int32_t>(detail[0]), samples<int32_t>(detail[2]));
  }

  /* Row y of all bands of `level` is there. */
  void finish_row(const Level& level, int y) {
    if (level.detail_rows.contains(y)) {
      if (level.index == 0) score_row<int16_t>(level, y);
      else score_row<int32_t>(level, y);
    }
    if (level.index + 1 < kAdmScales) advance(p_.level[level.index + 1], y);
  }

  /* Row y of the input of `level` is there: makes what can be made of it. */
  void advance(Level& level, int y) {
    while (level.is_ready(y, level.scale->in_h)) {
      const int row = level.next_row++;
      for (int picture = 0; picture <= encodes_; picture++) {
        if (level.index == 1) transform_rows<int16_t>(level, row, picture);
        else transform_rows<int32_t>(level, row, picture);
      }
      finish_row(level, row);
    }
  }

  template <class T>
  void score_row(const Level& level, int y) {
    const AdmScale& s = *level.scale;
    decouple_row<T>(level, y);
    const Interval scored = {s.top, s.bottom};
    if (scored.contains(y - 1)) mask_row<T>(level, y - 1);
    if (y == s.h - 1 && scored.contains(y)) mask_row<T>(level, y);
  }

  template <class T>
  void decouple_row(const Level& level, int y) {
    const AdmScale& s = *level.scale;
    EncodeRow<T> encodes[kMostEncodes];
    for (int i = 0; i < encodes_; i++) encodes[i] = encode_row<T>(level, y, i);
    RowWork<T> work = {};
    work.scale = &s;
    work.index = level.index;
    work.views = params_.views;
    work.measure_aim = params_.measure_aim;
    work.gain_limit = params_.gain_limit;
    work.row_scored = s.top <= y && y < s.bottom;
    work.scored = samples<T>(level.scored);
    for (int band = 0; band < kAdmBands; band++) work.ref[band] = samples<T>(level.picture[0].detail[band]);
    work.encodes = {encodes, sums_.size()};
    if (level.index == 0) work.ahead = {ahead_, 2 * (1 + sums_.size())};
    work.den = sums_[0]->csf_den[level.index];
    const auto [x0, x1] = aligned_down(level.detail_cols);
    const auto decouple = pick_decouple(work, level.index);
    if (blocks_ && work.row_scored) {
      work.scale = &unrounded_[level.index];
      run_blocks(work, &RowWork<T>::den, AdmBlocks::grid(s, level.index), blocks_of(level, y), s.den_row_shift,
                 {x0, x1}, work.den, decouple, [](AdmBlockSums& block) { return block.csf_den; });
    } else {
      decouple(work, x0, x1);
    }
    for (const EncodeRow<T>& encode : work.encodes)
      for (size_t view = 0; view < params_.views.size(); view++) {
        mirror_mask(encode.view[view].mask_of_added, s.w, level.index == 0);
        mirror_mask(encode.view[view].mask_of_restored, s.w, level.index == 0);
      }
  }

  /* The rows of an encode, viewed in one way. */
  const ViewRows& view_rows(const Level& level, int encode, size_t view) const {
    return level.view[static_cast<size_t>(encode) * params_.views.size() + view];
  }

  template <class T>
  EncodeRow<T> encode_row(const Level& level, int y, int encode) const {
    EncodeRow<T> row;
    for (int band = 0; band < kAdmBands; band++) row.dist[band] = samples<T>(level.picture[1 + encode].detail[band]);
    for (size_t view = 0; view < params_.views.size(); view++) {
      const ViewRows& rows = view_rows(level, encode, view);
      ViewRow<T>& to = row.view[view];
      for (int band = 0; band < kAdmBands; band++) {
        to.restored[band] = samples<T>(rows.restored[y % kAdmSignalRows][band]);
        to.added[band] = samples<T>(rows.added[y % kAdmSignalRows][band]);
      }
      to.mask_of_added = rows.mask_of_added.row(y);
      to.mask_of_restored = rows.mask_of_restored.row(y);
    }
    return row;
  }

  /* The blocks of a row of `level`. */
  AdmBlockSums* blocks_of(const Level& level, int y) const {
    return blocks_->scale[level.index] + AdmBlocks::grid(*level.scale, level.index).at(0, y);
  }

  bool whole_gain() const { return params_.gain_limit == static_cast<int>(params_.gain_limit); }

  /* Picks code for one encode that is viewed in one way, which keeps the reference's values in registers, or for
   * several. */
  template <class T>
  auto pick_decouple(const RowWork<T>& work, int index) const {
    const bool one = work.encodes.size() == 1 && work.views.size() == 1;
    return one ? pick_decouple_of<1>(work, index) : pick_decouple_of<std::dynamic_extent>(work, index);
  }
  template <size_t kCount>
  auto pick_decouple_of(const RowWork<int16_t>&, int) const {
    return whole_gain() ? decouple_fine<true, kCount> : decouple_fine<false, kCount>;
  }
  template <size_t kCount>
  auto pick_decouple_of(const RowWork<int32_t>&, int index) const {
    if (adm_den_square_shift(index) == 30)
      return whole_gain() ? decouple_coarse<true, kCount, 30> : decouple_coarse<false, kCount, 30>;
    return whole_gain() ? decouple_coarse<true, kCount, 31> : decouple_coarse<false, kCount, 31>;
  }

  template <class T>
  void mask_row(const Level& level, int y) {
    for (int encode = 0; encode < encodes_; encode++)
      for (size_t view = 0; view < params_.views.size(); view++) {
        const ViewRows& rows = view_rows(level, encode, view);
        const AdmView& viewed = params_.views[view];
        AdmSums& sums = sums_[encode][view];
        cm(masking_work<T>(level, y, viewed, rows.restored, rows.mask_of_added, sums.dlm[level.index]), level, y,
           [](AdmBlockSums& block) { return block.dlm; });
        if (params_.measure_aim)
          cm(masking_work<T>(level, y, viewed, rows.added, rows.mask_of_restored, sums.aim[level.index]), level, y,
             [](AdmBlockSums& block) { return block.aim; });
      }
  }

  template <class T>
  MaskingWork<T> masking_work(const Level& level, int y, const AdmView& view,
                              std::byte* const (&signal)[kAdmSignalRows][kAdmBands], const MaskMemory& mask,
                              int64_t* sums) const {
    const AdmScale& s = *level.scale;
    MaskingWork<T> work = {};
    work.scale = &s;
    work.rfactor = view.rfactor[level.index];
    work.scored = samples<T>(level.scored);
    for (int band = 0; band < kAdmBands; band++) work.signal[band] = samples<T>(signal[y % kAdmSignalRows][band]);
    const MaskRow above = mask.row(adm_mirror(y - 1, s.h)), here = mask.row(y),
                  below = mask.row(adm_mirror(y + 1, s.h));
    for (int parity = 0; parity < 2; parity++) {
      work.above[parity] = above.neighbors[parity];
      work.here[parity] = here.neighbors[parity];
      work.below[parity] = below.neighbors[parity];
      work.center[parity] = here.center[parity];
    }
    work.sums = sums;
    return work;
  }

  /* `pick`: the sums of a block. */
  template <class T, class Pick>
  void cm(MaskingWork<T> work, const Level& level, int y, Pick pick) const {
    const AdmScale& s = *level.scale;
    const Interval columns = aligned_down({s.left, s.right});
    if (!blocks_) return cm_columns(work, columns.begin, columns.end);
    work.scale = &unrounded_[level.index];
    run_blocks(
        work, &MaskingWork<T>::sums, AdmBlocks::grid(s, level.index), blocks_of(level, y), s.row_shift, columns,
        work.sums, [](const MaskingWork<T>& some, int x0, int x1) { cm_columns(some, x0, x1); }, pick);
  }
  static void cm_columns(const MaskingWork<int16_t>& work, int x0, int x1) { cm_fine(work, x0, x1); }
  static void cm_columns(const MaskingWork<int32_t>& work, int x0, int x1) { cm_coarse(work, x0, x1); }

  const AdmParams& params_;
  const std::span<AdmSums* const> sums_;
  const int encodes_;
  const AdmBlocks* const blocks_;
  AdmScale unrounded_[kAdmScales];  // those of params_, whose rows' sums are rounded elsewhere
  Pyramid p_ = {};
  Ahead ahead_[2 * (1 + kMostEncodes)];  // samples of each picture that the next row of bands takes
};

void adm(const AdmParams& params, const SamplePlane& ref, std::span<const SamplePlane> dist, std::byte* scratch,
         std::span<AdmSums* const> sums, const AdmBlocks* blocks) {
  Frame frame(params, scratch, sums, blocks);
  if (params.bpc == 8) frame.run<uint8_t>(ref, dist);
  else frame.run<uint16_t>(ref, dist);
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(adm);

size_t adm_encodes_scratch_bytes_simd(const AdmParams& params, int encodes) {
  Pyramid pyramid;
  if (runnable_cpu_targets().front() == HWY_SCALAR) return adm_scratch_bytes_plain(params);
  return place_rows(params, encodes, nullptr, pyramid);
}

size_t adm_scratch_bytes_simd(const AdmParams& params) { return adm_encodes_scratch_bytes_simd(params, 1); }

void adm_encodes_simd(const AdmParams& params, const SamplePlane& ref, std::span<const SamplePlane> dist,
                      std::byte* scratch, std::span<AdmSums* const> sums) {
  HWY_DYNAMIC_DISPATCH(adm)(params, ref, dist, scratch, sums, nullptr);
}

void adm_simd(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
              AdmSums& sums) {
  AdmSums* const only = &sums;
  adm_encodes_simd(params, ref, {&dist, 1}, scratch, {&only, 1});
}

void adm_mapped_simd(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                     AdmSums& sums, const AdmBlocks& blocks) {
  AdmSums* const only = &sums;
  HWY_DYNAMIC_DISPATCH(adm)(params, ref, {&dist, 1}, scratch, {&only, 1}, &blocks);
}

}  // namespace vmafx
#endif
