#include "report/outputs.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/json.h"
#include "base/system/file.h"
#include "base/system/path.h"

namespace vmafx {
namespace {

// -- What is replaced -------------------------------------------------------------------------------------------------

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view without_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}

/* Takes `what` from the beginning of a text; false: the text does not begin so. */
bool skip(std::string_view* text, std::string_view what) {
  if (!text->starts_with(what)) return false;
  text->remove_prefix(what.size());
  return true;
}

std::optional<int64_t> skip_number(std::string_view* text) {
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (failure != std::errc() || number < 0) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

/* A whole report, or a line of NDJSON: its last one has no frames. */
bool is_json_report(std::string_view text) {
  if (!text.starts_with('{')) return false;
  const std::set<std::string> places = Json::places(text);
  const auto has = [&](const char* place) { return places.contains(place); };
  const auto has_both = [&](const char* one, const char* other) { return has(one) && has(other); };
  return has_both("frameNum", "metrics") || has_both("window", "pooled") || has_both("version", "pooled_metrics") ||
         has_both("frames/frameNum", "frames/metrics") ||
         has_both("encodes/frames/frameNum", "encodes/frames/metrics") || has_both("encodes/encode", "fps");
}

bool is_xml_report(std::string_view text) {
  if (skip(&text, "<?xml")) {
    text.remove_prefix(std::min(text.find("?>"), text.size()));
    if (skip(&text, "?>")) text = without_blanks(text);
  }
  return text.starts_with("<VMAF ") || text.starts_with("<VMAF>");
}

/* Each line ends with a comma, as libvmaf writes it. */
bool is_csv_report(std::string_view text) {
  skip(&text, "Encode,Name,");
  const size_t end = text.find_first_of("\r\n");
  return text.starts_with("Frame,") && end != text.npos && text[end - 1] == ',';
}

/* {5}{6}frame: 5| */
bool is_sub_report(std::string_view text) {
  if (!skip(&text, "{")) return false;
  const auto first = skip_number(&text);
  if (!first || !skip(&text, "}{")) return false;
  const auto next = skip_number(&text);
  if (!next || !skip(&text, "}frame: ")) return false;
  return skip_number(&text) == first && *next == *first + 1 && text.starts_with('|');
}

// -- Which files are one ----------------------------------------------------------------------------------------------

/* Identifies the file that a name leads to: by its inode, or where the file does not exist yet, by its folder's inode
 * and its name there. */
struct Identity {
  uint64_t device = 0, inode = 0;
  std::string name{};  // "": the file is there
  bool operator==(const Identity&) const = default;
};

std::optional<int> descriptor_of(const std::string& path) {
  if (path == "-") return system::kStandardOutput;
  int fd = -1;
  if (!path.starts_with("pipe:")) return std::nullopt;
  const auto [rest, failure] = std::from_chars(path.data() + 5, path.data() + path.size(), fd);
  return failure == std::errc() && fd >= 0 ? std::optional(fd) : std::nullopt;
}

/* nullopt: a device, which can be shared, or something that cannot be opened either. */
std::optional<Identity> identity_of(const std::string& path) {
  system::FileFacts facts;
  const auto descriptor = descriptor_of(path);
  const int cause = descriptor ? system::read_facts(*descriptor, &facts) : system::read_facts(path, &facts);
  if (!cause) {
    if (facts.kind == system::FileKind::kDevice) return std::nullopt;
    return Identity{facts.device, facts.number};
  }
  if (descriptor || cause != ENOENT) return std::nullopt;
  const std::string real = system::end_of_links(path);
  if (system::read_facts(system::folder_of(real), &facts)) return Identity{0, 0, real};
  return Identity{facts.device, facts.number, system::name_of(real)};
}

/* Whether a path is that of a file that an output writes into a folder. */
bool is_in_folder(const NamedFile& folder, const std::string& path) {
  if (!path.ends_with(folder.ending)) return false;
  const std::string real = system::end_of_links(path);
  const auto of_path = identity_of(system::folder_of(real)), of_folder = identity_of(folder.path + "/");
  return of_path && of_path == of_folder;
}

bool are_one(const NamedFile& a, const NamedFile& b) {
  if (!a.ending.empty() && !b.ending.empty()) return false;  // the files have names of their own
  if (!a.ending.empty()) return is_in_folder(a, b.path);
  if (!b.ending.empty()) return is_in_folder(b, a.path);
  const auto of_a = identity_of(a.path);
  return of_a && of_a == identity_of(b.path);
}

std::string told(const NamedFile& file) { return file.option + "=" + file.path; }

}  // namespace

bool is_report(std::string_view beginning) {
  const std::string_view text = without_blanks(beginning);
  return is_json_report(text) || is_xml_report(text) || is_csv_report(beginning) || is_sub_report(beginning);
}

bool is_metrics_file(std::string_view beginning) {
  return beginning.starts_with("# HELP vmafx_") || beginning.starts_with("# TYPE vmafx_");
}

Replaceable replaceable_by_report(bool overwrite) {
  return {"log_path", "report", "a report of vmafx or libvmaf",
          [](const ExistingFile& file) { return is_report(file.beginning); }, overwrite};
}

Replaceable replaceable_by_metrics(bool overwrite) {
  return {"openmetrics", "openmetrics", "a file that openmetrics has written",
          [](const ExistingFile& file) { return is_metrics_file(file.beginning); }, overwrite};
}

Status check_distinct(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs) {
  for (size_t i = 0; i < outputs.size(); i++) {
    for (const NamedFile& input : inputs)
      if (are_one(outputs[i], input))
        return error(EINVAL, "%s names a file that is read, by %s; name another file", told(outputs[i]).c_str(),
                     told(input).c_str());
    for (size_t j = i + 1; j < outputs.size(); j++)
      if (are_one(outputs[i], outputs[j]))
        return error(EINVAL, "%s and %s name one file; name another one", told(outputs[i]).c_str(),
                     told(outputs[j]).c_str());
  }
  return {};
}

}  // namespace vmafx
