#include "kernels/recolor/color_target.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <span>

namespace vmafx {
namespace {

constexpr const char* kMatrixNames[] = {
    "gbr",       "bt709", "unknown",  "reserved", "fcc",       "bt470bg",           "smpte170m",
    "smpte240m", "ycgco", "bt2020nc", "bt2020c",  "smpte2085", "chroma-derived-nc", "chroma-derived-c",
    "ictcp"};
constexpr const char* kTransferNames[] = {"reserved",  "bt709",        "unknown",   "reserved",     "bt470m",
                                          "bt470bg",   "smpte170m",    "smpte240m", "linear",       "log100",
                                          "log316",    "iec61966-2-4", "bt1361e",   "iec61966-2-1", "bt2020-10",
                                          "bt2020-12", "smpte2084",    "smpte428",  "arib-std-b67"};
constexpr const char* kPrimariesNames[] = {"reserved", "bt709",     "unknown",   "reserved", "bt470m",
                                           "bt470bg",  "smpte170m", "smpte240m", "film",     "bt2020",
                                           "smpte428", "smpte431",  "smpte432"};

using Names = std::span<const char* const>;

std::string name_of(Names names, int code) {
  return static_cast<size_t>(code) < names.size() ? names[static_cast<size_t>(code)] : std::to_string(code);
}

std::optional<int> find(Names names, std::string_view name) {
  for (size_t i = 0; i < names.size(); i++)
    if (name == names[i] && name != "reserved" && name != "unknown") return static_cast<int>(i);
  return std::nullopt;
}

/* -- The option convert -------------------------------------------------------------------------------------------- */

struct NamedSpace {
  const char* name;
  int matrix, transfer, primaries;
};

constexpr NamedSpace kSpaces[] = {{"bt709", 1, 1, 1},       {"bt2020", 9, 14, 9}, {"bt2020-pq", 9, 16, 9},
                                  {"bt2020-hlg", 9, 18, 9}, {"p3-pq", 9, 16, 12}, {"ictcp-pq", 14, 16, 9},
                                  {"ictcp-hlg", 14, 18, 9}};

StatusOr<ColorTarget> target_called(const std::string& name) {
  std::string names;
  for (const NamedSpace& space : kSpaces) {
    if (name == space.name)
      return ColorTarget{.name = name,
                         .color = {.matrix = space.matrix,
                                   .transfer = space.transfer,
                                   .primaries = space.primaries,
                                   .range = Color::Range::kLimited},
                         .rules = {}};
    names += (names.empty() ? "" : ", ") + std::string(space.name);
  }
  return error(EINVAL, "there is no convert=%s; use one of %s", name.c_str(), names.c_str());
}

std::optional<Chroma> find_chroma(std::string_view name) {
  if (name == "420") return Chroma::k420;
  if (name == "422") return Chroma::k422;
  if (name == "444") return Chroma::k444;
  return std::nullopt;
}

Status wrong(const std::string& key, const std::string& value, const char* use) {
  return error(EINVAL, "convert: there is no %s=%s; use %s", key.c_str(), value.c_str(), use);
}

Status set(ColorTarget& target, const std::string& key, const std::string& value) {
  if (key == "bits") {
    const auto [stop, failure] = std::from_chars(value.data(), value.data() + value.size(), target.bits);
    const bool whole = failure == std::errc() && stop == value.data() + value.size();
    return whole && target.bits >= 8 && target.bits <= 16 ? Status() : wrong(key, value, "8 to 16");
  }
  if (key == "chroma") {
    target.chroma = find_chroma(value);
    return target.chroma ? Status() : wrong(key, value, "420, 422 or 444");
  }
  if (key == "range") {
    const auto range = find_range(value);
    target.color.range = range.value_or(target.color.range);
    return range ? Status() : wrong(key, value, "limited or full");
  }
  if (key == "tones") {
    target.rules.maps_tones = value == "bt2390";
    return target.rules.maps_tones || value == "clip" ? Status() : wrong(key, value, "bt2390 or clip");
  }
  return error(EINVAL, "convert has no setting '%s'; use bits, chroma, range or tones", key.c_str());
}

}  // namespace

StatusOr<ColorTarget> parse_color_target(const std::string& text) {
  size_t end = std::min(text.find(':'), text.size());
  VMAFX_ASSIGN(ColorTarget target, target_called(text.substr(0, end)));
  while (end < text.size()) {
    const size_t first = end + 1;
    end = std::min(text.find(':', first), text.size());
    const std::string setting = text.substr(first, end - first);
    const size_t is = std::min(setting.find('='), setting.size());
    VMAFX_TRY(set(target, setting.substr(0, is), is < setting.size() ? setting.substr(is + 1) : ""));
  }
  return target;
}

std::string matrix_name(int code) { return name_of(kMatrixNames, code); }
std::string transfer_name(int code) { return name_of(kTransferNames, code); }
std::string primaries_name(int code) { return name_of(kPrimariesNames, code); }

std::optional<int> find_matrix(std::string_view name) { return find(kMatrixNames, name); }
std::optional<int> find_transfer(std::string_view name) { return find(kTransferNames, name); }
std::optional<int> find_primaries(std::string_view name) { return find(kPrimariesNames, name); }
std::optional<Color::Range> find_range(std::string_view name) {
  if (name == "limited" || name == "tv") return Color::Range::kLimited;
  if (name == "full" || name == "pc") return Color::Range::kFull;
  return std::nullopt;
}

}  // namespace vmafx
