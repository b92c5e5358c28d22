/* The registry, and what the documents say of it: README.md has a row for each metric, which docs/performance.md repeats, and
 * docs/metrics.md names the features of each. */
#include "kernels/registry.h"

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

/* The rows under the header that begins with "| metric |" and has `columns` columns, by their first cell. */
std::map<std::string, Row> metric_table(const char* document, size_t columns) {
  std::ifstream file(std::string(TOP_SRCDIR) + "/" + document);
  ck_assert_msg(file.good(), "cannot read %s", document);
  std::map<std::string, Row> table;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("|")) inside = false;
    const Row row = cells(line);
    if (line.starts_with("| metric |")) {
      ck_assert_msg(row.size() == columns && table.empty(), "%s: another table of metrics, '%s'", document, line.c_str());
      inside = true;
      std::getline(file, line);  // the rule below
    } else if (inside) {
      ck_assert_msg(row.size() == columns, "%s: the row '%s' has not %zu columns", document, line.c_str(), columns);
      ck_assert_msg(table.emplace(row[0], row).second, "%s: %s stands twice", document, row[0].c_str());
    }
  }
  ck_assert_msg(!table.empty(), "%s has no table of metrics with %zu columns", document, columns);
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

/* "psnr_y" names that key, "mse_…" all that begin so. */
bool names_key(const std::string& text, const std::string& key) {
  static const std::string kMore = "…";
  return text.ends_with(kMore) ? key.starts_with(text.substr(0, text.size() - kMore.size())) : key == text;
}

std::set<std::string> metrics() {
  std::set<std::string> names;
  for (const ExtractorInfo* info : extractors()) names.emplace(metric_name(*info));
  return names;
}

void assert_features(const ExtractorInfo& info, const std::string& cell) {
  const auto texts = quoted(cell);
  for (const std::string& text : texts)
    ck_assert_msg(std::ranges::any_of(info.features, [&](const FeatureInfo& f) { return names_key(text, f.key); }),
                  "docs/metrics.md: %s has no feature %s", info.name, text.c_str());
  for (const FeatureInfo& feature : info.features)
    ck_assert_msg(std::ranges::any_of(texts, [&](const std::string& text) { return names_key(text, feature.key); }),
                  "docs/metrics.md: the row of %s lacks %s", info.name, feature.key);
}

}  // namespace

START_TEST(documents_list_all_metrics) {
  for (const char* document : {"README.md", "docs/metrics.md"}) {
    std::set<std::string> listed;
    for (const auto& [name, row] : metric_table(document, 4)) listed.insert(quoted(name).empty() ? name : quoted(name)[0]);
    for (const std::string& name : metrics()) ck_assert_msg(listed.contains(name), "%s lacks %s", document, name.c_str());
    for (const std::string& name : listed)
      ck_assert_msg(find_extractor(name) != nullptr, "%s lists %s, which there is not", document, name.c_str());
  }
}
END_TEST

START_TEST(docs_say_what_they_have) {
  for (const auto& [name, row] : metric_table("docs/metrics.md", 4)) {
    const std::string metric = quoted(name)[0];
    const ExtractorInfo* cpu = find_extractor(metric);
    ck_assert_ptr_nonnull(cpu);
    assert_features(*cpu, row[1]);
    assert_text_eq(row[2], "yes");
    const bool on_gpu = find_extractor(metric + "_hip") != nullptr;
    ck_assert_msg(row[3] == (on_gpu ? "yes" : "no"), "docs/metrics.md: does %s run on a GPU? '%s'", metric.c_str(),
                  row[3].c_str());
  }
}
END_TEST

/* One table is the source of these numbers, the other repeats them. */
START_TEST(numbers_stand_once) {
  const auto readme = metric_table("README.md", 4), source = metric_table("docs/performance.md", 3);
  for (const auto& [name, row] : readme) {
    ck_assert_msg(source.contains(name), "docs/performance.md lacks %s", name.c_str());
    ck_assert_msg(row[2] == source.at(name)[1] && row[3] == source.at(name)[2],
                  "%s: README.md says '%s', '%s', docs/performance.md '%s', '%s'", name.c_str(), row[2].c_str(),
                  row[3].c_str(), source.at(name)[1].c_str(), source.at(name)[2].c_str());
  }
  for (const auto& [name, row] : source)
    ck_assert_msg(readme.contains(name), "README.md lacks %s, which is in docs/performance.md", name.c_str());
}
END_TEST

/* find_extractor() and metric_name() rest on these. */
START_TEST(twins_belong_together) {
  const auto all = extractors();
  for (size_t i = 0; i < all.size(); i++) {
    ck_assert_ptr_eq(find_extractor(all[i]->name), all[i]);
    if (!(all[i]->flags & kHip)) {
      ck_assert_msg(!all[i]->fits, "%s is no HIP twin, so nothing can stand in for it", all[i]->name);
      continue;
    }
    const ExtractorInfo* twin = find_extractor(metric_name(*all[i]));
    ck_assert_msg(twin && !(twin->flags & kHip), "%s has no CPU twin", all[i]->name);
    ck_assert_msg(i + 1 < all.size() && all[i + 1] == twin, "%s does not stand right before its CPU twin", all[i]->name);
    ck_assert_ptr_eq(all[i]->features.data(), twin->features.data());
    ck_assert_ptr_eq(all[i]->options.data(), twin->options.data());
    ck_assert_msg((all[i]->flags & ~kHip) == twin->flags, "%s and %s differ in flags", all[i]->name, twin->name);
  }
}
END_TEST

int main() {
  return vmafx::test::run_suite("registry", {{"listed", documents_list_all_metrics},
                                             {"said", docs_say_what_they_have},
                                             {"numbers", numbers_stand_once},
                                             {"twins", twins_belong_together}});
}
