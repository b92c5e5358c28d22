#include "kernels/options.h"

#include <check.h>

#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

struct SharedFields {
  bool debug = false;
  double gain = 100;
};
struct Fields : SharedFields {
  int height = 1080;
  bool skip = false, keep = true;
  std::string_view method = "nearest";
  WritePath folder = {""};
};
constexpr OptionInfo kTable[] = {
    option<&SharedFields::debug, Fields>("debug", nullptr, "more output"),
    option<&SharedFields::gain, Fields>("z_gain", "egl", 1, 100, "gain"),
    option<&Fields::height>("a_height", "a_height", 1, 4320, "height"),
    option<&Fields::skip>("skip", "ss", "skip"),
    option<&Fields::keep>("keep", "kp", "keep"),
    option<&Fields::method>("method", "psm", "method"),
    option<&Fields::folder>("folder", nullptr, "where to write"),
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
}
END_TEST

START_TEST(fields_have_the_values) {
  const Options untouched = resolved({});  // texts are views into it
  const Fields defaults = untouched.fields<Fields>();
  ck_assert(!defaults.debug && !defaults.skip && defaults.keep);
  ck_assert_double_eq(defaults.gain, 100);
  ck_assert_int_eq(defaults.height, 1080);
  assert_text_eq(std::string(defaults.method), "nearest");
  ck_assert(defaults.folder.empty());

  const Options options = resolved({{"debug", "true"},
                                    {"z_gain", "2.5"},
                                    {"a_height", "720"},
                                    {"skip", "true"},
                                    {"keep", "false"},
                                    {"method", "bicubic"},
                                    {"folder", "/tmp/x"}});
  const Fields given = options.fields<Fields>();
  ck_assert(given.debug && given.skip && !given.keep);
  ck_assert_double_eq(given.gain, 2.5);
  ck_assert_int_eq(given.height, 720);
  assert_text_eq(std::string(given.method), "bicubic");
  assert_text_eq(std::string(given.folder), "/tmp/x");
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
  ck_assert_double_eq(resolved({{"z_gain", "1.23456789"}}).fields<Fields>().gain, 1.23457);
}
END_TEST

START_TEST(bad_values_are_named) {
  assert_contains(complaint({{"zgain", "1"}}), "no option 'zgain'; it has: debug, z_gain");
  assert_contains(complaint({{"z_gain", "0.5"}}), "a number from 1 to 100");
  assert_contains(complaint({{"z_gain", "nan"}}), "'nan' is not a value");
  assert_contains(complaint({{"a_height", "1.5"}}), "a whole number");
  assert_contains(complaint({{"skip", "1"}}), "true or false");
}
END_TEST

START_TEST(zero_bytes_are_refused) {
  for (const char* name : {"folder", "method", "z_gain"})
    assert_contains(complaint({{name, std::string("1\0x", 3)}}), std::string(name) + " has a zero byte in it");
}
END_TEST

START_TEST(options_that_write_are_known) {
  for (const OptionInfo& option : kTable) ck_assert(option.writes == (std::string(option.name) == "folder"));
}
END_TEST

int main() {
  return vmafx::test::run_suite("options", {{"defaults", defaults_have_no_suffix},
                                            {"fields", fields_have_the_values},
                                            {"suffix", suffix_is_sorted_by_name_and_uses_aliases},
                                            {"numbers", numbers_pass_through_a_float},
                                            {"errors", bad_values_are_named},
                                            {"zero_bytes", zero_bytes_are_refused},
                                            {"writes", options_that_write_are_known}});
}
