#include "hip/architecture.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/status.h"
#include "base/system/environment.h"

namespace vmafx::hip {
namespace {

struct Node {
  unsigned target_version = 0;  // 0: a CPU
  PciAddress address;
};

/* A node's properties are lines of "name value". location_id is bus:8 device:5 function:3. */
Node read_node(const std::string& path) {
  Node node;
  std::ifstream file(path);
  std::string name;
  unsigned long long value = 0;
  while (file >> name >> value) {
    if (name == "gfx_target_version") node.target_version = static_cast<unsigned>(value);
    if (name == "domain") node.address.domain = static_cast<unsigned>(value);
    if (name != "location_id") continue;
    node.address.bus = value >> 8 & 0xff;
    node.address.device = value >> 3 & 0x1f;
    node.address.function = value & 7;
  }
  return node;
}

/* "10.3.0" of the environment as 100300. */
std::optional<unsigned> overridden_version(int ordinal) {
  const char* text = environment(format_text("HSA_OVERRIDE_GFX_VERSION_%d", ordinal).c_str());
  if (!text) text = environment("HSA_OVERRIDE_GFX_VERSION");
  unsigned major = 0, minor = 0, stepping = 0;
  if (!text || std::sscanf(text, "%u.%u.%u", &major, &minor, &stepping) != 3) return {};
  return major * 10000 + minor * 100 + stepping;
}

}  // namespace

std::optional<PciAddress> PciAddress::parse(const std::string& text) {
  PciAddress a;
  int length = 0;
  const auto whole = [&] { return length == static_cast<int>(text.size()); };
  if (std::sscanf(text.c_str(), "%x:%x:%x.%x%n", &a.domain, &a.bus, &a.device, &a.function, &length) == 4 && whole())
    return a;
  a.domain = 0;
  length = 0;
  if (std::sscanf(text.c_str(), "%x:%x.%x%n", &a.bus, &a.device, &a.function, &length) == 3 && whole()) return a;
  return {};
}

std::string gfx_name(unsigned target_version) {
  return format_text("gfx%u%x%x", target_version / 10000, target_version / 100 % 100, target_version % 100);
}

std::string amd_architecture(const PciAddress& address, int ordinal, const std::string& nodes) {
  if (const auto version = overridden_version(ordinal)) return gfx_name(*version);
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(nodes, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const Node node = read_node((entry->path() / "properties").string());
    if (node.target_version && node.address == address) return gfx_name(node.target_version);
  }
  return "";
}

std::string architecture_in_properties(std::span<const char> properties) {
  constexpr size_t kNameBytes = 256;
  constexpr std::string_view kBegin("\0gfx", 4);
  const std::string_view text(properties.data(), properties.size());
  const size_t at = text.find(kBegin, kNameBytes - 1);
  if (at == text.npos) return "";
  const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  return {begin,
          std::find_if_not(begin, text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); })};
}

}  // namespace vmafx::hip
