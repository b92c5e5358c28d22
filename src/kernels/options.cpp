#include "kernels/options.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <optional>

namespace vmafx {
namespace {

using Type = OptionInfo::Type;

/* The whole of `text` as a finite number, with a decimal point whatever the process's locale. */
template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/* Prints like printf's "%g" in the C locale. */
std::string print_number(double value) {
  char text[32];
  const auto [end, failure] = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6);
  return {text, end};
}

const char* type_name(Type type) {
  switch (type) {
    case Type::kBool: return "true or false";
    case Type::kInt: return "a whole number";
    case Type::kDouble: return "a number";
    case Type::kString: return "text";
  }
  return "";
}

/* `text` as a value of `option`, in range; nullopt if it is not one. */
std::optional<double> parse_value(const OptionInfo& option, const std::string& text) {
  if (option.type == Type::kBool) {
    if (text == "true") return 1.0;
    if (text == "false") return 0.0;
    return std::nullopt;
  }
  const auto number = parse_number<double>(normalized_number(text));
  if (!number || *number < option.min || *number > option.max) return std::nullopt;
  if (option.type == Type::kInt && *number != std::floor(*number)) return std::nullopt;
  return number;
}

std::string known_names(std::span<const OptionInfo> table) {
  std::string names;
  for (const OptionInfo& option : table) names += (names.empty() ? "" : ", ") + std::string(option.name);
  return names.empty() ? "none" : names;
}

}  // namespace

std::string normalized_number(const std::string& text) {
  const auto number = parse_number<float>(text);
  return number ? print_number(*number) : text;
}

StatusOr<Options> Options::resolve(const std::string& metric, std::span<const OptionInfo> table,
                                   const OptionTexts& given) {
  Options options;
  options.table_ = table;
  for (const OptionInfo& option : table) options.values_.push_back({option.fallback, option.fallback_text});

  for (const auto& [name, text] : given) {
    const auto option = std::ranges::find_if(table, [&wanted = name](const OptionInfo& o) { return wanted == o.name; });
    if (option == table.end())
      return error(EINVAL, "%s has no option '%s'; it has: %s", metric.c_str(), name.c_str(),
                   known_names(table).c_str());
    if (text.find('\0') != text.npos)
      return error(EINVAL, "%s: the text given for %s has a zero byte in it", metric.c_str(), option->name);
    OptionValue& value = options.values_[option - table.begin()];
    if (option->type == Type::kString) {
      value.text = text;
      continue;
    }
    const auto number = parse_value(*option, text);
    if (!number && option->type == Type::kBool)
      return error(EINVAL, "%s: '%s' is not a value for %s, which takes true or false", metric.c_str(), text.c_str(),
                   option->name);
    if (!number)
      return error(EINVAL, "%s: '%s' is not a value for %s, which takes %s from %g to %g", metric.c_str(), text.c_str(),
                   option->name, type_name(option->type), option->min, option->max);
    value.number = *number;
  }
  return options;
}

bool Options::equal_before(OptionStage stage, const Options& other) const {
  for (size_t i = 0; i < table_.size(); i++)
    if (table_[i].stage < stage && values_[i] != other.values_[i]) return false;
  return true;
}

bool Options::write() const {
  for (size_t i = 0; i < table_.size(); i++)
    if (table_[i].writes && !values_[i].text.empty()) return true;
  return false;
}

std::string Options::contradictions(const Options& other) const {
  std::string names;
  for (size_t i = 0; i < table_.size(); i++) {
    const OptionValue unset = {table_[i].fallback, table_[i].fallback_text};
    const bool unites =
        table_[i].adds && (table_[i].type == Type::kBool || values_[i] == unset || other.values_[i] == unset);
    if (values_[i] != other.values_[i] && !unites) names += (names.empty() ? "" : ", ") + std::string(table_[i].name);
  }
  return names;
}

void Options::add(const Options& other, OptionTexts& texts, const OptionTexts& other_texts) {
  for (size_t i = 0; i < table_.size(); i++) {
    const OptionInfo& option = table_[i];
    const OptionValue off = {option.type == Type::kBool ? 0 : option.fallback, option.fallback_text};
    if (!option.adds || other.values_[i] == values_[i] || other.values_[i] == off) continue;
    values_[i] = other.values_[i];
    texts.erase(option.name);
    if (const auto given = other_texts.find(option.name); given != other_texts.end()) texts.insert(*given);
  }
}

void Options::allow_overwrite() {
  for (size_t i = 0; i < table_.size(); i++)
    if (table_[i].writes) values_[i].number = 1;
}

void Options::write_below(const std::string& folder) {
  for (size_t i = 0; i < table_.size(); i++)
    if (table_[i].writes && !values_[i].text.empty()) values_[i].text += "/" + folder;
}

std::string Options::key_suffix() const {
  std::map<std::string, std::string> parts;  // sorted by option name
  for (size_t i = 0; i < table_.size(); i++) {
    const OptionInfo& option = table_[i];
    const OptionValue& value = values_[i];
    if (!option.in_key() || value == OptionValue{option.fallback, option.fallback_text}) continue;
    std::string part = std::string("_") + option.alias;
    switch (option.type) {
      case Type::kBool: break;
      case Type::kInt:
      case Type::kDouble: part += "_" + print_number(value.number); break;
      case Type::kString: part += "_" + value.text; break;
    }
    parts[option.name] = part;
  }
  std::string suffix;
  for (const auto& [name, part] : parts) suffix += part;
  return suffix;
}

}  // namespace vmafx
