#include "kernels/psnr_hvs/psnr_hvs.h"

#include <cerrno>
#include <cmath>
#include <vector>

#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

struct PsnrHvsScores {
  double plane[3], whole;
};

constexpr FeatureInfo kFeatures[] = {
    of_regions(in_unit("dB", plain_feature("psnr_hvs_y", VMAFX_SCORE(PsnrHvsScores, plane[0])))),
    of_regions(in_unit("dB", plain_feature("psnr_hvs_cb", VMAFX_SCORE(PsnrHvsScores, plane[1])))),
    of_regions(in_unit("dB", plain_feature("psnr_hvs_cr", VMAFX_SCORE(PsnrHvsScores, plane[2])))),
    of_regions(read_alone(in_unit("dB", plain_feature("psnr_hvs", VMAFX_SCORE(PsnrHvsScores, whole))))),
};

double decibels(double error) { return -10 * std::log10(error); }

constexpr int kBlockSide = 4;  // of maps, transformed blocks

BlockGrid grid_of(const VideoFormat& format, int p) {
  return block_grid(psnr_hvs_blocks(format.plane_w(p)), psnr_hvs_blocks(format.plane_h(p)), kBlockSide);
}

/* The blocks' sums of a plane, in sums with maps: they follow PsnrHvsSums. */
const PsnrHvsSum* blocks_of(const VideoFormat& format, const void* sums, int plane) {
  return reinterpret_cast<const PsnrHvsSum*>(static_cast<const PsnrHvsSums*>(sums) + 1) +
         blocks_before(plane, [&](int p) { return grid_of(format, p); });
}

class PsnrHvs : public Metric<VideoFormat, PsnrHvsSums, PsnrHvsScores> {
 public:
  using Metric::Metric;

  Reads reads() const override { return {.ref = 7, .dist = 7}; }

  double score_region(const void* sums, ScoreId score, BlockShares shares) const override {
    double errors[3];
    for (int p = 0; p < 3; p++) {
      const auto error = [blocks = blocks_of(params_, sums, p)](size_t n) { return blocks[n].value(); };
      const RegionSums of_region = sum_region(grid_of(params_, p), across(p), down(p), shares[p], error);
      errors[p] = mean_error(of_region.values, of_region.cells);
    }
    const PsnrHvsScores scores = scores_of(errors);
    for (int p = 0; p < 3; p++)
      if (score == kFeatures[p].score) return scores.plane[p];
    return scores.whole;
  }

 private:
  PsnrHvsScores scores(const PsnrHvsSums& sums) const override {
    double errors[3];
    for (int p = 0; p < 3; p++) errors[p] = mean_error(sums.error[p].value(), static_cast<double>(across(p)) * down(p));
    return scores_of(errors);
  }
  static PsnrHvsScores scores_of(std::span<const double, 3> errors) {
    return {{decibels(errors[0]), decibels(errors[1]), decibels(errors[2])},
            decibels(0.8 * errors[0] + 0.1 * (errors[1] + errors[2]))};
  }
  int across(int p) const { return psnr_hvs_blocks(params_.plane_w(p)); }
  int down(int p) const { return psnr_hvs_blocks(params_.plane_h(p)); }

  /* Per coefficient, of the square of the peak. */
  double mean_error(double sum, double blocks) const {
    const double peak = (1 << params_.bpc) - 1;
    return sum / (blocks * kPsnrHvsBlock * kPsnrHvsBlock) / (peak * peak);
  }
};

size_t scratch_bytes(const VideoFormat& format) { return psnr_hvs_scratch_bytes(format.w); }

template <auto sum>
void run(const VideoFormat& format, const FrameSet& frames, std::byte* scratch, PsnrHvsSums& sums) {
  for (int p = 0; p < 3; p++) sums.error[p] = sum(p, frames.ref.plane[p], frames.dist.plane[p], format.bpc, scratch);
}

constexpr Twins<VideoFormat, PsnrHvsSums> kTwins = {
    .plain = {scratch_bytes, run<psnr_hvs_plain>},
    .simd = {scratch_bytes, run<psnr_hvs_simd>},
    .device = psnr_hvs_hip,
};

Status check(const VideoFormat& format) {
  if (format.bpc > kPsnrHvsMostBits)
    return error(EINVAL, "psnr_hvs: it takes up to %d bits per sample, not %d", kPsnrHvsMostBits, format.bpc);
  if (format.planes() < 3) return error(EINVAL, "psnr_hvs: it scores chroma, too, and this format has none");
  if (format.plane_w(1) < kPsnrHvsBlock || format.plane_h(1) < kPsnrHvsBlock)
    return error(EINVAL, "psnr_hvs: %dx%d is too small; every plane needs at least %dx%d samples", format.w, format.h,
                 kPsnrHvsBlock, kPsnrHvsBlock);
  return {};
}

Created create(const NoOptions&, const VideoFormat& format, Placement placement) {
  VMAFX_TRY(check(format));
  return std::unique_ptr<Extractor>(new PsnrHvs(format, kTwins, kFeatures, placement));
}

/* -- Maps: the visible errors of each block ------------------------------------------------------------------------ */

std::vector<MapInfo> maps_of(const VideoFormat& format) {
  constexpr const char* kNames[] = {"psnr_hvs_y", "psnr_hvs_cb", "psnr_hvs_cr"};
  std::vector<MapInfo> maps;
  for (int p = 0; p < 3; p++) {
    const BlockGrid grid = psnr_hvs_map_blocks(format, p);
    const int side = grid.side * kPsnrHvsStep;
    const int across = p && format.chroma != Chroma::k444 ? 2 : 1, down = p && format.chroma == Chroma::k420 ? 2 : 1;
    maps.push_back({kNames[p], "visible squared error", grid.w, grid.h, side * across, side * down});
  }
  return maps;
}

/* Raw sums: PsnrHvsSums, then the blocks' of each plane. On the CPU, the definition makes them. */
class PsnrHvsMapping final : public MappingExtractor {
 public:
  PsnrHvsMapping(const VideoFormat& format, Placement placement)
      : MappingExtractor({.ref = 7, .dist = 7}, maps_of(format)), format_(format),
        device_twin_(placement == Placement::kDevice ? psnr_hvs_mapped_hip(format).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }
  size_t sums_bytes() const override { return sizeof(PsnrHvsSums) + first_block(3) * sizeof(PsnrHvsSum); }
  size_t scratch_bytes() const override { return 0; }
  void extract(const FrameSet& frames, std::byte*, void* sums) const override {
    auto& of_frame = *static_cast<PsnrHvsSums*>(sums);
    auto* const blocks = reinterpret_cast<PsnrHvsSum*>(&of_frame + 1);
    for (int p = 0; p < 3; p++)
      of_frame.error[p] = psnr_hvs_mapped_plain(p, frames.ref.plane[p], frames.dist.plane[p], format_.bpc,
                                                psnr_hvs_map_blocks(format_, p), blocks + first_block(p));
  }
  void read_map(const void* sums, size_t map, std::span<double> values) const override {
    const PsnrHvsSum* const blocks = blocks_of(format_, sums, static_cast<int>(map));
    for (size_t n = 0; n < values.size(); n++) values[n] = blocks[n].value();
  }

 private:
  size_t first_block(int plane) const {
    return blocks_before(plane, [&](int p) { return psnr_hvs_map_blocks(format_, p); });
  }

  const VideoFormat format_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

Created create_mapping(const NoOptions&, const VideoFormat& format, Placement placement) {
  VMAFX_TRY(check(format));
  return std::unique_ptr<Extractor>(new PsnrHvsMapping(format, placement));
}

}  // namespace

constexpr ExtractorInfo kPsnrHvsExtractor = {
    .name = "psnr_hvs",
    .measures = "fidelity",
    .help = "peak signal-to-noise ratio of visible errors, PSNR-HVS-M",
    .range = "from 0 up; infinite for equal pictures",
    .flags = kHip | kMaps,
    .features = kFeatures,
    .main_score = "psnr_hvs",
    .options = {},
    .create = with_fields<create>,
    .create_mapping = with_fields<create_mapping>,
};

}  // namespace vmafx
