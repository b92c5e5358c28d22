#include "model/model_check.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace vmafx {
namespace {

/* The pictures that a built-in model was trained or tuned for, and the nearest model for the other kind of pictures. */
struct Purpose {
  const char* version;
  int rows;  // the display's: 1080 or 2160
  const char* other;
};

constexpr Purpose kPurposes[] = {
    {"vmaf_v0.6.1", 1080, "vmaf_4k_v0.6.1"},
    {"vmaf_v0.6.1neg", 1080, "vmaf_4k_v0.6.1neg"},
    {"vmaf_b_v0.6.3", 1080, "vmaf_4k_v0.6.1"},
    {"vmaf_4k_v0.6.1", 2160, "vmaf_v0.6.1"},
    {"vmaf_4k_v0.6.1neg", 2160, "vmaf_v0.6.1neg"},
    {"vmaf_float_v0.6.1", 1080, "vmaf_float_4k_v0.6.1"},
    {"vmaf_float_v0.6.1neg", 1080, "vmaf_4k_v0.6.1neg"},
    {"vmaf_float_b_v0.6.3", 1080, "vmaf_float_4k_v0.6.1"},
    {"vmaf_float_4k_v0.6.1", 2160, "vmaf_float_v0.6.1"},
    {"vmaf_v1.0.16_3d0h", 1080, "vmaf_v1.0.16_3d0h_2160"},
    {"vmaf_v1.0.16_5d0h", 1080, "vmaf_v1.0.16_3d0h_2160"},
    {"vmaf_v1.0.16_1d5h_2160", 2160, "vmaf_v1.0.16_3d0h"},
    {"vmaf_v1.0.16_3d0h_2160", 2160, "vmaf_v1.0.16_3d0h"},
    {"vmaf_v1.0.16_hfr_3d0h", 1080, "vmaf_v1.0.16_hfr_3d0h_2160"},
    {"vmaf_v1.0.16_hfr_5d0h", 1080, "vmaf_v1.0.16_hfr_3d0h_2160"},
    {"vmaf_v1.0.16_hfr_1d5h_2160", 2160, "vmaf_v1.0.16_hfr_3d0h"},
    {"vmaf_v1.0.16_hfr_3d0h_2160", 2160, "vmaf_v1.0.16_hfr_3d0h"},
};

/* Pictures of any shape are told apart by their number of samples. Between the limits either kind of model will do. */
constexpr int64_t kMostSamplesOf1080p = 1920 * 1088, kMostSamplesForIt = 2560 * 1440;
/* Fewer are much smaller than what a model of 1080p has seen: 720p, also in the shape of the cinema, is not. */
constexpr int64_t kFewestSamplesForIt = 1920 * 1080 / 3;

bool uses(const Model& model, const char* part) {
  return std::ranges::any_of(model.features(),
                             [&](const ModelFeature& feature) { return feature.name.find(part) != feature.name.npos; });
}

/* Names the size that fills a display of 1080p, in even numbers as 4:2:0 likes them. */
std::string too_small(const Purpose& purpose, const VideoFormat& format) {
  const double factor = std::min(1920. / format.w, 1080. / format.h);
  const auto scaled = [&](int size) { return 2 * static_cast<int>(std::lround(size * factor / 2)); };
  return format_text(
      "model %s is made for 1080p and these pictures are only %dx%d: scale both inputs up to what is seen "
      "(scale=%d:%d:flags=bicubic before each input)",
      purpose.version, format.w, format.h, scaled(format.w), scaled(format.h));
}

void check_size(const std::string& version, const VideoFormat& format, Log& log) {
  const auto purpose = std::ranges::find_if(kPurposes, [&](const Purpose& p) { return version == p.version; });
  if (purpose == std::end(kPurposes)) return;
  const int64_t samples = static_cast<int64_t>(format.w) * format.h;
  if (purpose->rows == 1080 && samples < kFewestSamplesForIt) return log.warning(too_small(*purpose, format));
  if (purpose->rows == 1080 ? samples <= kMostSamplesForIt : samples > kMostSamplesOf1080p) return;
  log.warning(format_text("model %s is made for %dp and these pictures are %dx%d: %s would suit them better",
                          purpose->version, purpose->rows, format.w, format.h, purpose->other));
}

}  // namespace

std::string version_of(const ModelSpec& spec) {
  if (!spec.version.empty()) return spec.version;
  constexpr std::string_view kSuffix = ".json";
  std::string name = spec.path.substr(spec.path.find_last_of('/') + 1);
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return name;
}

Status check_model(const Model& model, const std::string& version, bool encode_depth_known, const VideoFormat& format,
                   Log& log) {
  if (format.chroma == Chroma::k400 && uses(model, "speed_chroma"))
    return error(
        EINVAL,
        "model %s scores chroma, and these pictures are gray: use vmaf_v0.6.1, which scores luma only, or give "
        "both inputs neutral chroma (format=yuv420p)",
        version.c_str());
  check_size(version, format, log);
  if (format.bpc == 8 && uses(model, "cambi") && !encode_depth_known)
    log.warning(
        format_text("model %s is made for 10 bits per sample and these pictures have 8: convert both inputs to "
                    "10 (format=yuv420p10), with cambi.enc_bitdepth=8 in the model's options if the encode has 8",
                    version.c_str()));
  return {};
}

}  // namespace vmafx
