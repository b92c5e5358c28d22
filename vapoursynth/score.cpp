/* The plugin `vmafx`: its function Score. */
#include <VapourSynth4.h>

#include <algorithm>
#include <string>

#include "vapoursynth/filter.h"
#include "vapoursynth/names.h"

namespace vapoursynth {
namespace {

/* The options of the library that the function has as arguments. */
constexpr const char* kTexts[] = {"model", "feature", "backend", "device"};
constexpr const char* kNumbers[] = {"n_threads", "fallback", "ignore_unknown", "device_wait"};
constexpr char kArguments[] =
    "reference:vnode;distorted:vnode;model:data:opt;feature:data:opt;backend:data:opt;device:data:opt;"
    "n_threads:int:opt;fallback:int:opt;ignore_unknown:int:opt;device_wait:int:opt;";

void put_all(int64_t n, const AnyOrder& known, VSMap* properties, const VSAPI* api) {
  for (const auto& [key, value] : *known.known(n)) {
    api->mapSetFloat(properties, property_of(*key).c_str(), value, maReplace);
    for (const char* const other : other_properties_of(*key)) api->mapSetFloat(properties, other, value, maReplace);
  }
}

void VS_CC score(const VSMap* in, VSMap* out, void*, VSCore* core, const VSAPI* api) {
  FilterSettings settings{.name = "Score", .options = {{"check", "off"}}, .put = put_all};
  VSCoreInfo info;
  api->getCoreInfo(core, &info);
  settings.options.emplace_back("n_threads", std::to_string(info.numThreads));
  for (const char* const name : kTexts)
    if (api->mapNumElements(in, name) > 0) settings.options.emplace_back(name, text_argument(in, name, api));
  for (const char* const name : kNumbers)
    if (api->mapNumElements(in, name) > 0)
      settings.options.emplace_back(name, std::to_string(int_argument(in, name, 0, api)));
  if (text_argument(in, "feature", api).find("heatmaps_path") != std::string::npos)
    return api->mapSetError(out, "Score: heat maps are of whole streams, in order; make them by FFmpeg's filter vmafx");
  make_filter(std::move(settings), in, out, core, api);
}

}  // namespace
}  // namespace vapoursynth

VS_EXTERNAL_API(void) VapourSynthPluginInit2(VSPlugin* plugin, const VSPLUGINAPI* api) {
  api->configPlugin("vmafx.vapoursynth", "vmafx", "VMAF and the metrics around it, on the CPU and on the GPU",
                    VS_MAKE_VERSION(VMAFX_VERSION_MAJOR, VMAFX_VERSION_MINOR), VAPOURSYNTH_API_VERSION, 0, plugin);
  api->registerFunction("Score", vapoursynth::kArguments, "clip:vnode;", vapoursynth::score, nullptr, plugin);
}
