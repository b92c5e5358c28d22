/* A JSON value. The parser is nlohmann's; its values are not used, because to destroy one takes memory, and where there
 * is none that ends the program. */
#ifndef VMAFX_BASE_JSON_H
#define VMAFX_BASE_JSON_H

#include <concepts>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vmafx {

class Json {
 public:
  using Member = std::pair<std::string, Json>;

  Json() = default;  // null
  Json(std::same_as<bool> auto value) : kind_(Kind::kBool), text_(value ? "true" : "false") {}
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Json(Integer value) : kind_(Kind::kNumber), text_(std::to_string(value)), number_(static_cast<double>(value)) {}
  Json(double value);
  Json(std::string text) : kind_(Kind::kString), text_(std::move(text)) {}
  Json(const char* text) : Json(std::string(text)) {}
  static Json array() { return Json(Kind::kArray); }
  static Json object(std::vector<Member> members = {});

  /* nullopt: the text is no JSON. How deep it nests is for the caller to bound. */
  static std::optional<Json> parse(std::string_view text);

  /* The places of names in the objects of a JSON text, as far as `beginning` goes, which may break off anywhere:
   * "frames" for a name of the outermost object, "frames/frameNum" for a name of an object in the list `frames`. Empty
   * if the text is not an object. Leaves out places longer than 256 characters and those in more than 8 brackets. */
  static std::set<std::string> places(std::string_view beginning);

  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_bool() const { return kind_ == Kind::kBool; }
  bool is_number() const { return kind_ == Kind::kNumber; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }

  double number() const { return number_; }
  bool boolean() const { return text_ == "true"; }

  /* A string without quotes, or a number, true, false or null as JSON writes it. */
  const std::string& text() const { return text_; }

  const std::vector<Json>& items() const { return items_; }         // an array's, or the values of an object
  const std::vector<std::string>& names() const { return names_; }  // an object's keys, in the order of items()
  const Json* find(std::string_view name) const;                    // the last one of that name, or nullptr

  void add(Json item) { items_.push_back(std::move(item)); }  // to an array
  void add(std::string name, Json value);                     // to an object

 private:
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

  explicit Json(Kind kind) : kind_(kind), text_() {}

  Kind kind_ = Kind::kNull;
  std::string text_ = "null";
  double number_ = 0;
  std::vector<Json> items_;
  std::vector<std::string> names_;
};

/* How deep brackets nest, without regard to whether they match: bounds what the JSON parser can be made to build. */
int nesting_depth(std::string_view text);

/* The text with U+FFFD for what is no UTF-8. */
std::string valid_utf8(const std::string& text);

/* The text as a JSON string, with quotes. */
std::string json_string(const std::string& text);

}  // namespace vmafx

#endif
