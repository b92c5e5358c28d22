#include "compat/libvmaf/texts.h"

#include <cerrno>
#include <string_view>
#include <utility>

#include "compat/libvmaf/log.h"

namespace compat {
namespace {

using Names = std::map<std::string, std::string>;  // features' names by their keys

Names make_names() {
  Names names;
  const auto add = [&](const std::string& prefix, const std::string& feature) {
    names["integer_" + feature] = prefix + "_integer_feature_" + feature + "_score";
    names[feature] = prefix + "_feature_" + feature + "_score";
  };
  for (const char* feature :
       {"adm2", "adm3", "aim", "motion", "motion2", "motion3", "vif_scale0", "vif_scale1", "vif_scale2", "vif_scale3"})
    add("VMAF", feature);
  for (const char* scale : {"0", "1", "2", "3"})  // the integer form's features are called by their keys
    names[std::string("adm_scale") + scale] = std::string("VMAF_feature_adm_scale") + scale + "_score";
  names["cambi"] = "Cambi_feature_cambi_score";
  for (const char* plane : {"u", "v", "uv"})
    names[std::string("speed_chroma_") + plane] = std::string("Speed_chroma_feature_speed_chroma_") + plane + "_score";
  names["speed_temporal"] = "Speed_temporal_feature_speed_temporal_score";
  return names;
}

const Names& names_by_key() {
  static const Names names = make_names();
  return names;
}

}  // namespace

std::string name_of(const std::string& key) {
  const auto found = names_by_key().find(key);
  return found == names_by_key().end() ? key : found->second;
}

std::string key_of(const std::string& name) {
  for (const auto& [key, known] : names_by_key())
    if (known == name) return key;
  return name;
}

std::string escaped(const std::string& value) {
  std::string text;
  for (const char c : value) {
    if (std::string_view("\\':= \t\r\n").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

std::string option_text(const OptionTexts& options, const std::string& prefix) {
  std::string text;
  for (const auto& [option, value] : options) text += ":" + escaped(prefix + option) + "=" + escaped(value);
  return text;
}

}  // namespace compat

int vmaf_feature_dictionary_set(VmafFeatureDictionary** dict, const char* key, const char* val) {
  if (!dict || !key || !val) return -EINVAL;
  return compat::guarded([&] {
    if (!*dict) *dict = new VmafFeatureDictionary;
    (*dict)->options[key] = val;
    return 0;
  });
}

int vmaf_feature_dictionary_free(VmafFeatureDictionary** dict) {
  if (!dict) return -EINVAL;
  delete std::exchange(*dict, nullptr);
  return 0;
}
