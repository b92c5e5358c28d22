/* Displays that cvvdp knows, as the program describes them in display_models.json and color_spaces.json. */
#ifndef VMAFX_KERNELS_CVVDP_CVVDP_DISPLAY_H
#define VMAFX_KERNELS_CVVDP_CVVDP_DISPLAY_H

#include <string>
#include <string_view>

#include "base/picture.h"
#include "base/status.h"
#include "kernels/cvvdp/cvvdp_math.h"

namespace vmafx {

struct CvvdpColorSpace {
  std::string_view name;
  CvvdpCurve curve;
  double gamma;      // for kGamma
  double to_xyz[9];  // from linear r, g, b
};

struct CvvdpDisplayModel {
  std::string_view name;              // set for built-in models
  double w = 0, h = 0;                // samples
  double distance = 0, diagonal = 0;  // meters
  double fov_diagonal = 0;            // degrees; then the diagonal follows from it
  double pixels_per_degree = 0;       // then nothing else of these is needed
  double most_light = 0;              // cd/m²
  double least_light = 0;             // 0: by the contrast
  double contrast = 500;
  double ambient = 0;  // lux
  double reflectivity = 0.005;
  double exposure = 1;
  std::string_view color_space = "sRGB";
};

/* The display of a name: a built-in one, or one of a file in the program's format. EINVAL: there is none. */
StatusOr<CvvdpDisplayModel> cvvdp_display_model(const std::string& name, const std::string& path);

/* The name of the one that is taken where none is named: by the video's transfer. */
std::string_view cvvdp_usual_display(const VideoFormat& format);

double cvvdp_pixels_per_degree(const CvvdpDisplayModel& model);

/* The display for a video. EINVAL: their transfers contradict each other, or the colors are not known. */
StatusOr<CvvdpDisplay> cvvdp_display(const CvvdpDisplayModel& model, const VideoFormat& format);

}  // namespace vmafx

#endif
