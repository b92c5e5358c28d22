#include "base/json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace vmafx {
namespace {

using Nlohmann = nlohmann::json;

/* Builds a value while the parser goes through its text. */
class Builder {
 public:
  Json take() { return std::move(root_); }

  bool null() { return put(Json()); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(int64_t value) { return put(value); }
  bool number_unsigned(uint64_t value) { return put(value); }
  bool number_float(double value, const std::string&) { return put(value); }
  bool string(std::string& text) { return put(std::move(text)); }
  bool binary(Nlohmann::binary_t&) { return false; }
  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool key(std::string& name) {
    names_.back() = std::move(name);
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(size_t, const std::string&, const Nlohmann::exception&) { return false; }

 private:
  bool put(Json value) {
    if (open_.empty()) root_ = std::move(value);
    else if (open_.back().is_array()) open_.back().add(std::move(value));
    else open_.back().add(std::move(names_.back()), std::move(value));
    return true;
  }
  bool open(Json value) {
    open_.push_back(std::move(value));
    names_.emplace_back();
    return true;
  }
  bool close() {
    Json value = std::move(open_.back());
    open_.pop_back();
    names_.pop_back();
    return put(std::move(value));
  }

  Json root_;
  std::vector<Json> open_;          // arrays and objects that have not ended
  std::vector<std::string> names_;  // in each of them, that of the next value
};

/* Collects the places of names. */
class Places {
 public:
  std::set<std::string> take() { return std::move(places_); }

  bool null() { return put(); }
  bool boolean(bool) { return put(); }
  bool number_integer(int64_t) { return put(); }
  bool number_unsigned(uint64_t) { return put(); }
  bool number_float(double, const std::string&) { return put(); }
  bool string(std::string&) { return put(); }
  bool binary(Nlohmann::binary_t&) { return false; }
  bool start_object(size_t) { return open(); }
  bool start_array(size_t) { return !ends_.empty() && open(); }
  bool key(std::string& name) {
    path_.resize(ends_.back());
    path_ += (path_.empty() ? "" : "/") + name;
    if (path_.size() <= kLongestPlace) places_.insert(path_);
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(size_t, const std::string&, const Nlohmann::exception&) { return false; }

 private:
  static constexpr size_t kMostDepth = 8, kLongestPlace = 256;

  bool put() { return !ends_.empty(); }
  bool open() {
    ends_.push_back(path_.size());
    return ends_.size() <= kMostDepth;
  }
  bool close() {
    path_.resize(ends_.back());
    ends_.pop_back();
    return true;
  }

  std::string path_;
  std::vector<size_t> ends_;  // for each array and object that has not ended, the end of its path
  std::set<std::string> places_;
};

}  // namespace

std::set<std::string> Json::places(std::string_view beginning) {
  Places places;
  Nlohmann::sax_parse(beginning, &places, Nlohmann::input_format_t::json, false);
  return places.take();
}

Json::Json(double value) : kind_(Kind::kNumber), text_(Nlohmann(value).dump()), number_(value) {}

Json Json::object(std::vector<Member> members) {
  Json object(Kind::kObject);
  for (auto& [name, value] : members) object.add(std::move(name), std::move(value));
  return object;
}

std::optional<Json> Json::parse(std::string_view text) {
  Builder builder;
  if (!Nlohmann::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return builder.take();
}

const Json* Json::find(std::string_view name) const {
  const auto found = std::find(names_.rbegin(), names_.rend(), name);
  return found == names_.rend() ? nullptr : &items_[names_.rend() - found - 1];
}

void Json::add(std::string name, Json value) {
  names_.push_back(std::move(name));
  items_.push_back(std::move(value));
}

int nesting_depth(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      i += c == '\\';
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      depth--;
    }
  }
  return deepest;
}

std::string valid_utf8(const std::string& text) { return Json::parse(json_string(text))->text(); }

std::string json_string(const std::string& text) {
  /* Most texts are the names of scores, many times over. */
  const auto is_plain = [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, is_plain)) return '"' + text + '"';
  return Nlohmann(text).dump(-1, ' ', false, Nlohmann::error_handler_t::replace);
}

}  // namespace vmafx
