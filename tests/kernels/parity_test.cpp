/* The kernels of every metric against its CPU twin, each frame with its own reference or several with one: equal raw
 * sums, on the emulator at 32 and at 64 lanes, or on the runtime that VMAFX_HIP_RUNTIME names. CK_RUN_CASE=vif is one
 * metric. */
#include <algorithm>
#include <iterator>
#include <vector>

#include "kernels/registry.h"
#include "tests/kernels/cases.h"
#include "tests/support/scores.h"

#include <check.h>

using namespace vmafx;
using namespace vmafx::test;

namespace {

void check(const ExtractorInfo& info, const ParityCase& given, const std::vector<PicturePair>& pairs,
           const char* what) {
  assert_device_agrees(*make_extractor(info, given.format, given.options, Placement::kDevice), given.format, pairs,
                       given.batch, name_of(info.name, given) + what);
}

/* How many frames in turn have the same picture as their reference: encodes of it, some of which lack it. Batches of any
 * size then have frames of several pictures, and some pictures go on in the next batch. */
constexpr size_t kEncodes[] = {3, 1, 2, 5, 1, 4};

std::vector<PicturePair> with_shared_references(std::vector<PicturePair> pairs) {
  for (size_t first = 0, turn = 0; first < pairs.size(); first += kEncodes[turn++ % std::size(kEncodes)])
    for (size_t i = first; i < std::min(first + kEncodes[turn % std::size(kEncodes)], pairs.size()); i++)
      pairs[i].ref = pairs[first].ref;
  return pairs;
}

void check(const ExtractorInfo& info, const ParityCase& given) {
  TestPictures pictures(given.format, given.frames);
  given.paint(pictures);
  check(info, given, pictures.pairs(), "");
  if (given.frames > 3) check(info, given, with_shared_references(pictures.pairs()), ", several encodes");
}

}  // namespace

/* Of the metric number _i. Sanitizers see what the host does for a kernel, which is much the same in each case. */
START_TEST(kernels_agree) {
  const auto metric = static_cast<size_t>(_i), step = static_cast<size_t>(every_under_sanitizers(3));
  const ExtractorInfo& info = *extractors()[metric];
  if (!(info.flags & kHip)) return;
  const ParityCases cases = cases_of(info.name);
  for (size_t i = metric % step; i < cases.size(); i += step) check(info, cases[i]);
}
END_TEST

int main() { return run_suite_on_device("parity", test_of_each_metric(kernels_agree)); }
