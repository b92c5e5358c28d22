/* The cases of all metrics, by name (tests/support/parity.h). */
#ifndef VMAFX_TESTS_KERNELS_CASES_H
#define VMAFX_TESTS_KERNELS_CASES_H

#include <string>
#include <vector>

#include "kernels/registry/registry.h"
#include "kernels/signature/signature.h"
#include "tests/support/check_main.h"
#include "tests/support/parity.h"
#include "tests/support/scores.h"

namespace vmafx::test {

/* All metrics, and the signature, which the registry leaves out. */
inline const std::vector<const ExtractorInfo*>& all_extractors() {
  static const std::vector<const ExtractorInfo*> all = [] {
    std::vector<const ExtractorInfo*> listed(extractors().begin(), extractors().end());
    listed.push_back(&kSignatureExtractor);
    return listed;
  }();
  return all;
}

/* The cases of a metric. */
inline ParityCases cases_of(const std::string& metric) {
  const auto maker = makers_of_cases().find(metric);
  ck_assert_msg(maker != makers_of_cases().end(), "no file registers cases of %s", metric.c_str());
  return maker->second();
}

/* "float_vif vif_prescale=1.3". */
inline std::string name_of(const std::string& metric, const ParityCase& given) {
  std::string name = metric;
  const auto add = [&](const OptionTexts& options) {
    for (const auto& [option, text] : options) name += " " + option + "=" + text;
  };
  add(given.options);
  for (const OptionTexts& options : given.also) {
    name += " |";
    add(options);
  }
  return name;
}

/* The extractor of a case, which serves all of its sets of options. */
inline std::unique_ptr<Extractor> extractor_of(const ExtractorInfo& info, const ParityCase& given,
                                               Placement placement = Placement::kCpu) {
  if (given.also.empty()) return make_extractor(info, given.format, given.options, placement);
  std::vector<OptionTexts> sets = {given.options};
  sets.insert(sets.end(), given.also.begin(), given.also.end());
  return make_shared_extractor(info, given.format, sets, placement);
}

/* The extractor whose sums have maps. */
inline std::unique_ptr<Extractor> make_mapping(const ExtractorInfo& info, const VideoFormat& format,
                                               const OptionTexts& given = {}, Placement placement = Placement::kCpu) {
  if (!info.create_mapping) return make_extractor(info, format, given, placement);
  const auto options = Options::resolve(info.name, info.options, given);
  ck_assert_msg(options.ok(), "%s", options.status().message().c_str());
  auto made = info.create_mapping(options.value(), format, placement);
  ck_assert_msg(made.ok(), "%s", made.status().message().c_str());
  return std::move(made.value());
}

/* A test for each metric, which finds the number of its own in _i. */
inline std::vector<NamedTest> test_of_each_metric(const TTest* test) {
  std::vector<NamedTest> tests;
  for (const ExtractorInfo* info : all_extractors())
    tests.push_back({info->name, test, static_cast<int>(tests.size())});
  return tests;
}

}  // namespace vmafx::test

#endif
