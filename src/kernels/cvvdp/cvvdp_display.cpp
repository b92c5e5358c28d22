#include "kernels/cvvdp/cvvdp_display.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

#include "base/json.h"
#include "base/text_file.h"
#include "kernels/steps/linear_light_of.h"

namespace vmafx {
namespace {

constexpr double kInch = 0.0254;
constexpr double kPqMost = 10000, kPqLeast = 0.005;  // cd/m²
constexpr int kUnspecified = Color::kUnspecified;

/* -- What is built in (MIT license, Copyright (c) 2024 Graphics and Displays group) ------------------------------- */

// clang-format off
constexpr CvvdpColorSpace kColorSpaces[] = {
    {"sRGB", CvvdpCurve::kSrgb, 0,
     {0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041}},
    {"BT.709", CvvdpCurve::kSrgb, 0,
     {0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041}},
    {"Display P3 Apple", CvvdpCurve::kSrgb, 0, {0.4866, 0.2657, 0.1982, 0.229, 0.6917, 0.0793, 0, 0.0451, 1.0437}},
    {"Adobe RGB (1998)", CvvdpCurve::kGamma, 2.2,
     {0.5767309, 0.185554, 0.1881852, 0.2973769, 0.6273491, 0.0752741, 0.0270343, 0.0706872, 0.9911085}},
    {"PAL/SECAM RGB", CvvdpCurve::kGamma, 2.2,
     {0.430619, 0.3415419, 0.1783091, 0.2220379, 0.7066384, 0.0713236, 0.0201853, 0.1295504, 0.9390944}},
    {"SMPTE-C RGB", CvvdpCurve::kGamma, 2.2,
     {0.3935891, 0.3652497, 0.1916313, 0.2124132, 0.7010437, 0.0865432, 0.0187423, 0.1119313, 0.9581563}},
    {"BT.2020-PQ", CvvdpCurve::kPq, 0, {0.637, 0.1446, 0.1689, 0.2627, 0.678, 0.0593, 0, 0.0281, 1.061}},
    {"BT.2020-HLG", CvvdpCurve::kHlg, 0, {0.637, 0.1446, 0.1689, 0.2627, 0.678, 0.0593, 0, 0.0281, 1.061}},
};

constexpr CvvdpDisplayModel kModels[] = {
    {.name = "standard_4k", .w = 3840, .h = 2160, .distance = 0.7472, .diagonal = 30 * kInch, .most_light = 200,
     .contrast = 1000, .ambient = 250},
    {.name = "standard_hdr_pq", .w = 3840, .h = 2160, .distance = 0.7472, .diagonal = 30 * kInch, .most_light = 1500,
     .contrast = 1000000, .ambient = 10, .color_space = "BT.2020-PQ"},
    {.name = "standard_hdr_hlg", .w = 3840, .h = 2160, .distance = 0.7472, .diagonal = 30 * kInch,
     .most_light = 1500, .contrast = 1000000, .ambient = 10, .color_space = "BT.2020-HLG"},
    {.name = "standard_fhd", .w = 1920, .h = 1080, .distance = 0.6, .diagonal = 24 * kInch, .most_light = 200,
     .contrast = 1000, .ambient = 250},
    {.name = "standard_hmd", .w = 1440, .h = 1600, .distance = 3, .fov_diagonal = 110, .most_light = 100,
     .least_light = 0.1},
    {.name = "standard_phone", .w = 2400, .h = 1080, .distance = 0.4, .diagonal = 6 * kInch, .most_light = 500,
     .least_light = 0.05, .ambient = 250},
    {.name = "sdr_4k_30", .w = 3840, .h = 2160, .distance = 0.6, .diagonal = 30 * kInch, .most_light = 100,
     .contrast = 1000, .ambient = 250},
    {.name = "sdr_fhd_24", .w = 1920, .h = 1080, .distance = 0.6, .diagonal = 24 * kInch, .most_light = 100,
     .contrast = 1000, .ambient = 250},
    {.name = "htc_vive_pro", .w = 1440, .h = 1600, .distance = 3, .fov_diagonal = 110, .most_light = 133.3,
     .least_light = 0.1},
    {.name = "iphone_12_pro", .w = 2532, .h = 1170, .distance = 20 * kInch, .diagonal = 6.1 * kInch,
     .most_light = 825, .least_light = 0.0004, .ambient = 250},
    {.name = "iphone_14_pro", .w = 2532, .h = 1170, .distance = 20 * kInch, .diagonal = 6.1 * kInch,
     .most_light = 1025, .least_light = 0.0004, .ambient = 250},
    {.name = "iphone_14_pro_vert", .w = 1170, .h = 2532, .distance = 20 * kInch, .diagonal = 6.1 * kInch,
     .most_light = 1025, .least_light = 0.0004, .ambient = 250},
    {.name = "iphone_14_pro_hdr", .w = 2532, .h = 1170, .distance = 20 * kInch, .diagonal = 6.1 * kInch,
     .most_light = 1590, .least_light = 0.0004, .ambient = 10, .color_space = "BT.2020-HLG"},
    {.name = "iphone_14_pro_hdr_vert", .w = 1170, .h = 2532, .distance = 20 * kInch, .diagonal = 6.1 * kInch,
     .most_light = 1590, .least_light = 0.0004, .ambient = 10, .color_space = "BT.2020-HLG"},
    {.name = "ipad_pro_12_9", .w = 2732, .h = 2048, .distance = 20 * kInch, .diagonal = 12.9 * kInch,
     .most_light = 600, .least_light = 0.37, .ambient = 250},
    {.name = "macbook_pro_16", .w = 3072, .h = 1920, .distance = 25 * kInch, .diagonal = 16 * kInch,
     .most_light = 500, .least_light = 0.37, .ambient = 250},
    {.name = "lg_oled_2017_sdr", .w = 3840, .h = 2160, .distance = 101 * kInch, .diagonal = 64.5 * kInch,
     .most_light = 272, .least_light = 0.014, .ambient = 100},
    {.name = "lg_oled_2017_hdr", .w = 3840, .h = 2160, .distance = 101 * kInch, .diagonal = 64.5 * kInch,
     .most_light = 754, .least_light = 0.038, .ambient = 100},
    {.name = "eizo_CG3146", .w = 4096, .h = 2160, .distance = 0.73406, .diagonal = 31.063 * kInch, .most_light = 300,
     .contrast = 3000},
    {.name = "65inch_hdr_pq_4knit", .w = 3840, .h = 2160, .distance = 1.98, .diagonal = 65 * kInch,
     .most_light = 4000, .contrast = 1000000, .ambient = 5, .color_space = "BT.2020-PQ"},
    {.name = "65inch_hdr_pq_2Knit", .w = 3840, .h = 2160, .distance = 1.98, .diagonal = 65 * kInch,
     .most_light = 2000, .contrast = 1000000, .ambient = 5, .color_space = "BT.2020-PQ"},
    {.name = "65inch_hdr_pq_1Knit", .w = 3840, .h = 2160, .distance = 1.98, .diagonal = 65 * kInch,
     .most_light = 1000, .contrast = 1000000, .ambient = 5, .color_space = "BT.2020-PQ"},
    {.name = "lg_oled_2026_hdr_pq", .w = 3840, .h = 2160, .distance = 86.62 * kInch, .diagonal = 64.9 * kInch,
     .most_light = 3000, .least_light = 0.0005, .ambient = 5, .color_space = "BT.2020-PQ"},
};
// clang-format on

template <class Things>
std::string names_of(const Things& things) {
  std::string names;
  for (const auto& thing : things) names += (names.empty() ? "" : ", ") + std::string(thing.name);
  return names;
}

template <class Thing, size_t n>
const Thing* find(const Thing (&things)[n], std::string_view name) {
  const auto found = std::ranges::find(things, name, &Thing::name);
  return found == std::end(things) ? nullptr : found;
}

/* -- Files in the program's format --------------------------------------------------------------------------------- */

constexpr const char* kFile = "file of displays";
constexpr size_t kMostFileBytes = 1 << 20;
constexpr int kMostDepth = 16;

/* A display's entry. */
class Entry {
 public:
  Entry(const Json& entry, std::string where) : entry_(entry), where_(std::move(where)) {}

  Status take(const char* key, double* value, double unit = 1) const {
    const Json* const found = entry_.find(key);
    if (!found) return {};
    if (!found->is_number() || !std::isfinite(found->number()) || found->number() < 0) return bad(key, "a number");
    *value = found->number() * unit;
    return {};
  }

  Status take_resolution(CvvdpDisplayModel& model) const {
    const Json* const found = entry_.find("resolution");
    if (!found || !found->is_array() || found->items().size() != 2) return bad("resolution", "[width, height]");
    const Json &w = found->items()[0], &h = found->items()[1];
    if (!w.is_number() || !h.is_number() || w.number() < 1 || h.number() < 1) return bad("resolution", "two sizes");
    model.w = w.number();
    model.h = h.number();
    return {};
  }

  Status take_color_space(CvvdpDisplayModel& model) const {
    const Json* const found = entry_.find("colorspace");
    if (!found) return {};
    const CvvdpColorSpace* const space = find(kColorSpaces, found->text());
    if (!space) return bad("colorspace", "one of " + names_of(kColorSpaces));
    model.color_space = space->name;
    return {};
  }

  Status bad(const char* key, const std::string& wanted) const {
    return error(EINVAL, "%s: %s is not %s", where_.c_str(), key, wanted.c_str());
  }

 private:
  const Json& entry_;
  const std::string where_;
};

StatusOr<CvvdpDisplayModel> model_of(const Json& json, const std::string& where) {
  const Entry entry(json, where);
  CvvdpDisplayModel model;
  VMAFX_TRY(entry.take_resolution(model));
  VMAFX_TRY(entry.take("viewing_distance_inches", &model.distance, kInch));
  VMAFX_TRY(entry.take("viewing_distance_meters", &model.distance));
  VMAFX_TRY(entry.take("diagonal_size_inches", &model.diagonal, kInch));
  VMAFX_TRY(entry.take("diagonal_size_meters", &model.diagonal));
  VMAFX_TRY(entry.take("fov_diagonal", &model.fov_diagonal));
  VMAFX_TRY(entry.take("pixels_per_degree", &model.pixels_per_degree));
  VMAFX_TRY(entry.take("max_luminance", &model.most_light));
  VMAFX_TRY(entry.take("min_luminance", &model.least_light));
  VMAFX_TRY(entry.take("contrast", &model.contrast));
  VMAFX_TRY(entry.take("E_ambient", &model.ambient));
  VMAFX_TRY(entry.take("k_refl", &model.reflectivity));
  VMAFX_TRY(entry.take("exposure", &model.exposure));
  VMAFX_TRY(entry.take_color_space(model));
  if (!(model.most_light > 0)) return entry.bad("max_luminance", "more than 0");
  if (!(model.contrast > 0)) return entry.bad("contrast", "more than 0");
  const bool has_size = model.diagonal > 0 || model.fov_diagonal > 0;
  if (!(model.pixels_per_degree > 0) && !(has_size && (model.distance > 0 || model.fov_diagonal > 0)))
    return error(EINVAL, "%s: give pixels_per_degree, or a viewing distance and a diagonal", where.c_str());
  if (!(model.fov_diagonal < 180)) return entry.bad("fov_diagonal", "less than 180");
  const double density = cvvdp_pixels_per_degree(model);
  if (!(density > 0) || std::isinf(density))
    return error(EINVAL, "%s: its values make %g pixels per degree, which cannot be used", where.c_str(), density);
  return model;
}

StatusOr<CvvdpDisplayModel> model_in_file(const std::string& name, const std::string& path) {
  VMAFX_ASSIGN(const std::string text, read_text_file(kFile, path, kMostFileBytes));
  const auto json = nesting_depth(text) > kMostDepth ? std::nullopt : Json::parse(text);
  if (!json || !json->is_object())
    return error(EINVAL, "%s '%s': it is not a JSON object of displays", kFile, path.c_str());
  const Json* const entry = json->find(name);
  if (!entry || !entry->is_object())
    return error(EINVAL, "%s '%s': it has no display '%s'", kFile, path.c_str(), name.c_str());
  return model_of(*entry, format_text("%s '%s': display '%s'", kFile, path.c_str(), name.c_str()));
}

/* -- Geometry ------------------------------------------------------------------------------------------------------ */

constexpr double radians(double degrees) { return degrees * std::numbers::pi / 180; }
constexpr double degrees(double radians) { return radians * 180 / std::numbers::pi; }

/* In meters. */
double width_of(const CvvdpDisplayModel& model, double distance) {
  const double aspect = model.w / model.h;
  if (!(model.fov_diagonal > 0)) return aspect * model.diagonal / std::sqrt(1 + aspect * aspect);
  const double samples_away = std::hypot(model.w, model.h) / (2 * std::tan(radians(model.fov_diagonal / 2)));
  return aspect * (model.h / samples_away) * distance;
}

/* -- Colors -------------------------------------------------------------------------------------------------------- */

/* Whether a display's R G B are those of these primaries: an SDR display takes those of all SDR video for its own. */
bool are_own_primaries(CvvdpCurve curve, int code) {
  const bool wide = curve == CvvdpCurve::kPq || curve == CvvdpCurve::kHlg;
  return code == kUnspecified || (wide ? code == 9 : code == 1 || (5 <= code && code <= 7));
}

constexpr double kXyzToLms[9] = {0.187596268556126,  0.585168649077728,  -0.026384263306304,
                                 -0.133397430663221, 0.405505777260049,  0.034502127690364,
                                 0.000244379021663,  -0.000542995890619, 0.019406849066323};
constexpr double kLmsToPlanes[9] = {1, 1, 0, 1, -2.311130179947035, 0, -1, -1, 50.977571328718781};

std::array<double, 9> product(std::span<const double, 9> a, std::span<const double, 9> b) {
  std::array<double, 9> out = {};
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < 3; k++) out[i] += a[i / 3 * 3 + k] * b[3 * k + i % 3];
  return out;
}

StatusOr<std::array<double, 9>> to_planes(const CvvdpColorSpace& space, int primaries) {
  std::array<double, 9> to_xyz = std::to_array(space.to_xyz);
  if (!are_own_primaries(space.curve, primaries)) {
    VMAFX_ASSIGN(to_xyz, primaries_to_xyz(primaries));
  }
  return product(kLmsToPlanes, product(kXyzToLms, to_xyz));
}

/* The video's transfer is that of the display, where it says one. */
Status check_transfer(const CvvdpDisplayModel& model, CvvdpCurve curve, int transfer) {
  if (transfer == kUnspecified) return {};
  const bool pq = transfer == kPqTransfer, hlg = transfer == kHlgTransfer;
  if (pq == (curve == CvvdpCurve::kPq) && hlg == (curve == CvvdpCurve::kHlg)) return {};
  const std::string name = model.name.empty() ? "the display" : "display " + std::string(model.name);
  return error(EINVAL, "%s is not for video that is %s: name another one, such as %s, or leave it out", name.c_str(),
               pq    ? "PQ"
               : hlg ? "HLG"
                     : "SDR",
               pq    ? "standard_hdr_pq"
               : hlg ? "standard_hdr_hlg"
                     : "standard_4k");
}

/* The power of the display's light, less 1. */
StatusOr<double> hlg_power(const CvvdpDisplayModel& model) {
  if (model.most_light <= 1000) return 0.2;
  if (!(model.ambient > 0))
    return error(EINVAL, "a display of HLG above 1000 cd/m² needs ambient light (E_ambient) above 0 lux");
  return 0.2 + 0.42 * std::log10(model.most_light / 1000) - 0.07623 * std::log10(model.ambient / 5);
}

}  // namespace

StatusOr<CvvdpDisplayModel> cvvdp_display_model(const std::string& name, const std::string& path) {
  if (!path.empty()) return model_in_file(name, path);
  const CvvdpDisplayModel* const model = find(kModels, name);
  if (model) return *model;
  return error(EINVAL, "there is no display '%s'; there are: %s (others: display_file=FILE)", name.c_str(),
               names_of(kModels).c_str());
}

std::string_view cvvdp_usual_display(const VideoFormat& format) {
  const int transfer = format.color.transfer;
  return transfer == kPqTransfer ? "standard_hdr_pq" : transfer == kHlgTransfer ? "standard_hdr_hlg" : "standard_4k";
}

double cvvdp_pixels_per_degree(const CvvdpDisplayModel& model) {
  if (model.pixels_per_degree > 0) return model.pixels_per_degree;
  const double distance = model.distance > 0 ? model.distance : 3;
  return 1 / (2 * degrees(std::atan(0.5 * width_of(model, distance) / model.w / distance)));
}

StatusOr<CvvdpDisplay> cvvdp_display(const CvvdpDisplayModel& model, const VideoFormat& format) {
  const CvvdpColorSpace& space = *find(kColorSpaces, model.color_space);
  VMAFX_TRY(check_transfer(model, space.curve, format.color.transfer));
  VMAFX_ASSIGN(const LinearLight rgb, display_rgb_of(format));
  VMAFX_ASSIGN(const auto planes, to_planes(space, format.color.primaries));
  const bool pq = space.curve == CvvdpCurve::kPq, full_range = format.color.range == Color::Range::kFull;
  double gamma = space.gamma;
  if (space.curve == CvvdpCurve::kHlg) {
    VMAFX_ASSIGN(gamma, hlg_power(model));
  }
  const double black = model.least_light > 0 ? model.least_light : model.most_light / model.contrast;
  const double scale = pq ? kPqMost : model.most_light - black;
  const double reflected = model.ambient / std::numbers::pi * model.reflectivity;
  const int step = 1 << (format.bpc - 8), codes = 1 << format.bpc;
  const auto f = [](double v) { return static_cast<float>(v); };
  CvvdpDisplay display = {.luma = f(rgb.luma),
                          .luma_offset = f(rgb.luma_offset),
                          .red_cr = f(rgb.red_cr),
                          .green_cb = f(rgb.green_cb),
                          .green_cr = f(rgb.green_cr),
                          .blue_cb = f(rgb.blue_cb),
                          .least_chroma = full_range ? 0 : 16 * step,
                          .most_chroma = full_range ? codes - 1 : 240 * step,
                          .neutral_chroma = rgb.neutral_chroma,
                          .curve = space.curve,
                          .gamma = f(gamma),
                          .exposure = f(model.exposure),
                          .least = f(pq ? kPqLeast / kPqMost : 0),
                          .most = f(pq ? model.most_light / kPqMost : 1),
                          .scale = f(scale),
                          .offset = f(black + reflected),
                          .to_planes = {}};
  std::ranges::transform(planes, display.to_planes, f);
  return display;
}

}  // namespace vmafx
