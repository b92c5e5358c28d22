/* Our metrics against libvmaf's tables of extractors, which upstream.txt has recorded from its sources (`tools/upstream
 * --record` writes it anew, and `tools/upstream` compares a later checkout with it). */
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/status.h"
#include "kernels/registry/registry.h"
#include "model/model_builtin.h"
#include "tests/support/check_main.h"
#include "tests/support/paths.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

using Lines = std::map<std::string, std::string>;  // the value of each fact, by its subject

/* The recorded facts of a kind, more than `least`: "adm_skip_aim" of the extractor "adm" has the subject
 * "adm adm_skip_aim". */
Lines recorded(const std::string& kind, size_t least = 50) {
  std::ifstream file(TOP_SRCDIR "/tests/libvmaf/upstream.txt");
  Lines lines;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first, extractor, name, value;
    words >> first >> extractor >> name;
    if (first != kind) continue;
    std::getline(words >> std::ws, value);
    lines[extractor + " " + name] = value;
  }
  ck_assert_uint_gt(lines.size(), least);
  return lines;
}

std::string type_name(OptionInfo::Type type) {
  switch (type) {
    case OptionInfo::Type::kBool: return "bool";
    case OptionInfo::Type::kInt: return "int";
    case OptionInfo::Type::kDouble: return "double";
    case OptionInfo::Type::kString: return "string";
  }
  return "";
}

/* The facts of an option of ours, in the words of the record. */
std::string facts_of(const OptionInfo& option) {
  const bool is_text = option.type == OptionInfo::Type::kString;
  const bool has_range = option.type == OptionInfo::Type::kInt || option.type == OptionInfo::Type::kDouble;
  std::string text = "type=" + type_name(option.type) + " default=";
  text += is_text ? format_text("'%s'", option.fallback_text) : format_text("%.17g", option.fallback);
  if (has_range) text += format_text(" range=%.17g..%.17g", option.min, option.max);
  return text + format_text(" in_key=%d", option.in_key());
}

/* A recorded option with what report keys call it: nothing where it is in no key, its name where it has no alias. */
std::string as_shown(const std::string& name, const std::string& value) {
  const std::string facts = value.substr(value.find(' ') + 1);
  if (value.ends_with("in_key=0")) return facts;
  return value.starts_with("alias=- ") ? "alias=" + name + " " + facts : value;
}

/* Options that are not libvmaf's on purpose, and how; docs/differences.md says why. */
const Lines kOtherwise = {
    {"cambi enc_height", "alias=ench type=int default=0 range=144..7680 in_key=1"},
    {"cambi enc_width", "alias=encw type=int default=0 range=144..7680 in_key=1"},
};

/* Features that libvmaf's tables name and its code never writes. */
const std::set<std::string> kNeverWritten = {"float_adm adm_scale0", "float_moment float_moment"};

}  // namespace

START_TEST(options_are_as_recorded) {
  Lines otherwise;
  for (const auto& [subject, value] : recorded("option")) {
    const size_t space = subject.find(' ');
    const NamedExtractor metric = find_extractor(subject.substr(0, space));
    ck_assert_msg(metric.info, "there is no metric for option %s", subject.c_str());
    std::string ours = "none";
    for (const OptionInfo& option : metric.info->options)
      if (option.name == subject.substr(space + 1))
        ours = (option.in_key() ? format_text("alias=%s ", option.alias) : "") + facts_of(option);
    if (ours != as_shown(subject.substr(space + 1), value)) otherwise[subject] = ours;
  }
  for (const auto& [subject, ours] : otherwise) {
    const auto expected = kOtherwise.find(subject);
    ck_assert_msg(expected != kOtherwise.end(), "%s: %s", subject.c_str(), ours.c_str());
    assert_text_eq(ours, expected->second);
  }
  ck_assert_uint_eq(otherwise.size(), kOtherwise.size());
}
END_TEST

START_TEST(features_are_as_recorded) {
  for (const auto& [subject, value] : recorded("feature")) {
    const size_t space = subject.find(' ');
    const ExtractorInfo* const provider = find_provider(subject.substr(space + 1));
    ck_assert_msg(!provider == kNeverWritten.contains(subject), "who provides %s?", subject.c_str());
    if (provider) assert_text_eq(provider->name, subject.substr(0, space));
  }
}
END_TEST

/* Each built-in model tells the SHA-256 of the recorded file of its name. */
START_TEST(models_are_as_recorded) {
  std::map<std::string, std::string> hashes;
  for (const auto& [subject, value] : recorded("model", 17)) {
    const size_t space = subject.find(' '), slash = subject.rfind('/', space);
    const size_t begin = slash == subject.npos ? 0 : slash + 1;
    hashes[subject.substr(begin, space - begin)] = subject.substr(space + 1);
  }
  for (const char* name : builtin_model_names())
    assert_text_eq(builtin_model_sha256(name), hashes[std::string(name) + ".json"]);
  assert_text_eq(builtin_model_sha256("vmaf"), "");
}
END_TEST

int main() {
  return run_suite("upstream", {{"options", options_are_as_recorded},
                                {"features", features_are_as_recorded},
                                {"models", models_are_as_recorded}});
}
