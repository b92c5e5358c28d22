#include "engine/device/known_costs.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/system/environment.h"
#include "base/system/file.h"
#include "base/system/path.h"
#include "base/system/process.h"
#include "base/text_file.h"

namespace vmafx {
namespace {

constexpr std::string_view kTitle = "vmafx costs 1";
constexpr size_t kMostBytes = 64 << 10;
constexpr size_t kMostOfEach = 64;
constexpr double kLongest = 3600;  // seconds

/* A line: "plan NAME CPU GPU PAIRS" or "device NAME OPENING ADDRESS". */
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == text.npos) break;  // a line that was cut off
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/* 0: not known, or nonsense. */
int64_t number_in(std::string_view word) {
  int64_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, failure] = std::from_chars(word.data(), end, number);
  return failure == std::errc() && rest == end && number > 0 ? number : 0;
}

/* Of nanoseconds, a text that is the same in all locales. */
double seconds_in(std::string_view word) {
  const double seconds = static_cast<double>(number_in(word)) * 1e-9;
  return seconds < kLongest ? seconds : 0;
}

std::string text_of(double seconds) {
  return std::to_string(static_cast<int64_t>(std::clamp(seconds, 0.0, kLongest) * 1e9));
}

/* The last line of this kind and name that has so many words. */
std::vector<std::string_view> find(std::string_view text, std::string_view kind, std::string_view name, size_t count) {
  std::vector<std::string_view> found;
  for (const std::string_view line : lines_of(text))
    if (auto words = words_of(line); words.size() == count && words[0] == kind && words[1] == name)
      found = std::move(words);
  return found;
}

bool is_name(const std::string& text) { return !text.empty() && text.find_first_of(" \n\r") == text.npos; }

/* Puts a line at the end, in the place of the one of that name, and drops the oldest of its kind beyond the most. */
std::string with_line(const std::string& text, const std::string& kind, const std::string& name,
                      const std::string& rest) {
  const std::string begin = kind + " " + name + " ";
  std::vector<std::string_view> lines = lines_of(text);
  std::erase_if(lines, [&](std::string_view line) { return line.starts_with(begin); });
  const auto is_kind = [&](std::string_view line) { return line.starts_with(kind + " "); };
  while (std::ranges::count_if(lines, is_kind) >= static_cast<std::ptrdiff_t>(kMostOfEach))
    lines.erase(std::ranges::find_if(lines, is_kind));
  std::string made;
  for (const std::string_view line : lines) made.append(line) += '\n';
  return made + begin + rest + '\n';
}

/* The file's text; "": there is none. nullopt: it is another program's. */
std::optional<std::string> read_ours(const std::string& path) {
  auto text = read_text_file("file of costs", path, kMostBytes);
  if (!text.ok()) return text.status().code() == ENOENT ? std::optional<std::string>("") : std::nullopt;
  if (!text.value().empty() && !text.value().starts_with(kTitle)) return std::nullopt;
  return std::move(text.value());
}

void replace(const std::string& path, const std::string& text) {
  const std::string fresh = path + "." + std::to_string(system::process_id());
  static_cast<void>(system::make_folders(system::folder_of(path)));
  const int fd = system::open_file(fresh, system::kWrite | system::kNew | system::kNotThroughLink, system::kOwnersMode);
  if (fd < 0) return;
  const bool written = system::write_at(fd, text.data(), text.size(), 0) == 0;
  const bool closed = system::close_file(fd) == 0;
  if (!written || !closed || system::replace_file(fresh, path) != 0) static_cast<void>(system::remove_file(fresh));
}

}  // namespace

std::string known_costs_file() {
  if (const char* chosen = environment("VMAFX_COSTS")) return chosen;
  const std::string folder = system::cache_folder();
  return folder.empty() ? "" : folder + "/vmafx/costs.txt";
}

KnownCosts KnownCosts::read(const std::string& path) {
  KnownCosts costs;
  if (!path.empty()) costs.text_ = read_ours(path).value_or("");
  return costs;
}

std::optional<PlanCosts> KnownCosts::of_plan(const std::string& plan) const {
  const auto words = find(text_, "plan", plan, 5);
  if (words.empty()) return std::nullopt;
  return PlanCosts{seconds_in(words[2]), seconds_in(words[3]), number_in(words[4])};
}

std::optional<DeviceCosts> KnownCosts::of_device(const std::string& device) const {
  const auto words = find(text_, "device", device, 4);
  if (words.empty()) return std::nullopt;
  return DeviceCosts{seconds_in(words[2]), std::string(words[3])};
}

void keep_costs(const std::string& path, const std::string& plan, const PlanCosts& of_plan, const std::string& device,
                const DeviceCosts* of_device) {
  if (path.empty() || !is_name(plan) || !is_name(device)) return;
  const auto ours = read_ours(path);
  if (!ours) return;
  std::string text = ours->empty() ? std::string(kTitle) + '\n' : *ours;
  text = with_line(text, "plan", plan,
                   text_of(of_plan.cpu_pair) + " " + text_of(of_plan.gpu_pair) + " " + std::to_string(of_plan.pairs));
  if (of_device && is_name(of_device->pci_address))
    text = with_line(text, "device", device, text_of(of_device->opening) + " " + of_device->pci_address);
  replace(path, text);
}

}  // namespace vmafx
