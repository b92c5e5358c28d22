/* The options of butteraugli, and the parameters of its twins. */
#ifndef VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_PARAMS_H
#define VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_PARAMS_H

#include <string_view>

#include "base/picture.h"
#include "base/status.h"
#include "kernels/butteraugli/butteraugli_math.h"
#include "kernels/options.h"

namespace vmafx {

struct ButteraugliOptions {
  double norm = 3;
  double intensity_target = 0;
  std::string_view version = "0.8";
  WritePath heatmaps_path = {""};
};

/* The parameters for a video. EINVAL where it is too small, or its colors are not known. */
StatusOr<ButteraugliParams> butteraugli_params(const ButteraugliOptions& options, const VideoFormat& format);

}  // namespace vmafx

#endif
