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
#include <vector>

#include "base/status.h"

namespace vmafx {

struct OptionInfo {
  enum class Type { kBool, kInt, kDouble, kString };

  const char* name;           // "vif_enhn_gain_limit"
  const char* alias;          // "egl", used in report keys; nullptr: the name itself is
  Type type;
  double fallback;            // the default (bool: 0 or 1); not range-checked, as in libvmaf
  double min, max;            // inclusive, for kInt and kDouble
  bool in_key;                // a value other than the default becomes part of the report key
  const char* help;
  const char* fallback_text = "";  // the default of a kString
};

/* Option name -> text, as a model file or the user gave it. */
using OptionTexts = std::map<std::string, std::string>;

class Options {
 public:
  Options() = default;  // no options at all

  /* Checks `given` against `table`. EINVAL for an unknown name, a malformed value or one out of range; the message names
   * the metric, the option and what is allowed. `metric` is only used in messages. `table` must outlive the Options. */
  static StatusOr<Options> resolve(const std::string& metric, std::span<const OptionInfo> table, const OptionTexts& given);

  bool flag(std::string_view name) const;
  int integer(std::string_view name) const;
  double number(std::string_view name) const;
  const std::string& text(std::string_view name) const;

  /* "" when all options that belong in the key have their default, else "_egl_1_min_0.5…": sorted by option name, each
   * `_alias` for a bool and `_alias_value` otherwise, numbers as %g. */
  std::string key_suffix() const;

  bool operator==(const Options& other) const { return table_.data() == other.table_.data() && values_ == other.values_; }

 private:
  struct Value {
    double number = 0;
    std::string text;
    bool operator==(const Value&) const = default;
  };
  const Value& value(std::string_view name, OptionInfo::Type type) const;

  std::span<const OptionInfo> table_;
  std::vector<Value> values_;  // in table order
};

/* A number as libvmaf carries it between a model file or a command line and an option: through a float and "%g", so that
 * 0.7 and 0.70 give the same key and the same value. Text that is no number comes back unchanged. */
std::string normalized_number(const std::string& text);

}  // namespace vmafx

#endif
