#include "kernels/cambi/cambi_heatmaps.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace vmafx {
namespace {

constexpr int kMostSample = 65535;

float c_of(int32_t key) { return key ? std::bit_cast<float>(static_cast<uint32_t>(key) + kCambiNoKey) : 0; }

}  // namespace

StatusOr<std::unique_ptr<CambiHeatmaps>> CambiHeatmaps::create(WritePath path, const CambiParams& params,
                                                               const CambiView& view) {
  std::unique_ptr<CambiHeatmaps> maps(new CambiHeatmaps);
  const int samples = view.window * view.window;
  const int most = std::max(1, static_cast<int>(kCambiWeights[params.levels.diffs - 1]) * samples / 4);
  maps->scale_ = static_cast<double>(kMostSample) / most;
  for (int scale = 0; scale < kCambiScales; scale++) {
    const std::string name = format_text("cambi_heatmap_scale_%d", scale);
    VMAFX_ASSIGN(maps->files_[scale],
                 GrayFile::create(kHeatMaps, path, name, view.scale_w(params, scale), view.scale_h(params, scale)));
  }
  return maps;
}

void CambiHeatmaps::put(int64_t frame, int scale, int y, std::span<const int32_t> keys) {
  std::vector<uint16_t> samples;
  for (const int32_t key : keys)
    samples.push_back(static_cast<uint16_t>(std::min<double>(scale_ * c_of(key), kMostSample)));
  files_[scale]->put(frame, y, samples);
}

Status CambiHeatmaps::close() {
  Status first;
  for (const auto& file : files_) {
    const Status closed = file->close();
    if (first.ok() && !closed.ok()) first = error(closed.code(), "cambi: %s", closed.message().c_str());
  }
  return first;
}

}  // namespace vmafx
