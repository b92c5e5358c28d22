/* The SIMD twin of cvvdp: one source for every instruction set, equal to cvvdp_plain.cpp to the last bit.
 *
 * Planes are filtered in time and reduced row by row. Then a band is taken in strips of columns: a row of it gives what
 * both pictures have in common and how they differ, and as soon as there are the rows around one, blurred down and
 * along they give its masked difference.
 *
 * The pyramids of the reference are made once for all encodes. */
#include "kernels/cvvdp/cvvdp.h"

#include <algorithm>

#include "kernels/cvvdp/cvvdp_rows.h"
#include "kernels/steps/mirror.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cvvdp/cvvdp_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cvvdp/cvvdp_math-inl.h"
#include "kernels/steps/rows-inl.h"

HWY_BEFORE_NAMESPACE();
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC optimize("schedule-insns", "sched-pressure")  // see ciede_simd.cpp
#endif
namespace vmafx::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* No vectors here: the definition does it. */
void convert(const CvvdpParams& params, const Picture& picture, float* converted) {
  cvvdp_convert_plain(params, picture, converted);
}
size_t scratch_bytes(const CvvdpParams& params) { return cvvdp_scratch_bytes_plain(params); }
void extract(const CvvdpParams& params, CvvdpPictures ref, std::span<const CvvdpPictures> dists, std::byte* scratch,
             std::span<CvvdpSums* const> sums) {
  for (size_t i = 0; i < dists.size(); i++) cvvdp_plain(params, ref, dists[i], scratch, *sums[i]);
}

#else

// -- Conversion ------------------------------------------------------------------------------------------------------

/* Four times the chroma between two rows. The ends are repeated. */
template <class T>
HWY_INLINE void chroma_between_rows(const CvvdpDisplay& display, const Plane<const T>& plane, const ChromaTaps& rows,
                                    float* below, float* out) {
  samples_to_floats(plane.row(rows.first), plane.w, 1, out);
  samples_to_floats(plane.row(rows.second), plane.w, 1, below);
  const float least = static_cast<float>(display.least_chroma), most = static_cast<float>(display.most_chroma);
  const Real first(static_cast<float>(4 - rows.weight)), second(static_cast<float>(rows.weight));
  for (int i = 0; i < plane.w; i += lanes())
    store(bounded(load(out + i), least, most) * first + bounded(load(below + i), least, most) * second, out + i);
  out[-1] = out[0];
  out[plane.w] = out[plane.w + 1] = out[plane.w - 1];
}

/* 16 times the chroma of a row, less that of neutral colors. All of it is exact. */
template <class T>
HWY_INLINE void chroma_row(const CvvdpParams& params, const Plane<const T>& plane, int y,
                           const CvvdpConversionLines& lines, float* out) {
  chroma_between_rows(params.display, plane, params.down.taps(y, plane.h), lines.below, lines.rows);
  const Real neutral(static_cast<float>(params.display.neutral_chroma));
  if (!params.across.halved) {
    for (int i = 0; i < params.w; i += lanes()) store(load(lines.rows + i) * Real(4) - neutral, out + i);
    return;
  }
  const float offset = static_cast<float>(params.across.offset);
  const Real before(offset), at_even(4 - offset), at_odd(2 + offset), after(2 - offset);
  for (int i = 0; 2 * i < params.w; i += lanes()) {
    const Real at = load(lines.rows + i);
    const Real even = load(lines.rows + i - 1) * before + at * at_even,
               odd = at * at_odd + load(lines.rows + i + 1) * after;
    hn::StoreInterleaved2((even - neutral).v, (odd - neutral).v, DF(), out + 2 * i);
  }
}

template <class T>
void convert_depth(const CvvdpParams& params, const Picture& picture, float* converted) {
  const CvvdpConversionLines lines(params);
  const size_t pitch = row_pitch(static_cast<size_t>(params.w)), plane = pitch * static_cast<size_t>(params.h);
  for (float* chroma : lines.chroma) std::fill_n(chroma, params.w + kRowSlack, 0.0f);
  for (int y = 0; y < params.h; y++) {
    samples_to_floats(picture.plane[0].as<T>().row(y), params.w, 1, lines.luma);
    for (int i = 0; params.has_chroma && i < 2; i++)
      chroma_row(params, picture.plane[1 + i].as<T>(), y, lines, lines.chroma[i]);
    float* const out = converted + static_cast<size_t>(y) * pitch;
    for (int x = 0; x < params.w; x += lanes()) {
      const CvvdpColor color =
          seen(params.display, load(lines.luma + x), load(lines.chroma[0] + x), load(lines.chroma[1] + x));
      for (size_t i = 0; i < kCvvdpPlanes; i++) store(color.of[i], out + i * plane + x);
    }
  }
}

void convert(const CvvdpParams& params, const Picture& picture, float* converted) {
  if (params.bpc == 8) convert_depth<uint8_t>(params, picture, converted);
  else convert_depth<uint16_t>(params, picture, converted);
}

// -- Channels --------------------------------------------------------------------------------------------------------

/* All channels of a row. */
void filter_row(const CvvdpParams& params, CvvdpPictures pictures, int y, const Plane<float> (&out)[kCvvdpChannels]) {
  const float* rows[kCvvdpMostTaps][kCvvdpPlanes];
  for (int k = 0; k < params.taps; k++)
    for (int p = 0; p < kCvvdpPlanes; p++) rows[k][p] = cvvdp_row(params, pictures, k, p, y);
  for (int x = 0; x < params.w; x += lanes()) {
    Real sums[kCvvdpChannels] = {Real(0), Real(0), Real(0), Real(0)};
    for (int k = 0; k < params.taps; k++) {
      const Real light = load(rows[k][0] + x);
      sums[0] += light * Real(params.filter[0][k]);
      sums[1] += load(rows[k][1] + x) * Real(params.filter[1][k]);
      sums[2] += load(rows[k][2] + x) * Real(params.filter[2][k]);
      sums[3] += light * Real(params.filter[3][k]);
    }
    for (int c = 0; c < kCvvdpChannels; c++) store(sums[c], out[c].row(y) + x);
  }
}

// -- Pyramid ---------------------------------------------------------------------------------------------------------

void reduce(const Plane<float>& in, float* line, const Plane<float>& out) {
  for (int y = 0; y < out.h; y++) {
    const float* rows[5];
    for (int k = 0; k < 5; k++) rows[k] = in.row(mirror_repeated(2 * y + k - 2, in.h));
    for (int x = 0; x < in.w; x += lanes())
      store(reduced(load(rows[0] + x), load(rows[1] + x), load(rows[2] + x), load(rows[3] + x), load(rows[4] + x)),
            line + x);
    cvvdp_extend_to_reduce(line, in.w, in.h);
    for (int x = 0; x < out.w; x += lanes()) {
      VF even[3], odd[3];
      for (int k = 0; k < 3; k++) hn::LoadInterleaved2(DF(), line + 2 * x + 2 * k - 2, even[k], odd[k]);
      store(reduced(even[0], odd[0], even[1], odd[1], even[2]), out.row(y) + x);
    }
  }
}

/* Columns `from`, an even one, to `to` - 1 of row y of twice the level's size. */
HWY_INLINE void expand_row(const Plane<float>& level, int y, int from, int to, float* half_line, float* out) {
  const int at = y / 2, last_row = level.h - 1, first = from / 2;
  const float *before = level.row(std::max(at - 1, 0)), *middle = level.row(at),
              *after = level.row(std::min(at + 1, last_row));
  const int begin = std::max(first - 1, 0), end = std::min((to + 1) / 2 + 1, level.w);
  float* const line = half_line - first;  // by the level's columns
  for (int x = begin; x < end; x += lanes())
    store(y % 2 ? expanded_between(load(middle + x), load(after + x))
                : expanded_at(load(before + x), load(middle + x), load(after + x)),
          line + x);
  if (begin == first) line[first - 1] = line[first];
  if (end == level.w) line[level.w] = line[level.w - 1];
  for (int i = 0; from + 2 * i < to; i += lanes()) {
    const Real value = load(half_line + i), next = load(half_line + i + 1);
    hn::StoreInterleaved2(expanded_at(load(half_line + i - 1), value, next).v, expanded_between(value, next).v, DF(),
                          out + 2 * i);
  }
}

// -- A strip of a band -----------------------------------------------------------------------------------------------

HWY_INLINE Real blurred(const CvvdpParams& params, const float* at) {
  Real sum = load(at) * Real(params.blur[0]);
  VMAFX_UNROLL
  for (int k = 1; k <= kCvvdpBlurReach; k++) sum += (load(at - k) + load(at + k)) * Real(params.blur[k]);
  return sum;
}

using BandSums = FixedSum2<8>[kCvvdpChannels];

struct Strip {
  const CvvdpParams& params;
  const CvvdpBand& band;
  const CvvdpLevel &level, &next;
  const CvvdpMemory& memory;
  int x0, x1;    // columns whose differences are pooled
  int from, to;  // columns read for them: the memory's rows begin at `from`
  bool is_blurred;

  float* ring_row(const Plane<float>& ring, int y) const { return ring.row(y % kCvvdpRing); }

  void perceive(int y) const {
    for (int side = 0; side < kCvvdpSides; side++)
      for (int c = 0; c < kCvvdpChannels; c++)
        expand_row(next.of[side][c], y, from, to, memory.half_line, memory.expanded[side][c]);
    for (int i = 0; i < to - from; i += lanes()) {
      const Real base[] = {background(load(memory.expanded[0][0] + i)), background(load(memory.expanded[1][0] + i))};
      const Real inverse[] = {Real(1) / base[0], Real(1) / base[1]};
      const CvvdpPlace place = place_of(params, base[0]);
      for (int c = 0; c < kCvvdpChannels; c++) {
        const Real s = sensitivity(band.sensitivity[c], place);
        const auto perceived = [&](int side) HWY_ATTR {
          return contrast(load(level.of[side][c].row(y) + from + i) - load(memory.expanded[side][c] + i),
                          inverse[side]) *
                 s;
        };
        const Real ref = perceived(0), test = perceived(1);
        store(visible_difference(params, test - ref), ring_row(memory.difference[c], y) + i);
        store(common_contrast(test, ref), ring_row(memory.common[c], y) + i);
      }
    }
  }

  /* Blurs down the contrasts by which a channel hides differences, along the row; at the band's own ends they are
   * mirrored. */
  void blur_down(int c, int y) const {
    const float* rows[kCvvdpRing];
    for (int k = 0; k < kCvvdpRing; k++)
      rows[k] = ring_row(memory.common[c], is_blurred ? mirror(y + k - kCvvdpBlurReach, band.h) : y);
    const float* const* at = rows + kCvvdpBlurReach;
    float* const out = memory.masks[c];
    for (int i = 0; i < to - from; i += lanes()) {
      Real sum = load(at[0] + i);
      if (is_blurred) {
        sum = sum * Real(params.blur[0]);
        for (int k = 1; k <= kCvvdpBlurReach; k++) sum += (load(at[-k] + i) + load(at[k] + i)) * Real(params.blur[k]);
      }
      store(sum, out + i);
    }
    for (int k = 1; is_blurred && k <= kCvvdpBlurReach; k++) {
      if (from == 0) out[-k] = out[k];
      if (to == band.w) out[band.w - from - 1 + k] = out[band.w - from - 1 - k];
    }
  }

  void pool(int y, BandSums& sums) const {
    for (int c = 0; c < kCvvdpChannels; c++) blur_down(c, y);
    for (int i = x0 - from; i < x1 - from; i += lanes()) {
      const int count = x1 - from - i;
      Real masks[kCvvdpChannels];
      for (int c = 0; c < kCvvdpChannels; c++) {
        const float* const at = memory.masks[c] + i;
        masks[c] = mask_of(params, c, (is_blurred ? blurred(params, at) : load(at)) * Real(params.blur_gain));
      }
      for (int c = 0; c < kCvvdpChannels; c++) {
        const Real difference = load(ring_row(memory.difference[c], y) + i);
        const Real term = pooled_term(masked_difference(params, c, difference, masks));
        sums[c].add(count < lanes() ? Real(hn::IfThenElseZero(hn::FirstN(DF(), static_cast<size_t>(count)), term.v))
                                    : term);
      }
    }
  }

  void run(BandSums& sums) const {
    for (int y = 0; y < band.h + kCvvdpBlurReach; y++) {
      if (y < band.h) perceive(y);
      if (y >= kCvvdpBlurReach) pool(y - kCvvdpBlurReach, sums);
    }
  }
};

void extract_band(const CvvdpParams& params, int b, const CvvdpMemory& memory, CvvdpBandSums& sums) {
  const CvvdpBand& band = params.band[b];
  const bool is_blurred = cvvdp_is_blurred(band.w, band.h);
  BandSums of_band;
  for (int x0 = 0; x0 < band.w; x0 += kCvvdpStrip) {
    const int x1 = std::min(x0 + kCvvdpStrip, band.w);
    Strip{params,
          band,
          memory.level[b],
          memory.level[b + 1],
          memory,
          x0,
          x1,
          std::max(x0 - kCvvdpOverlap, 0),
          std::min(x1 + kCvvdpOverlap, band.w),
          is_blurred}
        .run(of_band);
  }
  for (int c = 0; c < kCvvdpChannels; c++) sums.of[c] += of_band[c].total();
}

size_t scratch_bytes(const CvvdpParams& params) { return CvvdpMemory(params, nullptr).bytes(); }

/* All levels of the channels of one side. */
void make_levels(const CvvdpParams& params, CvvdpPictures pictures, int side, const CvvdpMemory& memory) {
  for (int y = 0; y < params.h; y++) filter_row(params, pictures, y, memory.level[0].of[side]);
  for (int b = 1; b < params.bands; b++)
    for (int c = 0; c < kCvvdpChannels; c++)
      reduce(memory.level[b - 1].of[side][c], memory.line, memory.level[b].of[side][c]);
}

void extract(const CvvdpParams& params, CvvdpPictures ref, std::span<const CvvdpPictures> dists, std::byte* scratch,
             std::span<CvvdpSums* const> sums) {
  const CvvdpMemory memory(params, scratch);
  make_levels(params, ref, 0, memory);
  for (size_t i = 0; i < dists.size(); i++) {
    make_levels(params, dists[i], 1, memory);
    for (int b = 0; b + 1 < params.bands; b++) extract_band(params, b, memory, sums[i]->band[b]);
    cvvdp_base(params, memory.level[params.bands - 1], sums[i]->band[params.bands - 1]);
  }
}

#endif

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(convert);
HWY_EXPORT(extract);
HWY_EXPORT(scratch_bytes);

void cvvdp_convert_simd(const CvvdpParams& params, const Picture& picture, float* converted) {
  HWY_DYNAMIC_DISPATCH(convert)(params, picture, converted);
}

size_t cvvdp_scratch_bytes_simd(const CvvdpParams& params) { return HWY_DYNAMIC_DISPATCH(scratch_bytes)(params); }

void cvvdp_simd(const CvvdpParams& params, CvvdpPictures ref, std::span<const CvvdpPictures> dists, std::byte* scratch,
                std::span<CvvdpSums* const> sums) {
  HWY_DYNAMIC_DISPATCH(extract)(params, ref, dists, scratch, sums);
}

}  // namespace vmafx
#endif
