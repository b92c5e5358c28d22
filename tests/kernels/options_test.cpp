#include "kernels/options.h"

#include <check.h>

#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

using Type = OptionInfo::Type;
constexpr OptionInfo kTable[] = {
    {"debug", nullptr, Type::kBool, 0, 0, 1, false, "more output"},
    {"z_gain", "egl", Type::kDouble, 100, 1, 100, true, "gain"},
    {"a_height", nullptr, Type::kInt, 1080, 1, 4320, true, "height"},
    {"skip", "ss", Type::kBool, 0, 0, 1, true, "skip"},
    {"method", "psm", Type::kString, 0, 0, 0, true, "method", "nearest"},
};

Options resolved(const OptionTexts& given) {
  auto options = Options::resolve("metric", kTable, given);
  ck_assert_msg(options.ok(), "%s", options.status().message().c_str());
  return options.value();
}

std::string complaint(const OptionTexts& given) { return Options::resolve("metric", kTable, given).status().message(); }

}  // namespace

START_TEST(defaults_have_no_suffix) {
  assert_text_eq(resolved({}).key_suffix(), "");
  assert_text_eq(resolved({{"z_gain", "100.0"}, {"debug", "true"}}).key_suffix(), "");
  ck_assert_int_eq(resolved({}).integer("a_height"), 1080);
  assert_text_eq(resolved({}).text("method"), "nearest");
}
END_TEST

START_TEST(suffix_is_sorted_by_name_and_uses_aliases) {
  const auto options = resolved({{"z_gain", "1.0"}, {"a_height", "2160"}, {"skip", "true"}, {"method", "bilinear"}});
  assert_text_eq(options.key_suffix(), "_a_height_2160_psm_bilinear_ss_egl_1");
}
END_TEST

START_TEST(numbers_pass_through_a_float) {
  assert_text_eq(normalized_number("0.70"), "0.7");
  assert_text_eq(normalized_number("bilinear"), "bilinear");
  ck_assert_double_eq(resolved({{"z_gain", "1.23456789"}}).number("z_gain"), 1.23457);
}
END_TEST

START_TEST(bad_values_are_named) {
  assert_contains(complaint({{"zgain", "1"}}), "no option 'zgain'; it has: debug, z_gain");
  assert_contains(complaint({{"z_gain", "0.5"}}), "a number from 1 to 100");
  assert_contains(complaint({{"z_gain", "nan"}}), "'nan' is no value");
  assert_contains(complaint({{"a_height", "1.5"}}), "a whole number");
  assert_contains(complaint({{"skip", "1"}}), "true or false");
}
END_TEST

int main() {
  return vmafx::test::run_suite("options", {{"defaults", defaults_have_no_suffix},
                                            {"suffix", suffix_is_sorted_by_name_and_uses_aliases},
                                            {"numbers", numbers_pass_through_a_float},
                                            {"errors", bad_values_are_named}});
}
