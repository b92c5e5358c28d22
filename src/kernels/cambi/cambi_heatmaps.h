/* heatmaps_path: c of every sample of the distorted picture, a file per scale and in it a picture of 16 bit per frame.
 * 65535 is the c of a window that is half the one and half the other level, with the largest weight. */
#ifndef VMAFX_KERNELS_CAMBI_CAMBI_HEATMAPS_H
#define VMAFX_KERNELS_CAMBI_CAMBI_HEATMAPS_H

#include <memory>

#include "base/status.h"
#include "kernels/cambi/cambi.h"
#include "kernels/steps/gray_file.h"

namespace vmafx {

class CambiHeatmaps {
 public:
  /* Makes the folder if need be, and opens files cambi_heatmap_scale_S_WxH_16b.gray in it. */
  static StatusOr<std::unique_ptr<CambiHeatmaps>> create(WritePath path, const CambiParams& params,
                                                         const CambiView& view);

  /* Writes a row of a frame: CambiRowSink. Any thread, a frame in one. */
  void put(int64_t frame, int scale, int y, std::span<const int32_t> keys);

  /* Closes the files; the first write that failed, if one did. */
  Status close();

 private:
  CambiHeatmaps() = default;

  std::unique_ptr<GrayFile> files_[kCambiScales];
  double scale_ = 0;  // the heatmaps' factor of c
};

}  // namespace vmafx

#endif
