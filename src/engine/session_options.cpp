#include "engine/session_options.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <iterator>
#include <system_error>
#include <variant>
#include <vector>

#include "base/nearest.h"

namespace vmafx {

namespace {

using TextField = std::string SessionOptions::*;
using IntField = int SessionOptions::*;
using FlagField = bool SessionOptions::*;

/* An option, and the field that has its value. */
struct Entry {
  VmafxOption option;
  std::variant<TextField, IntField, FlagField> field;
};

/* -- The table ----------------------------------------------------------------------------------------------------- */

#define VMAFX_ONE(...) +1
constexpr size_t kInFilter = VMAFX_FILTER_OPTIONS(VMAFX_ONE, VMAFX_ONE, VMAFX_ONE);
#undef VMAFX_ONE

#define VMAFX_TEXT(name, value, help) \
  Entry{{#name, VMAFX_OPTION_TEXT, value, 0, 0, 0, help, 0, {}}, &SessionOptions::name},
#define VMAFX_INT(name, value, least, most, help) \
  Entry{{#name, VMAFX_OPTION_INT, nullptr, value, least, most, help, 0, {}}, &SessionOptions::name},
#define VMAFX_FLAG(name, value, help) \
  Entry{{#name, VMAFX_OPTION_FLAG, nullptr, value, 0, 1, help, 0, {}}, &SessionOptions::name},
constexpr auto kEntries = [] {
  std::array entries{VMAFX_OPTIONS(VMAFX_TEXT, VMAFX_INT, VMAFX_FLAG)};
  for (size_t i = 0; i < kInFilter; i++) entries[i].option.in_filter = 1;
  return entries;
}();
#undef VMAFX_TEXT
#undef VMAFX_INT
#undef VMAFX_FLAG

Status unknown(const char* name) {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) names.push_back(entry.option.name);
  const std::string meant = nearest_name(name, names);
  if (meant.empty()) return error(ENOENT, "there is no option '%s'; vmafx_option() lists all", name);
  return error(ENOENT, "there is no option '%s'; did you mean %s?", name, meant.c_str());
}

StatusOr<const Entry*> find(const char* name) {
  for (const Entry& entry : kEntries)
    if (!std::strcmp(entry.option.name, name)) return &entry;
  return unknown(name);
}

/* -- Numbers ------------------------------------------------------------------------------------------------------- */

/* The values that an option takes, for messages. */
std::string advice(const VmafxOption& option) {
  if (option.most == INT_MAX) return format_text("use %d or more (%s)", option.least, option.help);
  return format_text("use %d to %d (%s)", option.least, option.most, option.help);
}

StatusOr<int> parse_number(const VmafxOption& option, const char* text) {
  if (option.type == VMAFX_OPTION_FLAG)
    for (const int value : {0, 1})
      if (!std::strcmp(text, value ? "true" : "false")) return value;
  int number = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, failure] = std::from_chars(text, end, number);
  if (failure == std::errc() && stop == end) return number;
  return error(EINVAL, "%s=%s is not a whole number of 32 bits; %s", option.name, text, advice(option).c_str());
}

Status store(const Entry& entry, int number, SessionOptions& options) {
  const VmafxOption& option = entry.option;
  if (number < option.least || number > option.most)
    return error(EINVAL, "%s=%d; %s", option.name, number, advice(option).c_str());
  if (const IntField* field = std::get_if<IntField>(&entry.field)) options.** field = number;
  else options.*std::get<FlagField>(entry.field) = number != 0;
  return {};
}

}  // namespace

const VmafxOption* find_option(int i) {
  return i >= 0 && static_cast<size_t>(i) < kEntries.size() ? &kEntries[static_cast<size_t>(i)].option : nullptr;
}

Status SessionOptions::set(const char* name, const char* text) {
  VMAFX_ASSIGN(const Entry* const entry, find(name));
  if (const TextField* field = std::get_if<TextField>(&entry->field)) {
    this->** field = text_of(text ? text : entry->option.default_text);
    return {};
  }
  if (!text) return store(*entry, entry->option.default_number, *this);
  VMAFX_ASSIGN(const int number, parse_number(entry->option, text));
  return store(*entry, number, *this);
}

Status SessionOptions::set(const char* name, int number) {
  VMAFX_ASSIGN(const Entry* const entry, find(name));
  if (entry->option.type == VMAFX_OPTION_TEXT)
    return error(EINVAL, "%s=%d is a number; the option takes a text (%s)", name, number, entry->option.help);
  return store(*entry, number, *this);
}

Status SessionOptions::validate() const {
  if (import != "auto" && import != "device" && import != "host")
    return error(EINVAL, "there is no import=%s; use auto, device or host", import.c_str());
  if (check != "off" && check != "log" && check != "warn" && check != "fail")
    return error(EINVAL, "there is no check=%s; use off, log, warn or fail", check.c_str());
  return {};
}

}  // namespace vmafx
