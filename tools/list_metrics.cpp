/* Prints the table of metrics as JSON, for tools/make_metrics.py: a line for each, with the keys that it has by
 * default, and those that each of its switches adds. */
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/registry/registry.h"

using namespace vmafx;
using Json = nlohmann::ordered_json;

namespace {

/* Large enough for every metric, with chroma and a frame rate. */
constexpr VideoFormat kFormat = {.w = 512, .h = 512, .bpc = 8, .chroma = Chroma::k420, .fps = 25};

struct Keys {
  std::vector<std::string> of_frames, of_stream;
};

/* Empty if the metric refuses these options. */
Keys keys_with(const ExtractorInfo& info, const OptionTexts& texts) {
  const auto options = Options::resolve(info.name, info.options, texts);
  if (!options.ok()) return {};
  const auto extractor = info.create(options.value(), kFormat, Placement::kCpu);
  if (!extractor.ok()) return {};
  Keys keys;
  for (const FeatureInfo& feature : extractor.value()->features()) keys.of_frames.emplace_back(feature.key);
  for (const char* key : extractor.value()->aggregates()) keys.of_stream.emplace_back(key);
  return keys;
}

std::vector<std::string> added(const std::vector<std::string>& keys, const std::vector<std::string>& usual) {
  std::vector<std::string> more;
  for (const std::string& key : keys)
    if (std::ranges::find(usual, key) == usual.end()) more.push_back(key);
  return more;
}

const char* better(Worse worse) { return worse == Worse::kLow ? "higher" : worse == Worse::kHigh ? "lower" : "–"; }

Json described(const ExtractorInfo& info) {
  const Keys usual = keys_with(info, {});
  Json switches = Json::array();
  for (const OptionInfo& option : info.options) {
    if (option.type != OptionInfo::Type::kBool) continue;
    const Keys keys = keys_with(info, {{option.name, option.fallback != 0 ? "false" : "true"}});
    switches.push_back({{"option", option.name},
                        {"frame_keys", added(keys.of_frames, usual.of_frames)},
                        {"stream_keys", added(keys.of_stream, usual.of_stream)}});
  }
  std::vector<std::string> keys;
  for (const FeatureInfo& feature : info.features) keys.emplace_back(feature.key);
  return {{"name", info.name},
          {"measures", info.measures},
          {"help", info.help},
          {"range", info.range},
          {"better", better(info.features[0].worse)},
          {"gpu", (info.flags & kHip) != 0},
          {"main", info.main_score ? info.main_score : usual.of_frames.front()},
          {"keys", keys},
          {"frame_keys", usual.of_frames},
          {"stream_keys", usual.of_stream},
          {"switches", switches}};
}

}  // namespace

int main() {
  for (const ExtractorInfo* info : extractors()) std::printf("%s\n", described(*info).dump().c_str());
}
