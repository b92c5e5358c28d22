/* The kernels of every metric against its CPU twin: equal raw sums, on the emulator at 32 and at 64 lanes, or on the runtime
 * that VMAFX_HIP_RUNTIME names. CK_RUN_CASE=vif is one metric. */
#include "kernels/registry.h"
#include "tests/kernels/cases.h"
#include "tests/support/scores.h"

#include <check.h>

using namespace vmafx;
using namespace vmafx::test;

namespace {

void check(const ExtractorInfo& info, const ParityCase& given) {
  TestPictures pictures(given.format, given.frames);
  given.paint(pictures);
  assert_device_agrees(*make_extractor(info, given.format, given.options, Placement::kDevice), given.format,
                       pictures.pairs(), given.batch, name_of(info.name, given));
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
