/* The registry, and the table in docs/metrics.md that tells the agreement of each metric. tools/make_metrics.py makes
 * the other tables. */
#include "kernels/registry/registry.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <check.h>  // after the streams: it defines a macro fail()

#include "tests/support/check_main.h"
#include "tests/support/paths.h"

using namespace vmafx;

namespace {

using Row = std::vector<std::string>;

/* The cells of "| a | b |", without the white space around them. */
Row cells(const std::string& line) {
  Row row;
  for (size_t at = 1, end; (end = line.find('|', at)) != line.npos; at = end + 1) {
    const size_t first = line.find_first_not_of(' ', at), last = line.find_last_not_of(' ', end - 1);
    row.push_back(first < end ? line.substr(first, last + 1 - first) : "");
  }
  return row;
}

/* The rows of the table whose header begins with `head`, and which has `columns` columns, by their first cell. */
std::map<std::string, Row> table_of(const char* document, const char* head, size_t columns) {
  std::ifstream file(std::string(TOP_SRCDIR) + "/" + document);
  ck_assert_msg(file.good(), "cannot read %s", document);
  std::map<std::string, Row> table;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("|")) inside = false;
    const Row row = cells(line);
    if (line.starts_with(head)) {
      ck_assert_msg(row.size() == columns && table.empty(), "%s: another table of metrics, '%s'", document,
                    line.c_str());
      inside = true;
      std::getline(file, line);  // the rule below
    } else if (inside) {
      ck_assert_msg(row.size() == columns, "%s: the row '%s' has not %zu columns", document, line.c_str(), columns);
      ck_assert_msg(table.emplace(row[0], row).second, "%s: %s stands twice", document, row[0].c_str());
    }
  }
  ck_assert_msg(!table.empty(), "%s has no table '%s'", document, head);
  return table;
}

/* The texts in `backquotes`. */
std::vector<std::string> quoted(const std::string& cell) {
  std::vector<std::string> texts;
  for (size_t at = cell.find('`'); at != cell.npos; at = cell.find('`', at)) {
    const size_t end = cell.find('`', at + 1);
    texts.push_back(cell.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return texts;
}

std::set<std::string> metrics() {
  std::set<std::string> names;
  for (const ExtractorInfo* info : extractors()) names.emplace(info->name);
  return names;
}

}  // namespace

START_TEST(each_metric_says_its_accuracy) {
  std::set<std::string> listed;
  for (const auto& [name, row] : table_of("docs/metrics.md", "| metric | agreement |", 3))
    listed.insert(quoted(name).at(0));
  for (const std::string& name : metrics())
    ck_assert_msg(listed.contains(name), "docs/metrics.md does not say the agreement of %s", name.c_str());
  for (const std::string& name : listed)
    ck_assert_msg(find_extractor(name).info != nullptr, "docs/metrics.md lists %s, which is not a metric",
                  name.c_str());
}
END_TEST

START_TEST(names_say_where_a_metric_runs) {
  std::vector<std::string> names;
  for (const ExtractorInfo* info : extractors()) {
    const std::string on_device = std::string(info->name) + "_hip";
    ck_assert_ptr_eq(find_extractor(info->name).info, info);
    ck_assert(!find_extractor(info->name).device_only);
    ck_assert_ptr_eq(find_extractor(on_device).info, info->flags & kHip ? info : nullptr);
    ck_assert(find_extractor(on_device).device_only == bool(info->flags & kHip));
    if (info->flags & kHip) names.push_back(on_device);
    names.push_back(info->name);
    ck_assert_msg(info->flags & kHip || !info->fits_device, "%s has no kernels that could be choosy", info->name);
    for (const FeatureInfo& feature : info->features) ck_assert_ptr_eq(find_provider(feature.name), info);
  }
  ck_assert(std::ranges::equal(extractor_names(), names));
  ck_assert_ptr_null(find_extractor("vif_hip_hip").info);
  ck_assert_ptr_null(find_extractor("_hip").info);
  ck_assert_ptr_null(find_provider("vif_hip"));
}
END_TEST

/* A text that is not here must be known not to name what the metric writes, or be a WritePath. */
START_TEST(texts_are_paths_or_words) {
  const std::set<std::string> words = {
      "cambi_eotf", "display", "display_file", "eotf", "speed_prescale_method", "vif_prescale_method", "version"};
  std::set<std::string> writing;
  for (const ExtractorInfo* info : extractors())
    for (const OptionInfo& option : info->options) {
      if (option.writes) writing.insert(option.name);
      else if (option.type == OptionInfo::Type::kString)
        ck_assert_msg(words.contains(option.name), "does %s of %s write?", option.name, info->name);
    }
  ck_assert(writing == std::set<std::string>{"heatmaps_path"});
}
END_TEST

int main() {
  return vmafx::test::run_suite("registry", {{"accuracy", each_metric_says_its_accuracy},
                                             {"names", names_say_where_a_metric_runs},
                                             {"texts", texts_are_paths_or_words}});
}
