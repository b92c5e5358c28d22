/* The kernels of float_ansnr against its CPU twin. */
#include "tests/support/luma_kernels.h"

#include <check.h>

#include "kernels/float_ansnr/float_ansnr.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::test;

START_TEST(every_depth) { check_luma_depths(kFloatAnsnrExtractor); }
END_TEST

START_TEST(every_size) { check_luma_sizes(kFloatAnsnrExtractor, 3); }
END_TEST

START_TEST(batches) { check_luma_batches(kFloatAnsnrExtractor); }
END_TEST

START_TEST(extremes) { check_luma_extremes(kFloatAnsnrExtractor); }
END_TEST

int main() {
  return run_suite_on_device(
      "float_ansnr_hip", {{"depths", every_depth}, {"sizes", every_size}, {"batches", batches}, {"extremes", extremes}});
}
