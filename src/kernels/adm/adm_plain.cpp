/* ADM, the definition: plain loops over whole planes, in the order of the equations. Every other twin answers to it. */
#include <algorithm>

#include "kernels/adm/adm.h"
#include "kernels/steps/scratch.h"

namespace vmafx {
namespace {

/* A plane for each detail band. */
using Details = Plane<int32_t>[kAdmBands];

/* The bands of one picture at one scale. */
struct Bands {
  Plane<int32_t> a;  // low-pass both ways: the next scale's picture
  Details detail;
};

/* All planes of a scale. */
struct Planes {
  Bands ref, dist;
  Details restored, added, weighted_restored, weighted_added;
  int32_t* low;  // one row after the vertical pass
  int32_t* high;
};

/* Hands out the planes of a scale; the a-bands alternate between two places, for one scale reads the last. */
class PlaneMemory {
 public:
  PlaneMemory(const AdmParams& params, std::byte* memory) : params_(params), memory_(memory) {}

  Planes planes(int index) {
    const AdmExtent &first = params_.scale[0], &scale = params_.scale[index];
    Scratch scratch(memory_);
    const auto take = [&](const AdmExtent& of) { return scratch.take_plane<int32_t>(of.w, of.h); };
    const Plane<int32_t> a[2][2] = {{take(first), take(first)}, {take(first), take(first)}};
    Planes p;
    p.ref.a = resized(a[index % 2][0], scale);
    p.dist.a = resized(a[index % 2][1], scale);
    for (Details* details :
         {&p.ref.detail, &p.dist.detail, &p.restored, &p.added, &p.weighted_restored, &p.weighted_added})
      for (Plane<int32_t>& plane : *details) plane = take(scale);
    p.low = scratch.take<int32_t>(first.in_w);
    p.high = scratch.take<int32_t>(first.in_w);
    bytes_ = scratch.bytes();
    return p;
  }
  size_t bytes() const { return bytes_; }  // of the last planes()

 private:
  static Plane<int32_t> resized(const Plane<int32_t>& plane, const AdmExtent& to) {
    return {plane.data, plane.stride, to.w, to.h};
  }

  const AdmParams& params_;
  std::byte* const memory_;
  size_t bytes_ = 0;
};

/* One level of the wavelet transform of `in`, whose samples have `center` taken off. */
template <class T>
void dwt2(const Plane<const T>& in, int32_t center, const AdmScale& scale, int32_t* low, int32_t* high,
          const Bands& out) {
  for (int y = 0; y < scale.h; y++) {
    const T* rows[4];
    for (int tap = 0; tap < 4; tap++) rows[tap] = in.row(adm_mirror(2 * y - 1 + tap, scale.in_h));
    for (int x = 0; x < scale.in_w; x++) {
      int32_t s[4];
      for (int tap = 0; tap < 4; tap++) s[tap] = static_cast<int32_t>(rows[tap][x]) - center;
      low[x] = static_cast<int32_t>(adm_round_shift(adm_low_pass(s[0], s[1], s[2], s[3]), scale.vertical_shift));
      high[x] = static_cast<int32_t>(adm_round_shift(adm_high_pass(s[0], s[1], s[2], s[3]), scale.vertical_shift));
    }
    for (int x = 0; x < scale.w; x++) {
      int at[4];
      for (int tap = 0; tap < 4; tap++) at[tap] = adm_mirror(2 * x - 1 + tap, scale.in_w);
      const auto across = [&](auto filter, const int32_t* row) {
        const int64_t sum = filter(row[at[0]], row[at[1]], row[at[2]], row[at[3]]);
        return static_cast<int32_t>(adm_round_shift(sum, scale.horizontal_shift));
      };
      out.a.row(y)[x] = across(adm_low_pass, low);
      out.detail[0].row(y)[x] = across(adm_low_pass, high);
      out.detail[1].row(y)[x] = across(adm_high_pass, low);
      out.detail[2].row(y)[x] = across(adm_high_pass, high);
    }
  }
}

void decouple(const AdmScale& scale, double gain_limit, const Planes& p) {
  for (int y = 0; y < scale.h; y++) {
    for (int x = 0; x < scale.w; x++) {
      const auto o = [&](int band) { return p.ref.detail[band].row(y)[x]; };
      const auto t = [&](int band) { return p.dist.detail[band].row(y)[x]; };
      const bool aligned = adm_aligned(o(0), o(1), t(0), t(1));
      for (int band = 0; band < kAdmBands; band++) {
        const int32_t restored = adm_restored(o(band), t(band), aligned, gain_limit);
        p.restored[band].row(y)[x] = restored;
        p.added[band].row(y)[x] = adm_wrap_sub(t(band), restored);
      }
    }
  }
}

void csf(const AdmScale& scale, int index, const AdmView& view, const Plane<int32_t> (&in)[kAdmBands],
         const Plane<int32_t> (&out)[kAdmBands]) {
  for (int band = 0; band < kAdmBands; band++)
    for (int y = 0; y < scale.h; y++)
      for (int x = 0; x < scale.w; x++)
        out[band].row(y)[x] = index == 0 ? adm_csf_fine(band, view.rfactor[index][band], in[band].row(y)[x])
                                         : adm_csf_coarse(view.rfactor[index][band], in[band].row(y)[x]);
}

/* Adds a row's terms up and rounds their sum: to `total`, and block by block to `blocks`, if there are any. */
template <class Sum, class Term>
void add_row(const AdmScale& scale, int index, int y, int shift, const AdmBlocks* blocks,
             Sum (AdmBlockSums::*member)[kAdmBands], int band, Sum& total, Term term) {
  const BlockGrid grid = AdmBlocks::grid(scale, index);
  RowParts<Sum> parts(shift);
  for (int x = scale.left; x < scale.right;) {
    const int end = std::min(scale.right, (x / grid.side + 1) * grid.side);
    const size_t block = grid.at(x, y);
    uint64_t terms = 0;
    for (; x < end; x++) terms += term(x);
    const Sum part = parts.take(terms);
    total += part;
    if (blocks) (blocks->scale[index][block].*member)[band] += part;
  }
}

void csf_den(const AdmScale& scale, int index, const Bands& ref, uint64_t (&sums)[kAdmBands], const AdmBlocks* blocks) {
  for (int band = 0; band < kAdmBands; band++)
    for (int y = scale.top; y < scale.bottom; y++)
      add_row(scale, index, y, scale.den_row_shift, blocks, &AdmBlockSums::csf_den, band, sums[band],
              [&](int x) { return adm_den_cube(index, ref.detail[band].row(y)[x], scale.den_cube_shift); });
}

/* The visibility threshold at (x, y): means of the masking picture's weighted magnitudes, over the 3x3 window and all
 * bands. */
uint32_t threshold(const AdmScale& scale, int index, const Plane<int32_t> (&masking)[kAdmBands], int x, int y) {
  uint32_t sum = 0;
  for (int band = 0; band < kAdmBands; band++) {
    for (int dy = -1; dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        const int32_t weighted = masking[band].row(adm_mirror(y + dy, scale.h))[adm_mirror(x + dx, scale.w)];
        const bool center = dx == 0 && dy == 0;
        if (index == 0) sum += static_cast<uint32_t>(center ? adm_center_fine(weighted) : adm_neighbor_fine(weighted));
        else sum += static_cast<uint32_t>(center ? adm_center_coarse(weighted) : adm_neighbor_coarse(weighted));
      }
    }
  }
  return sum;
}

/* Cubes of what `signal` exceeds the threshold set by `masking`, weighted, by. */
void cm(const AdmScale& scale, int index, const AdmView& view, const Plane<int32_t> (&signal)[kAdmBands],
        const Plane<int32_t> (&masking)[kAdmBands], int64_t (&sums)[kAdmBands], const AdmBlocks* blocks,
        int64_t (AdmBlockSums::*member)[kAdmBands]) {
  for (int band = 0; band < kAdmBands; band++)
    for (int y = scale.top; y < scale.bottom; y++)
      add_row(scale, index, y, scale.row_shift, blocks, member, band, sums[band], [&](int x) {
        const uint32_t limit = threshold(scale, index, masking, x, y);
        const int32_t value = signal[band].row(y)[x];
        const uint32_t rfactor = view.rfactor[index][band];
        const int32_t weighted = index == 0 ? adm_wrap_mul(rfactor, value) : adm_csf_coarse(rfactor, value);
        return static_cast<uint64_t>(adm_masked_cube(adm_wrap_abs(weighted), limit << adm_threshold_shift(index, band),
                                                     adm_square_shift(index, band), scale.cube_shift[band]));
      });
}

void score_view(const AdmParams& params, int index, const AdmView& view, const Planes& p, AdmSums& sums,
                const AdmBlocks* blocks) {
  const AdmScale& scale = params.scale[index];
  csf(scale, index, view, p.added, p.weighted_added);
  cm(scale, index, view, p.restored, p.weighted_added, sums.dlm[index], blocks, &AdmBlockSums::dlm);
  if (!params.measure_aim) return;
  csf(scale, index, view, p.restored, p.weighted_restored);
  cm(scale, index, view, p.added, p.weighted_restored, sums.aim[index], blocks, &AdmBlockSums::aim);
}

/* `sums`: one for each view. */
void score_scale(const AdmParams& params, int index, const Planes& p, AdmSums* sums, const AdmBlocks* blocks) {
  const AdmScale& scale = params.scale[index];
  decouple(scale, params.gain_limit, p);
  for (size_t i = 0; i < params.views.size(); i++) {
    csf_den(scale, index, p.ref, sums[i].csf_den[index], blocks);
    score_view(params, index, params.views[i], p, sums[i], blocks);
  }
}

template <class T>
void run_scales(const AdmParams& params, const Plane<const T>& ref, const Plane<const T>& dist, std::byte* scratch,
                AdmSums* sums, const AdmBlocks* blocks) {
  PlaneMemory memory(params, scratch);
  const int32_t center = 1 << (params.bpc - 1);
  const Planes first = memory.planes(0);
  dwt2(ref, center, params.scale[0], first.low, first.high, first.ref);
  dwt2(dist, center, params.scale[0], first.low, first.high, first.dist);
  if (!params.skip_scale0) score_scale(params, 0, first, sums, blocks);

  Planes last = first;
  for (int index = 1; index < kAdmScales; index++) {
    const Planes p = memory.planes(index);
    dwt2(last.ref.a.to_read(), 0, params.scale[index], p.low, p.high, p.ref);
    dwt2(last.dist.a.to_read(), 0, params.scale[index], p.low, p.high, p.dist);
    score_scale(params, index, p, sums, blocks);
    last = p;
  }
}

void run(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch, AdmSums* sums,
         const AdmBlocks* blocks) {
  if (params.bpc == 8) run_scales(params, ref.as<uint8_t>(), dist.as<uint8_t>(), scratch, sums, blocks);
  else run_scales(params, ref.as<uint16_t>(), dist.as<uint16_t>(), scratch, sums, blocks);
}

}  // namespace

size_t adm_scratch_bytes_plain(const AdmParams& params) {
  PlaneMemory memory(params, nullptr);
  memory.planes(0);
  return memory.bytes();
}

void adm_plain(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               AdmSums& sums) {
  run(params, ref, dist, scratch, &sums, nullptr);
}

void adm_mapped_plain(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                      AdmSums& sums, const AdmBlocks& blocks) {
  run(params, ref, dist, scratch, &sums, &blocks);
}

}  // namespace vmafx
