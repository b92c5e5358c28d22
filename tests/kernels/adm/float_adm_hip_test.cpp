/* The kernels of float_adm against its CPU twin. */
#include "tests/kernels/adm/adm_device.h"

#include <check.h>

#include "kernels/adm/float_adm.h"
#include "tests/kernels/adm/float_adm_options.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::test;

START_TEST(every_size) { check_adm_sizes(kFloatAdmExtractor); }
END_TEST
START_TEST(every_depth_and_fill) { check_adm_depths_and_fills(kFloatAdmExtractor); }
END_TEST
START_TEST(every_option) { check_adm_options(kFloatAdmExtractor, float_adm_option_sets()); }
END_TEST
START_TEST(batches) { check_adm_batches(kFloatAdmExtractor); }
END_TEST
START_TEST(a_large_picture) {
  check_large_adm(kFloatAdmExtractor, {});
  check_large_adm(kFloatAdmExtractor, {{"adm_skip_scale0", "true"}});
}
END_TEST

int main() {
  return run_suite_on_device("float_adm_hip", {{"sizes", every_size},
                                               {"depths_and_fills", every_depth_and_fill},
                                               {"options", every_option},
                                               {"batches", batches},
                                               {"large", a_large_picture}});
}
