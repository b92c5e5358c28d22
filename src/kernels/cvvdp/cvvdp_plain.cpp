/* The definition of cvvdp's sums: plain loops over whole planes, step by step. */
#include <algorithm>

#include "kernels/cvvdp/cvvdp.h"
#include "kernels/cvvdp/cvvdp_math-inl.h"
#include "kernels/steps/mirror.h"
#include "kernels/steps/scratch.h"

namespace vmafx {
namespace {

/* -- Conversion ---------------------------------------------------------------------------------------------------- */

template <class T>
void convert(const CvvdpParams& params, const Picture& picture, float* converted) {
  const size_t pitch = row_pitch(static_cast<size_t>(params.w)), plane = pitch * static_cast<size_t>(params.h);
  const auto luma = picture.plane[0].as<T>();
  for (int y = 0; y < params.h; y++)
    for (int x = 0; x < params.w; x++) {
      float chroma[2] = {};
      for (int i = 0; params.has_chroma && i < 2; i++) {
        const auto plane = picture.plane[1 + i].as<T>();
        chroma[i] = static_cast<float>(cvvdp_chroma_at(params, x, y, [&](int row) { return plane.row(row); }));
      }
      const CvvdpColor color = seen(params.display, static_cast<float>(luma.row(y)[x]), chroma[0], chroma[1]);
      for (int i = 0; i < kCvvdpPlanes; i++) converted[i * plane + y * pitch + x] = color.of[i];
    }
}

/* -- Channels ------------------------------------------------------------------------------------------------------ */

int plane_of(int channel) { return channel % kCvvdpPlanes; }

void filter_in_time(const CvvdpParams& params, CvvdpPictures pictures, int channel, const Plane<float>& out) {
  for (int y = 0; y < out.h; y++)
    for (int x = 0; x < out.w; x++) {
      float sum = 0;
      for (int k = 0; k < params.taps; k++)
        sum += cvvdp_row(params, pictures, k, plane_of(channel), y)[x] * params.filter[channel][k];
      out.row(y)[x] = sum;
    }
}

/* -- Pyramid ------------------------------------------------------------------------------------------------------- */

/* `row` has room for two more before and behind it. */
void reduce(const Plane<float>& in, float* row, const Plane<float>& out) {
  for (int y = 0; y < out.h; y++) {
    const auto at = [&](int k) { return in.row(mirror_repeated(2 * y + k, in.h)); };
    for (int x = 0; x < in.w; x++) row[x] = reduced(at(-2)[x], at(-1)[x], at(0)[x], at(1)[x], at(2)[x]);
    cvvdp_extend_to_reduce(row, in.w, in.h);
    for (int x = 0; x < out.w; x++) {
      const float* in_row = row + 2 * x;
      out.row(y)[x] = reduced(in_row[-2], in_row[-1], in_row[0], in_row[1], in_row[2]);
    }
  }
}

/* One value of twice as many. at(i): those of the smaller level, `size` of them. */
template <class At>
float expanded(int i, int size, At at) {
  const int k = i / 2;
  if (i % 2) return expanded_between(at(k), at(std::min(k + 1, size - 1)));
  return expanded_at(at(std::max(k - 1, 0)), at(k), at(std::min(k + 1, size - 1)));
}

float expanded(const Plane<float>& level, int x, int y) {
  return expanded(x, level.w,
                  [&](int column) { return expanded(y, level.h, [&](int row) { return level.row(row)[column]; }); });
}

/* -- A band -------------------------------------------------------------------------------------------------------- */

struct Perceived {
  Plane<float> difference[kCvvdpChannels], common[kCvvdpChannels];
};

/* Perceives one sample of both sides. */
void perceive(const CvvdpParams& params, const CvvdpBand& band, const CvvdpLevel& level, const CvvdpLevel& next, int x,
              int y, const Perceived& out) {
  float base[kCvvdpSides], inverse[kCvvdpSides];
  for (int side = 0; side < kCvvdpSides; side++) {
    base[side] = background(expanded(next.of[side][0], x, y));
    inverse[side] = 1 / base[side];
  }
  const CvvdpPlace place = place_of(params, base[0]);
  for (int c = 0; c < kCvvdpChannels; c++) {
    const float s = sensitivity(band.sensitivity[c], place);
    float perceived[kCvvdpSides];
    for (int side = 0; side < kCvvdpSides; side++)
      perceived[side] = contrast(level.of[side][c].row(y)[x] - expanded(next.of[side][c], x, y), inverse[side]) * s;
    out.difference[c].row(y)[x] = visible_difference(params, perceived[1] - perceived[0]);
    out.common[c].row(y)[x] = common_contrast(perceived[1], perceived[0]);
  }
}

/* at(k): the values around one, k from -kCvvdpBlurReach on. */
template <class At>
float blurred(const CvvdpParams& params, At at) {
  float sum = at(0) * params.blur[0];
  for (int k = 1; k <= kCvvdpBlurReach; k++) sum += (at(-k) + at(k)) * params.blur[k];
  return sum;
}

/* In place. Small bands are not blurred. */
void blur(const CvvdpParams& params, const Plane<float>& plane, const Plane<float>& down) {
  const bool is_blurred = cvvdp_is_blurred(plane.w, plane.h);
  for (int y = 0; is_blurred && y < plane.h; y++)
    for (int x = 0; x < plane.w; x++)
      down.row(y)[x] = blurred(params, [&](int k) { return plane.row(mirror(y + k, plane.h))[x]; });
  for (int y = 0; y < plane.h; y++)
    for (int x = 0; x < plane.w; x++) {
      float& value = plane.row(y)[x];
      if (is_blurred) value = blurred(params, [&](int k) { return down.row(y)[mirror(x + k, plane.w)]; });
      value *= params.blur_gain;
    }
}

/* Takes a band's terms. */
struct Output {
  CvvdpBandSums& sums;
  BlockGrid grid;
  CvvdpBandSums* blocks;  // or nullptr

  Output(const CvvdpParams& params, int band, CvvdpBandSums& of_band, const CvvdpBlocks* all)
      : sums(of_band), grid(CvvdpBlocks::grid(params, band)), blocks(all ? all->band[band] : nullptr) {}

  void add(int channel, int x, int y, float term) const {
    sums.of[channel] += term;
    if (blocks) blocks[grid.at(x, y)].of[channel] += term;
  }
};

void pool(const CvvdpParams& params, const Perceived& perceived, int x, int y, const Output& to) {
  float masks[kCvvdpChannels];
  for (int c = 0; c < kCvvdpChannels; c++) masks[c] = mask_of(params, c, perceived.common[c].row(y)[x]);
  for (int c = 0; c < kCvvdpChannels; c++)
    to.add(c, x, y, pooled_term(masked_difference(params, c, perceived.difference[c].row(y)[x], masks)));
}

/* -- Memory -------------------------------------------------------------------------------------------------------- */

struct Memory {
  Memory(const CvvdpParams& params, std::byte* memory) : scratch(memory) {
    for (int b = 0; b < params.bands; b++)
      for (auto& side : level[b].of)
        for (Plane<float>& plane : side) plane = scratch.take_plane<float>(params.band[b].w, params.band[b].h);
    for (Plane<float>& plane : perceived.difference) plane = scratch.take_plane<float>(params.w, params.h);
    for (Plane<float>& plane : perceived.common) plane = scratch.take_plane<float>(params.w, params.h);
    down = scratch.take_plane<float>(params.w, params.h);
    row = scratch.take_plane<float>(params.w, 1, kCacheLine / sizeof(float), 2).data;
  }

  Perceived perceived_of(const CvvdpBand& band) const {
    Perceived part = perceived;
    for (int c = 0; c < kCvvdpChannels; c++)
      for (Plane<float>* plane : {&part.difference[c], &part.common[c]}) {
        plane->w = band.w;
        plane->h = band.h;
      }
    return part;
  }

  Scratch scratch;
  CvvdpLevel level[kCvvdpMostBands];
  Perceived perceived;
  Plane<float> down;
  float* row;
};

}  // namespace

size_t cvvdp_converted_bytes(const CvvdpParams& params) {
  return sizeof(float) * kCvvdpPlanes * row_pitch(static_cast<size_t>(params.w)) * static_cast<size_t>(params.h);
}

const float* cvvdp_row(const CvvdpParams& params, CvvdpPictures pictures, int tap, int plane, int y) {
  const auto* picture = reinterpret_cast<const float*>(pictures[std::min<size_t>(tap, pictures.size() - 1)]);
  return picture + (static_cast<size_t>(plane) * params.h + y) * row_pitch(static_cast<size_t>(params.w));
}

void cvvdp_extend_to_reduce(float* row, int w, int h) {
  for (const int i : {-2, -1, w, w + 1}) row[i] = cvvdp_to_reduce(i, w, h, [=](int at) { return row[at]; });
}

void cvvdp_base(const CvvdpParams& params, const CvvdpLevel& level, CvvdpBandSums& sums, const CvvdpBlocks* blocks) {
  const Output to(params, params.bands - 1, sums, blocks);
  const CvvdpBand& band = params.band[params.bands - 1];
  float mean[kCvvdpSides];
  for (int side = 0; side < kCvvdpSides; side++) {
    CvvdpLight sum;
    for (int y = 0; y < band.h; y++)
      for (int x = 0; x < band.w; x++) sum += background(level.of[side][0].row(y)[x]);
    mean[side] = cvvdp_mean(sum, band.w, band.h);
  }
  const CvvdpPlace place = place_of(params, mean[0]);
  for (int c = 0; c < kCvvdpChannels; c++) {
    const float s = sensitivity(band.sensitivity[c], place);
    for (int y = 0; y < band.h; y++)
      for (int x = 0; x < band.w; x++)
        to.add(c, x, y, base_term(level.of[1][c].row(y)[x], level.of[0][c].row(y)[x], 1 / mean[1], 1 / mean[0], s));
  }
}

void cvvdp_convert_plain(const CvvdpParams& params, const Picture& picture, float* converted) {
  if (params.bpc == 8) convert<uint8_t>(params, picture, converted);
  else convert<uint16_t>(params, picture, converted);
}

size_t cvvdp_scratch_bytes_plain(const CvvdpParams& params) { return Memory(params, nullptr).scratch.bytes(); }

namespace {

void run(const CvvdpParams& params, CvvdpPictures ref, CvvdpPictures dist, std::byte* scratch, CvvdpSums& sums,
         const CvvdpBlocks* blocks) {
  const Memory memory(params, scratch);
  for (int side = 0; side < kCvvdpSides; side++)
    for (int c = 0; c < kCvvdpChannels; c++) {
      filter_in_time(params, side ? dist : ref, c, memory.level[0].of[side][c]);
      for (int b = 1; b < params.bands; b++)
        reduce(memory.level[b - 1].of[side][c], memory.row, memory.level[b].of[side][c]);
    }
  for (int b = 0; b + 1 < params.bands; b++) {
    const CvvdpBand& band = params.band[b];
    const Output to(params, b, sums.band[b], blocks);
    const Perceived perceived = memory.perceived_of(band);
    for (int y = 0; y < band.h; y++)
      for (int x = 0; x < band.w; x++) perceive(params, band, memory.level[b], memory.level[b + 1], x, y, perceived);
    for (const Plane<float>& common : perceived.common) blur(params, common, memory.down);
    for (int y = 0; y < band.h; y++)
      for (int x = 0; x < band.w; x++) pool(params, perceived, x, y, to);
  }
  cvvdp_base(params, memory.level[params.bands - 1], sums.band[params.bands - 1], blocks);
}

}  // namespace

void cvvdp_plain(const CvvdpParams& params, CvvdpPictures ref, CvvdpPictures dist, std::byte* scratch,
                 CvvdpSums& sums) {
  run(params, ref, dist, scratch, sums, nullptr);
}

void cvvdp_mapped_plain(const CvvdpParams& params, CvvdpPictures ref, CvvdpPictures dist, std::byte* scratch,
                        CvvdpSums& sums, const CvvdpBlocks& blocks) {
  run(params, ref, dist, scratch, sums, &blocks);
}

}  // namespace vmafx
