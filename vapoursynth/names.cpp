#include "vapoursynth/names.h"

namespace vapoursynth {
namespace {

struct Other {
  std::string_view key;
  const char* property;
};

constexpr Other kOthers[] = {
    {"ssimulacra2", "_SSIMULACRA2"},
    {"ssimulacra2", "SSIMULACRA2"},
    {"butteraugli", "_BUTTERAUGLI_INFNorm"},
    {"butteraugli_pnorm", "_BUTTERAUGLI_3Norm"},
    {"xpsnr_y", "XPSNR_Y"},
    {"xpsnr_cb", "XPSNR_U"},
    {"xpsnr_cr", "XPSNR_V"},
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

std::string property_of(std::string_view key) {
  std::string name;
  for (const char c : key) name += is_letter(c) || (c >= '0' && c <= '9') ? c : '_';
  return name.empty() || !is_letter(name[0]) ? "_" + name : name;
}

std::vector<const char*> other_properties_of(std::string_view key) {
  std::vector<const char*> names;
  for (const Other& other : kOthers)
    if (other.key == key) names.push_back(other.property);
  return names;
}

}  // namespace vapoursynth
