/* The kernels of float_moment against its CPU twin. */
#include "tests/support/luma_kernels.h"

#include <check.h>

#include "kernels/float_moment/float_moment.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::test;

START_TEST(every_depth) { check_luma_depths(kFloatMomentExtractor); }
END_TEST

START_TEST(every_size) { check_luma_sizes(kFloatMomentExtractor, 1); }
END_TEST

START_TEST(batches) { check_luma_batches(kFloatMomentExtractor); }
END_TEST

START_TEST(extremes) { check_luma_extremes(kFloatMomentExtractor); }
END_TEST

int main() {
  return run_suite_on_device(
      "float_moment_hip", {{"depths", every_depth}, {"sizes", every_size}, {"batches", batches}, {"extremes", extremes}});
}
