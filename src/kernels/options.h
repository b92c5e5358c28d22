/* Options of a metric: a table of what exists, and the values in force.
 *
 * Names, aliases, defaults, ranges and the rule for report-key suffixes are libvmaf's (f85a853: opt.c, feature_name.c,
 * dict.c), so that a key written by either means the same. */
#ifndef VMAFX_KERNELS_OPTIONS_H
#define VMAFX_KERNELS_OPTIONS_H

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/status.h"

namespace vmafx {

/* What an option changes. Extractors that differ only in options of later stages share the work of the earlier ones. */
enum class OptionStage {
  kAll,     // anything, from the pictures on
  kLate,    // raw sums, but only the last of the work that makes them: see ExtractorInfo::create_shared
  kScores,  // scores alone: raw sums are the same
};

struct OptionValue {
  double number = 0;  // a bool's 0 or 1; for a path to write to, 1 if any file there may be replaced
  std::string text;
  bool operator==(const OptionValue&) const = default;
};

struct OptionInfo {
  enum class Type { kBool, kInt, kDouble, kString };

  const char* name;   // "vif_enhn_gain_limit"
  const char* alias;  // "egl": a value other than the default becomes part of report keys; nullptr: it does not
  Type type;
  double fallback;  // the default (bool: 0 or 1); not range-checked, as in libvmaf
  double min, max;  // inclusive, for kInt and kDouble
  const char* help;
  const char* fallback_text;  // the default of a kString
  void (*store)(const OptionValue& value, void* fields);
  bool writes;        // names what the metric writes to, which is not for model files to say
  bool adds = false;  // only adds to what is provided: a bool that turns scores on, or a path
  OptionStage stage = OptionStage::kAll;
  const char* again = nullptr;  // asks for the metric once more, with its value for the option so named; not a value

  bool in_key() const { return alias != nullptr; }
};

/* -- A metric's table: each option is bound to a field of a struct, whose initializer is its default --------------- */

/* A path that a metric writes to, "" if it does not write. Code that opens files takes a WritePath and no text, so
 * every option that names a file to write is known. */
struct WritePath : std::string_view {
  bool overwrite = false;  // any file may be replaced, not those of the metric's kind alone
};

template <class Member>
struct OptionField;
template <class T, class Struct>
struct OptionField<T Struct::*> {
  using Fields = Struct;
};

template <class T>
struct OptionType {  // text: of a std::string_view or a WritePath
  static constexpr OptionInfo::Type kType = OptionInfo::Type::kString;
  static constexpr double number(T) { return 0; }
  static constexpr const char* text(T value) { return value.data(); }
  static void store(const OptionValue& value, T& field) {
    if constexpr (std::is_same_v<T, WritePath>) field = {{value.text}, value.number != 0};
    else field = {value.text};
  }
};
template <class T>
  requires std::is_arithmetic_v<T>
struct OptionType<T> {
  static constexpr OptionInfo::Type kType = std::is_same_v<T, bool>  ? OptionInfo::Type::kBool
                                            : std::is_same_v<T, int> ? OptionInfo::Type::kInt
                                                                     : OptionInfo::Type::kDouble;
  static constexpr double number(T value) { return value; }
  static constexpr const char* text(T) { return ""; }
  static void store(const OptionValue& value, T& field) { field = static_cast<T>(value.number); }
};

/* A number in [min, max]. `Fields`: the struct that has the member, or one derived from it. */
template <auto member, class Fields = OptionField<decltype(member)>::Fields>
constexpr OptionInfo option(const char* name, const char* alias, double min, double max, const char* help) {
  using Value = std::remove_cvref_t<decltype(std::declval<Fields>().*member)>;
  using Kind = OptionType<Value>;
  constexpr Fields kDefaults = {};
  return {name,
          alias,
          Kind::kType,
          Kind::number(kDefaults.*member),
          min,
          max,
          help,
          Kind::text(kDefaults.*member),
          [](const OptionValue& value, void* fields) { Kind::store(value, static_cast<Fields*>(fields)->*member); },
          std::is_same_v<Value, WritePath>,
          std::is_same_v<Value, WritePath>};
}

/* True or false, text, or a path to write to. */
template <auto member, class Fields = OptionField<decltype(member)>::Fields>
constexpr OptionInfo option(const char* name, const char* alias, const char* help) {
  return option<member, Fields>(name, alias, 0, 1, help);
}

/* An option with OptionInfo::adds. */
constexpr OptionInfo adding(OptionInfo option) {
  option.adds = true;
  return option;
}

/* An option of OptionStage::kLate. */
constexpr OptionInfo late(OptionInfo option) {
  option.stage = OptionStage::kLate;
  return option;
}

/* An option of OptionStage::kScores. */
constexpr OptionInfo scoring(OptionInfo option) {
  option.stage = OptionStage::kScores;
  return option;
}

/* An option with OptionInfo::again. */
constexpr OptionInfo again_with(const char* other, OptionInfo option) {
  option.again = other;
  return option;
}

/* -- Values -------------------------------------------------------------------------------------------------------- */

/* Option name -> text, as a model file or the user gave it. */
using OptionTexts = std::map<std::string, std::string>;

class Options {
 public:
  Options() = default;  // no options at all

  /* Checks `given` against `table`. EINVAL for an unknown name, a malformed value or one out of range; the message
   * names the metric, the option and what is allowed. `metric` is only used in messages. `table` must outlive the
   * Options. */
  static StatusOr<Options> resolve(const std::string& metric, std::span<const OptionInfo> table,
                                   const OptionTexts& given);

  /* The values as the fields that the table binds them to. Texts are views of these Options. */
  template <class Fields>
  Fields fields() const {
    Fields fields;
    for (size_t i = 0; i < table_.size(); i++) table_[i].store(values_[i], &fields);
    return fields;
  }

  /* Lets the metric replace any file that it writes to. */
  void allow_overwrite();

  /* Has the metric write to a folder of this name in those that it was given. */
  void write_below(const std::string& folder);

  /* "" when all options that belong in the key have their default, else "_egl_1_min_0.5…": sorted by option name, each
   * `_alias` for a bool and `_alias_value` otherwise, numbers as %g. */
  std::string key_suffix() const;

  bool operator==(const Options& other) const {
    return table_.data() == other.table_.data() && values_ == other.values_;
  }

  /* Whether all options of earlier stages than this one have the same values in `other`, of the same table. */
  bool equal_before(OptionStage stage, const Options& other) const;

  /* Whether the metric writes files with these options. */
  bool write() const;

  /* Options of the same table whose values keep one extractor from serving both: "adm_skip_aim, debug"; "" if there are
   * none. Options that only add to the results do not count, but two different paths to write to do. */
  std::string contradictions(const Options& other) const;

  /* Adds what `other`, of the same table and without contradictions, adds. `texts` and `other_texts`: what both were
   * resolved from. */
  void add(const Options& other, OptionTexts& texts, const OptionTexts& other_texts);

 private:
  std::span<const OptionInfo> table_;
  std::vector<OptionValue> values_;  // in table order
};

/* A number as libvmaf carries it between a model file or a command line and an option: through a float and "%g", so
 * that 0.7 and 0.70 give the same key and the same value. Text that is not a number comes back unchanged. */
std::string normalized_number(const std::string& text);

}  // namespace vmafx

#endif
