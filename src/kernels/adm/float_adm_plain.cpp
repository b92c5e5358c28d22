/* float_adm, the definition: plain loops over whole planes, in the order of the equations. Every other twin answers to
 * it. */
#include "kernels/adm/float_adm.h"
#include "kernels/adm/float_adm_math-inl.h"
#include "kernels/arithmetic/fixed.h"
#include "kernels/steps/row_sums.h"
#include "kernels/steps/scratch.h"

namespace vmafx {
namespace {

/* A plane for each detail band. */
using Details = Plane<float>[kAdmBands];

struct Bands {
  Plane<float> a;  // low-pass both ways: the next scale's picture
  Details detail;
};

struct Planes {
  Plane<float> source;
  Bands ref, dist;
  Details restored, added, weighted_restored, weighted_added;
  Details share_of_restored, share_of_added;
  float *low, *high;  // a row after the vertical pass
};

/* Hands out the planes of a scale; the a-bands alternate between two places, for one scale reads the last. */
class PlaneMemory {
 public:
  PlaneMemory(const FloatAdmParams& params, std::byte* memory) : params_(params), memory_(memory) {}

  Planes planes(int index) {
    const AdmExtent &first = params_.scale[0], &scale = params_.scale[index];
    Scratch scratch(memory_);
    const auto take = [&](int w, int h) { return scratch.take_plane<float>(w, h); };
    Planes p;
    p.source = take(first.in_w, first.in_h);
    const Plane<float> a[2][2] = {{take(first.w, first.h), take(first.w, first.h)},
                                  {take(first.w, first.h), take(first.w, first.h)}};
    p.ref.a = resized(a[index % 2][0], scale);
    p.dist.a = resized(a[index % 2][1], scale);
    for (Details* details : {&p.ref.detail, &p.dist.detail, &p.restored, &p.added, &p.weighted_restored,
                             &p.weighted_added, &p.share_of_restored, &p.share_of_added})
      for (Plane<float>& plane : *details) plane = take(scale.w, scale.h);
    p.low = scratch.take<float>(first.in_w);
    p.high = scratch.take<float>(first.in_w);
    bytes_ = scratch.bytes();
    return p;
  }
  size_t bytes() const { return bytes_; }  // of the last planes()

 private:
  static Plane<float> resized(const Plane<float>& plane, const AdmExtent& to) {
    return {plane.data, plane.stride, to.w, to.h};
  }

  const FloatAdmParams& params_;
  std::byte* const memory_;
  size_t bytes_ = 0;
};

/* Samples scaled to 8 bits and centered. */
template <class T>
void load(const Plane<const T>& from, int bpc, const Plane<float>& to) {
  const float scale = 1.0f / (1 << (bpc - 8));
  for (int y = 0; y < to.h; y++)
    for (int x = 0; x < to.w; x++) to.row(y)[x] = from.row(y)[x] * scale - 128;
}

void dwt2(const Plane<float>& in, float* low, float* high, const Bands& out) {
  for (int y = 0; y < out.a.h; y++) {
    const float* rows[4];
    for (int tap = 0; tap < 4; tap++) rows[tap] = in.row(adm_mirror(2 * y - 1 + tap, in.h));
    for (int x = 0; x < in.w; x++) {
      low[x] = float_adm_low_pass(rows[0][x], rows[1][x], rows[2][x], rows[3][x]);
      high[x] = float_adm_high_pass(rows[0][x], rows[1][x], rows[2][x], rows[3][x]);
    }
    for (int x = 0; x < out.a.w; x++) {
      int at[4];
      for (int tap = 0; tap < 4; tap++) at[tap] = adm_mirror(2 * x - 1 + tap, in.w);
      const auto across = [&](auto filter, const float* row) {
        return filter(row[at[0]], row[at[1]], row[at[2]], row[at[3]]);
      };
      out.a.row(y)[x] = across(float_adm_low_pass, low);
      out.detail[0].row(y)[x] = across(float_adm_low_pass, high);
      out.detail[1].row(y)[x] = across(float_adm_high_pass, low);
      out.detail[2].row(y)[x] = across(float_adm_high_pass, high);
    }
  }
}

void decouple(const AdmExtent& scale, double gain_limit, const Planes& p) {
  for (int y = 0; y < scale.h; y++) {
    for (int x = 0; x < scale.w; x++) {
      const auto o = [&](int band) { return p.ref.detail[band].row(y)[x]; };
      const auto t = [&](int band) { return p.dist.detail[band].row(y)[x]; };
      const bool aligned = float_adm_aligned(o(0), o(1), t(0), t(1));
      for (int band = 0; band < kAdmBands; band++) {
        const float restored = float_adm_restored(o(band), t(band), aligned, gain_limit);
        p.restored[band].row(y)[x] = restored;
        p.added[band].row(y)[x] = t(band) - restored;
      }
    }
  }
}

void csf(const FloatAdmScale& scale, const Details& in, const Details& weighted, const Details& share) {
  for (int band = 0; band < kAdmBands; band++) {
    for (int y = 0; y < scale.h; y++) {
      for (int x = 0; x < scale.w; x++) {
        weighted[band].row(y)[x] = float_adm_weighted(in[band].row(y)[x], scale.weight[band]);
        share[band].row(y)[x] = float_adm_share(weighted[band].row(y)[x]);
      }
    }
  }
}

/* The place for all sums. */
struct Output {
  uint64_t* sums;
  const FloatAdmBlocks* blocks;  // or nullptr
};

/* The sums of one kind at one scale. */
class Sums {
 public:
  Sums(const FloatAdmParams& params, int kind, int index, const Output& to)
      : params_(params), words_(to.sums + float_adm_sum_index(kind, index, 0) * params.words_per_sum()), kind_(kind),
        blocks_(to.blocks ? to.blocks->scale[index] : nullptr),
        grid_(FloatAdmBlocks::grid(params.scale[index], index)) {}

  void add(int band, int x, int y, float value) {
    if (params_.cubes()) {
      const float cube = float_adm_cube(value);
      cubes_[band].add(cube);
      if (blocks_) blocks_[grid_.at(x, y)].of[kind_][band] += static_cast<double>(cube);
      return;
    }
    const FloatAdmPower power = float_adm_power(value, static_cast<float>(params_.p_norm));
    if (power.bin < kFloatAdmBins)
      words_[band * kFloatAdmBins + power.bin] += static_cast<uint64_t>(to_fixed<kFloatAdmPowerBits>(power.power));
  }
  void end_row() {
    if (!params_.cubes()) return;
    for (int band = 0; band < kAdmBands; band++) {
      cubes_[band].end_row();
      words_[band] = cubes_[band].word();
    }
  }

 private:
  const FloatAdmParams& params_;
  uint64_t* words_;
  int kind_;
  FloatAdmBlockSums* blocks_;  // or nullptr
  BlockGrid grid_;
  RowSum cubes_[kAdmBands];
};

void den(const FloatAdmScale& scale, const Details& ref, Sums sums) {
  for (int y = scale.top; y < scale.bottom; y++) {
    for (int x = scale.left; x < scale.right; x++)
      for (int band = 0; band < kAdmBands; band++)
        sums.add(band, x, y, float_adm_weighted(ref[band].row(y)[x], scale.weight[band]));
    sums.end_row();
  }
}

/* Magnitudes, and what they add to thresholds. */
struct Part {
  const Details &weighted, &share;
};

/* The visibility threshold at (x, y). */
float threshold(const AdmExtent& scale, const Part& masking, int x, int y) {
  const auto of = [&](int band) {
    const auto share = [&](int dx, int dy) {
      return masking.share[band].row(adm_mirror(y + dy, scale.h))[adm_mirror(x + dx, scale.w)];
    };
    return float_adm_masking(share, masking.weighted[band].row(y)[x]);
  };
  return float_adm_threshold(of(0), of(1), of(2));
}

void cm(const FloatAdmScale& scale, bool masked, const Part& signal, const Part& masking, Sums sums) {
  for (int y = scale.top; y < scale.bottom; y++) {
    for (int x = scale.left; x < scale.right; x++) {
      const float limit = masked ? threshold(scale, masking, x, y) : 0;
      for (int band = 0; band < kAdmBands; band++)
        sums.add(band, x, y, float_adm_excess(signal.weighted[band].row(y)[x], limit));
    }
    sums.end_row();
  }
}

void score_scale(const FloatAdmParams& params, int index, const Planes& p, const Output& to) {
  const FloatAdmScale& scale = params.scale[index];
  decouple(scale, params.gain_limit, p);
  den(scale, p.ref.detail, {params, kFloatAdmDen, index, to});
  const Part restored = {p.weighted_restored, p.share_of_restored}, added = {p.weighted_added, p.share_of_added};
  csf(scale, p.restored, restored.weighted, restored.share);
  csf(scale, p.added, added.weighted, added.share);
  cm(scale, params.masked, restored, added, {params, kFloatAdmDlm, index, to});
  cm(scale, params.masked, added, restored, {params, kFloatAdmAim, index, to});
}

template <class T>
void run_scales(const FloatAdmParams& params, const Plane<const T>& ref, const Plane<const T>& dist, std::byte* scratch,
                const Output& to) {
  PlaneMemory memory(params, scratch);
  Planes last = memory.planes(0);
  load(ref, params.bpc, last.source);
  dwt2(last.source, last.low, last.high, last.ref);
  load(dist, params.bpc, last.source);
  dwt2(last.source, last.low, last.high, last.dist);
  if (!params.skip_scale0) score_scale(params, 0, last, to);

  for (int index = 1; index < kAdmScales; index++) {
    const Planes p = memory.planes(index);
    dwt2(last.ref.a, p.low, p.high, p.ref);
    dwt2(last.dist.a, p.low, p.high, p.dist);
    score_scale(params, index, p, to);
    last = p;
  }
}

void run(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
         const Output& to) {
  if (params.bpc == 8) run_scales(params, ref.as<uint8_t>(), dist.as<uint8_t>(), scratch, to);
  else run_scales(params, ref.as<uint16_t>(), dist.as<uint16_t>(), scratch, to);
}

}  // namespace

size_t float_adm_scratch_bytes_plain(const FloatAdmParams& params) {
  PlaneMemory memory(params, nullptr);
  memory.planes(0);
  return memory.bytes();
}

void float_adm_plain(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                     uint64_t* sums) {
  run(params, ref, dist, scratch, {sums, nullptr});
}

void float_adm_mapped_plain(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist,
                            std::byte* scratch, uint64_t* sums, const FloatAdmBlocks& blocks) {
  run(params, ref, dist, scratch, {sums, &blocks});
}

}  // namespace vmafx
