/* Vship's plugin for VapourSynth: its functions, arguments and properties. */
#include <VapourSynth4.h>

#include "compat/vship/abi.h"
#include "compat/vship/devices.h"
#include "compat/vship/features.h"
#include "vapoursynth/filter.h"

namespace vship {
namespace {

using vapoursynth::AnyOrder;
using vapoursynth::FilterSettings;

/* `numStream` has no meaning here: a node has as many frames in flight as VapourSynth asks for. */
FilterSettings settings_of(const char* name, const std::string& features, const VSMap* in, VSCore* core,
                           const VSAPI* api) {
  VSCoreInfo info;
  api->getCoreInfo(core, &info);
  FilterSettings settings{.name = name, .options = {{"model", ""}, {"feature", features}, {"check", "off"}}, .put = {}};
  settings.options.emplace_back("n_threads", std::to_string(info.numThreads));
  const auto gpu_id = static_cast<int>(vapoursynth::int_argument(in, "gpu_id", 0, api));
  for (auto& option : device_options(gpu_id)) settings.options.push_back(std::move(option));
  return settings;
}

void VS_CC ssimulacra2(const VSMap* in, VSMap* out, void*, VSCore* core, const VSAPI* api) {
  FilterSettings settings = settings_of("SSIMULACRA2", "name=ssimulacra2", in, core, api);
  settings.put = [](int64_t n, const AnyOrder& known, VSMap* properties, const VSAPI* vs) {
    vs->mapSetFloat(properties, "_SSIMULACRA2", known.known(n)->front().second, maReplace);
  };
  make_filter(std::move(settings), in, out, core, api);
}

void put_butteraugli(int64_t n, const AnyOrder& known, VSMap* properties, const VSAPI* api) {
  ButteraugliScores scores;
  for (const auto& [key, value] : *known.known(n)) scores.take(*key, value);
  api->mapSetFloat(properties, "_BUTTERAUGLI_QNorm", scores.norm_q(), maReplace);
  api->mapSetFloat(properties, "_BUTTERAUGLI_3Norm", scores.norm3, maReplace);
  api->mapSetFloat(properties, "_BUTTERAUGLI_INFNorm", scores.norm_inf, maReplace);
}

void warn_of_map(const char* name, VSCore* core, const VSAPI* api) {
  const std::string text = std::string(name) +
                           ": the library makes no map of distances; with distmap=1 all samples are NaN, and the "
                           "scores are in the frames' properties";
  api->logMessage(mtWarning, text.c_str(), core);
}

void VS_CC butteraugli(const VSMap* in, VSMap* out, void*, VSCore* core, const VSAPI* api) {
  const auto q = static_cast<int>(vapoursynth::int_argument(in, "qnorm", 2, api));
  const double intensity = vapoursynth::float_argument(in, "intensity_multiplier", 203, api);
  FilterSettings settings = settings_of("BUTTERAUGLI", butteraugli_features(q, intensity), in, core, api);
  settings.put = put_butteraugli;
  settings.returns_map = vapoursynth::int_argument(in, "distmap", 0, api) != 0;
  if (settings.returns_map) warn_of_map("BUTTERAUGLI", core, api);
  make_filter(std::move(settings), in, out, core, api);
}

/* Vship's score is that of all frames so far, in the order in which they are asked for; here that of frames 0 to n, so
 * that it is the same in any order, and that of the last frame is that of the clip. */
void put_cvvdp(int64_t n, const AnyOrder& known, VSMap* properties, const VSAPI* api) {
  std::vector<double> scores;
  for (int64_t frame = 0; frame <= n; frame++) scores.push_back(known.known(frame)->front().second);
  double pooled = 0;
  vmafx_pool_key(known.known(n)->front().first->c_str(), "mean", scores.data(), scores.size(), &pooled);
  api->mapSetFloat(properties, "_CVVDP", pooled, maReplace);
}

void VS_CC cvvdp(const VSMap* in, VSMap* out, void*, VSCore* core, const VSAPI* api) {
  if (vapoursynth::int_argument(in, "resizeToDisplay", 0, api)) return api->mapSetError(out, kNoResizing);
  std::string display = vapoursynth::text_argument(in, "model_name", api);
  if (display.empty()) display = "standard_fhd";
  const std::string file = vapoursynth::text_argument(in, "model_config_json", api);
  FilterSettings settings = settings_of("CVVDP", cvvdp_features(display, file), in, core, api);
  settings.put = put_cvvdp;
  settings.accumulates = true;
  settings.returns_map = vapoursynth::int_argument(in, "distmap", 0, api) != 0;
  if (settings.returns_map) warn_of_map("CVVDP", core, api);
  make_filter(std::move(settings), in, out, core, api);
}

void VS_CC gpu_info(const VSMap* in, VSMap* out, void*, VSCore*, const VSAPI* api) {
  const auto& all = devices();
  const int64_t chosen = vapoursynth::int_argument(in, "gpu_id", -1, api);
  if (chosen >= static_cast<int64_t>(all.size())) return api->mapSetError(out, "GpuInfo: this device does not exist");
  std::string text;
  for (size_t i = 0; i < all.size(); i++)
    if (chosen < 0) text += "GPU " + std::to_string(i) + ": " + all[i].name + "\n";
  if (chosen >= 0) {
    const Vship_DeviceInfo& device = all[static_cast<size_t>(chosen)];
    text = std::string("Name: ") + device.name + "\nVRAMCapacity: " + std::to_string(device.VRAMSize / 1e9) +
           " GB\nIntegrated: " + std::to_string(device.integrated) + "\nPassKernelCheck : 1\n";
  }
  api->mapSetData(out, "gpu_human_data", text.data(), static_cast<int>(text.size()), dtUtf8, maReplace);
}

}  // namespace
}  // namespace vship

VS_EXTERNAL_API(void) VapourSynthPluginInit2(VSPlugin* plugin, const VSPLUGINAPI* api) {
  const auto add = [&](const char* name, const char* arguments, const char* returns, VSPublicFunction function) {
    api->registerFunction(name, arguments, returns, function, nullptr, plugin);
  };
  const auto version = Vship_GetVersion();
  api->configPlugin("com.lumen.vship", "vship", "Vship's functions on the engine of vmafx",
                    VS_MAKE_VERSION(version.major, version.minor), VAPOURSYNTH_API_VERSION, 0, plugin);
  add("SSIMULACRA2", "reference:vnode;distorted:vnode;numStream:int:opt;gpu_id:int:opt;", "clip:vnode;",
      vship::ssimulacra2);
  add("BUTTERAUGLI",
      "reference:vnode;distorted:vnode;qnorm:int:opt;intensity_multiplier:float:opt;distmap:int:opt;numStream:int:opt;"
      "gpu_id:int:opt;",
      "clip:vnode;", vship::butteraugli);
  add("CVVDP",
      "reference:vnode;distorted:vnode;model_name:data:opt;model_config_json:data:opt;resizeToDisplay:int:opt;"
      "distmap:int:opt;gpu_id:int:opt;",
      "clip:vnode;", vship::cvvdp);
  add("GpuInfo", "gpu_id:int:opt;", "gpu_human_data:data;", vship::gpu_info);
}
