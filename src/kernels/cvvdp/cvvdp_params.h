/* The parameters of cvvdp's twins for a video on a display. */
#ifndef VMAFX_KERNELS_CVVDP_CVVDP_PARAMS_H
#define VMAFX_KERNELS_CVVDP_CVVDP_PARAMS_H

#include <string>

#include "base/picture.h"
#include "base/status.h"
#include "kernels/cvvdp/cvvdp_math.h"

namespace vmafx {

struct CvvdpViewing {
  std::string display, display_file;  // "": the usual one; what is built in
  double pixels_per_degree = 0;       // 0: the display's
  double fps = 0;
};

/* EINVAL: no such display, or none that shows the video; the frame rate is not known; the picture is too small. */
StatusOr<CvvdpParams> cvvdp_params(const CvvdpViewing& viewing, const VideoFormat& format);

}  // namespace vmafx

#endif
