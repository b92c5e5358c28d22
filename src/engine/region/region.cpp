#include "engine/region/region.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

namespace vmafx {
namespace {

constexpr std::string_view kMaskEnding = ".pgm";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(std::string_view text) {
  const auto fits = [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, fits);
}

/* Takes a number from the beginning of a text, and the character behind it, unless that is 0. */
bool take_number(std::string_view& text, int& number, char behind) {
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || text.starts_with('-')) return false;
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  if (!behind) return text.empty();
  if (!text.starts_with(behind)) return false;
  text.remove_prefix(1);
  return true;
}

/* "640x360+100+50" */
std::optional<Rectangle> read_rectangle(std::string_view text) {
  Rectangle found;
  if (take_number(text, found.w, 'x') && take_number(text, found.h, '+') && take_number(text, found.x, '+') &&
      take_number(text, found.y, 0))
    return found;
  return std::nullopt;
}

Status no_region(std::string_view text, const char* why) {
  return error(EINVAL,
               "roi=%.*s: %s; use WIDTHxHEIGHT+X+Y in samples of luma, a mask FILE.pgm, active or center, each with "
               "NAME= before it or without, and | between several: face=640x360+100+50|center",
               static_cast<int>(text.size()), text.data(), why);
}

StatusOr<Region> parse_region(std::string_view text) {
  Region region;
  std::string_view what = text;
  if (const size_t equals = text.find('='); equals != text.npos) {
    region.name = text.substr(0, equals);
    what = text.substr(equals + 1);
    if (!is_name(region.name)) return no_region(text, "a name has letters, digits and _, and begins with a letter");
  }
  std::string usual = "roi";
  if (what == "active" || what == "center") {
    region.kind = what == "active" ? Region::Kind::kActive : Region::Kind::kCenter;
    usual = what;
  } else if (const auto rectangle = read_rectangle(what)) {
    region.rectangle = *rectangle;
    if (!rectangle->w || !rectangle->h) return no_region(text, "it has no samples");
  } else if (what.ends_with(kMaskEnding)) {
    region.kind = Region::Kind::kMask;
    region.path = what;
  } else {
    return no_region(text, "it is no region");
  }
  if (region.name.empty()) region.name = usual;
  return region;
}

}  // namespace

StatusOr<std::vector<Region>> parse_regions(const std::string& text) {
  std::vector<Region> regions;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('|', begin), text.size());
    VMAFX_ASSIGN(Region region, parse_region(std::string_view(text).substr(begin, end - begin)));
    if (std::ranges::find(regions, region.name, &Region::name) != regions.end())
      return error(EINVAL, "roi: two regions are called '%s'; give each a name of its own, NAME=…",
                   region.name.c_str());
    regions.push_back(std::move(region));
    begin = end + 1;
  }
  return regions;
}

}  // namespace vmafx
