/* The kernels of every metric against its CPU twin, each frame with its own reference or several with one: equal raw
 * sums, on the emulator at 32 and at 64 lanes, or on the runtime that VMAFX_HIP_RUNTIME names (empty: on the GPU that
 * is there). CK_RUN_CASE=vif is one metric. Prints the input of each case before it begins: what hangs or dies is
 * known, too. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "kernels/registry/registry.h"
#include "tests/kernels/cases.h"
#include "tests/support/scores.h"

#include <check.h>

using namespace vmafx;
using namespace vmafx::test;

namespace {

void check(const ExtractorInfo& info, const ParityCase& given, const std::vector<PicturePair>& pairs,
           const char* what) {
  assert_device_agrees(*extractor_of(info, given, Placement::kDevice), given.format, pairs, given.batch,
                       name_of(info.name, given) + what);
}

/* How many frames in turn have the same picture as their reference: encodes of it, some of which lack it. Batches of
 * any size then have frames of several pictures, and some pictures go on in the next batch. */
constexpr size_t kEncodes[] = {3, 1, 2, 5, 1, 4};

std::vector<PicturePair> with_shared_references(std::vector<PicturePair> pairs) {
  for (size_t first = 0, turn = 0; first < pairs.size(); first += kEncodes[turn++ % std::size(kEncodes)])
    for (size_t i = first; i < std::min(first + kEncodes[turn % std::size(kEncodes)], pairs.size()); i++)
      pairs[i].ref = pairs[first].ref;
  return pairs;
}

/* With maps, the sums of blocks are behind the metric's own. */
void check_maps(const ExtractorInfo& info, const ParityCase& given, const std::vector<PicturePair>& pairs) {
  assert_device_agrees(*make_mapping(info, given.format, given.options, Placement::kDevice), given.format, pairs,
                       given.batch, name_of(info.name, given) + ", maps");
}

bool has_encodes(const ParityCase& given) { return given.frames > 3; }

void check(const ExtractorInfo& info, const ParityCase& given) {
  TestPictures pictures(given.format, given.frames);
  given.paint(pictures);
  check(info, given, pictures.pairs(), "");
  const std::vector<PicturePair> encodes = with_shared_references(pictures.pairs());
  if (has_encodes(given)) check(info, given, encodes, ", several encodes");
  if (info.create_mapping && given.also.empty()) check_maps(info, given, encodes);
}

}  // namespace

constexpr int kMostCases = 1000;

/* Checks the metric number _i / kMostCases, its case number _i % kMostCases. */
START_TEST(kernels_agree) {
  const ExtractorInfo& info = *all_extractors()[static_cast<size_t>(_i / kMostCases)];
  const ParityCase given = cases_of(info.name).at(static_cast<size_t>(_i % kMostCases));
  std::printf("case %d: %s, %s\n", _i, name_of(info.name, given).c_str(), describe(given.format, given.batch).c_str());
  std::fflush(stdout);
  check(info, given);
}
END_TEST

namespace {

/* A metric that lacks cases has one test, which says so. */
int count_cases(const ExtractorInfo& info) {
  const auto maker = makers_of_cases().find(info.name);
  return maker == makers_of_cases().end() ? 1 : static_cast<int>(maker->second().size());
}

/* The case with the least to do for each set of options, with samples of one byte and of two, frame by frame and in
 * batches, with and without encodes that share a reference. The choice of kernels depends on little else. */
std::set<int> smallest_cases(const ExtractorInfo& info) {
  const ParityCases cases = makers_of_cases().at(info.name)();
  const auto work = [&](int i) {
    const ParityCase& given = cases[static_cast<size_t>(i)];
    return int64_t{given.format.w} * given.format.h * given.frames;
  };
  std::map<std::tuple<OptionTexts, std::vector<OptionTexts>, bool, bool, bool>, int> smallest;
  for (int i = 0; i < static_cast<int>(cases.size()); i++) {
    const ParityCase& given = cases[static_cast<size_t>(i)];
    const auto [found, is_first] =
        smallest.try_emplace({given.options, given.also, given.format.bpc > 8, given.batch > 1, has_encodes(given)}, i);
    if (!is_first && work(i) < work(found->second)) found->second = i;
  }
  std::set<int> numbers;
  for (const auto& [kind, i] : smallest) numbers.insert(i);
  return numbers;
}

/* On a GPU and with VMAFX_TEST_ALL all cases, else the smallest and every tenth one. Sanitizers see what the host does
 * for a kernel, which is much the same in each case. */
std::set<int> usual_cases(const ExtractorInfo& info, int metric) {
  const bool is_sanitized = every_under_sanitizers(2) > 1;
  const int step = on_hardware() ? 1 : std::min(every_if_not_all(10) * every_under_sanitizers(2), count_cases(info));
  std::set<int> numbers;
  if (!is_sanitized && count_cases(info) > 1) numbers = smallest_cases(info);
  for (int i = metric % step; i < count_cases(info); i += step) numbers.insert(i);
  return numbers;
}

/* VMAFX_TEST_PART=1/2: of all that would run every second one; 2/2: the others. */
std::vector<NamedTest> part_of(const std::vector<NamedTest>& all) {
  const char* text = std::getenv("VMAFX_TEST_PART");
  size_t part = 1, parts = 1;
  if (text && (std::sscanf(text, "%zu/%zu", &part, &parts) != 2 || part < 1 || part > parts)) {
    std::fprintf(stderr, "VMAFX_TEST_PART=%s is no part like 1/2\n", text);
    std::exit(1);
  }
  std::vector<NamedTest> some;
  for (size_t i = part - 1; i < all.size(); i += parts) some.push_back(all[i]);
  return some;
}

/* VMAFX_TEST_CASES=smallest: for devices that are slow. */
std::vector<NamedTest> chosen_tests() {
  const char* choice = std::getenv("VMAFX_TEST_CASES");
  std::vector<NamedTest> tests;
  for (int metric = 0; metric < static_cast<int>(all_extractors().size()); metric++) {
    const ExtractorInfo& info = *all_extractors()[static_cast<size_t>(metric)];
    if (!(info.flags & kHip)) continue;
    const bool few = choice && std::string(choice) == "smallest" && count_cases(info) > 1;
    for (const int i : few ? smallest_cases(info) : usual_cases(info, metric))
      tests.push_back({info.name, kernels_agree, metric * kMostCases + i});
  }
  return part_of(tests);
}

}  // namespace

/* Sanitizers see the same whatever the width of a wave. */
int main() {
  const bool is_sanitized = every_under_sanitizers(2) > 1;
  return (is_sanitized ? run_host_suite_on_device : run_suite_on_device)("parity", chosen_tests());
}
