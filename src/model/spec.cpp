#include "model/spec.h"

#include <cerrno>
#include <set>
#include <string_view>
#include <utility>

namespace vmafx {
namespace {

constexpr std::string_view kWhiteSpace = " \n\t\r";

/* Takes a token off the front of `text`, up to (not including) the first unquoted character of `terminators`. */
std::string take_token(std::string_view& text, std::string_view terminators) {
  text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
  std::string token;
  size_t protected_size = 0;  // white space before this is quoted or escaped and stays
  while (!text.empty() && terminators.find(text[0]) == text.npos) {
    const char c = text[0];
    text.remove_prefix(1);
    if (c == '\\' && !text.empty()) {
      token += text[0];
      text.remove_prefix(1);
      protected_size = token.size();
    } else if (c == '\'') {
      const size_t quote = text.find('\'');
      token += text.substr(0, quote);
      text.remove_prefix(std::min(quote, text.size()));
      if (quote == text.npos) continue;
      text.remove_prefix(1);
      protected_size = token.size();
    } else {
      token += c;
    }
  }
  const size_t last = token.find_last_not_of(kWhiteSpace);
  token.resize(std::max(protected_size, last == token.npos ? 0 : last + 1));
  return token;
}

std::vector<std::string> split_entries(const std::string& text) {
  std::vector<std::string> entries;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('|', begin), text.size());
    if (end > begin) entries.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return entries;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

/* The key=value pairs of one entry. A first token without `=` is the value of `bare_key`. `what` is "model" or
 * "feature", for messages. */
StatusOr<Pairs> parse_pairs(const std::string& entry, const char* what, const char* bare_key) {
  Pairs pairs;
  std::set<std::string> seen;
  for (std::string_view rest = entry; !rest.empty();) {
    std::string key = take_token(rest, "=:"), value;
    if (!rest.empty() && rest[0] == '=') {
      rest.remove_prefix(1);
      value = take_token(rest, ":");
    } else if (pairs.empty()) {
      value = std::exchange(key, bare_key);
    }
    if (!rest.empty()) rest.remove_prefix(1);
    if (key.empty() || value.empty())
      return error(EINVAL, "%s '%s': '%s' needs the form key=value", what, entry.c_str(), key.c_str());
    if (!seen.insert(key).second)
      return error(EINVAL, "%s '%s': '%s' is given twice", what, entry.c_str(), key.c_str());
    pairs.emplace_back(std::move(key), std::move(value));
  }
  return pairs;
}

StatusOr<bool> parse_switch(const std::string& entry, const std::string& key, const std::string& value) {
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  return error(EINVAL, "model '%s': '%s' is not a value for %s, which takes true or false", entry.c_str(),
               value.c_str(), key.c_str());
}

/* Files one pair of a model's entry into `spec`, or a sentence about its key into `left_out`. */
Status take_model_pair(const std::string& entry, const std::string& key, const std::string& value, ModelSpec& spec,
                       std::vector<std::string>& left_out) {
  const size_t dot = key.find('.');
  if (key == "version") {
    spec.version = value;
  } else if (key == "path") {
    spec.path = value;
  } else if (key == "name") {
    spec.name = value;
  } else if (key == "disable_clip") {
    VMAFX_ASSIGN(spec.disable_clip, parse_switch(entry, key, value));
  } else if (key == "enable_transform") {
    VMAFX_ASSIGN(spec.enable_transform, parse_switch(entry, key, value));
  } else if (dot != key.npos && dot > 0 && dot + 1 < key.size()) {
    spec.overloads[key.substr(0, dot)][key.substr(dot + 1)] = value;
  } else {
    left_out.push_back("model '" + entry + "': no key '" + key +
                       "'; there are: version, path, name, disable_clip, enable_transform, and <extractor>.<option>");
  }
  return {};
}

StatusOr<ModelSpec> parse_model_entry(const std::string& entry, std::vector<std::string>& left_out) {
  VMAFX_ASSIGN(const Pairs pairs, parse_pairs(entry, "model", "version"));
  ModelSpec spec;
  for (const auto& [key, value] : pairs) VMAFX_TRY(take_model_pair(entry, key, value, spec, left_out));
  if (spec.version.empty() && spec.path.empty())
    return error(EINVAL, "model '%s': version=… or path=… is missing (`|` begins another model)", entry.c_str());
  if (!spec.version.empty() && !spec.path.empty())
    return error(EINVAL, "model '%s': give either version or path, not both", entry.c_str());
  return spec;
}

StatusOr<FeatureSpec> parse_feature_entry(const std::string& entry) {
  VMAFX_ASSIGN(const Pairs pairs, parse_pairs(entry, "feature", "name"));
  FeatureSpec spec;
  for (const auto& [key, value] : pairs) {
    if (key == "name") spec.extractor = value;
    else spec.options[key] = value;
  }
  if (spec.extractor.empty()) return error(EINVAL, "feature '%s': name=… is missing", entry.c_str());
  return spec;
}

/* parse_entry() of every entry of `text`. */
template <class Spec, class Parse>
StatusOr<std::vector<Spec>> parse_list(const std::string& text, Parse parse_entry) {
  std::vector<Spec> specs;
  for (const std::string& entry : split_entries(text)) {
    VMAFX_ASSIGN(Spec spec, parse_entry(entry));
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace

StatusOr<std::vector<ModelSpec>> parse_known(const std::string& text, std::vector<std::string>* left_out) {
  return parse_list<ModelSpec>(text,
                               [left_out](const std::string& entry) { return parse_model_entry(entry, *left_out); });
}

StatusOr<std::vector<ModelSpec>> parse_models(const std::string& text) {
  std::vector<std::string> left_out;
  VMAFX_ASSIGN(auto specs, parse_known(text, &left_out));
  if (!left_out.empty()) return Status(EINVAL, left_out.front());
  return specs;
}

StatusOr<std::vector<FeatureSpec>> parse_features(const std::string& text) {
  return parse_list<FeatureSpec>(text, parse_feature_entry);
}

}  // namespace vmafx
