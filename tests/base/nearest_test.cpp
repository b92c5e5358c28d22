/* Names that were likely meant. */
#include "base/nearest.h"

#include <string>
#include <vector>

#include <check.h>  // after the streams: it defines a macro fail()

#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

const std::vector<std::string> kNames = {"adm", "cambi", "float_ms_ssim", "float_ssim", "psnr", "psnr_hvs", "vif"};

START_TEST(names_that_are_near) {
  const struct {
    const char *given, *meant;
  } cases[] = {{"PSNR", "psnr"}, {"Float_SSIM", "float_ssim"}, {"ms_ssim", "float_ms_ssim"},
               {"psmr", "psnr"}, {"psnr_hsv", "psnr_hvs"},     {"camby", "cambi"},
               {"vi", "vif"},    {"ssim", "float_ssim"}};
  for (const auto& [given, meant] : cases) ck_assert_str_eq(nearest_name(given, kNames).c_str(), meant);
}
END_TEST

/* A short name is not near to every other short one. */
START_TEST(names_that_are_far) {
  for (const char* given : {"", "x", "xy", "nonsense", "psnr_of_chroma"})
    ck_assert_str_eq(nearest_name(given, kNames).c_str(), "");
  ck_assert_str_eq(nearest_name(std::string(1 << 20, 'p'), kNames).c_str(), "");
  ck_assert_str_eq(nearest_name("psnr", {}).c_str(), "");
}
END_TEST

}  // namespace

int main() { return test::run_suite("nearest", {{"near", names_that_are_near}, {"far", names_that_are_far}}); }
