#include "model/spec.h"

#include <check.h>

#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

std::vector<ModelSpec> models(const std::string& text) {
  auto specs = parse_models(text);
  ck_assert_msg(specs.ok(), "%s", specs.status().message().c_str());
  return specs.value();
}

std::vector<FeatureSpec> features(const std::string& text) {
  auto specs = parse_features(text);
  ck_assert_msg(specs.ok(), "%s", specs.status().message().c_str());
  return specs.value();
}

std::string model_complaint(const std::string& text) {
  const auto specs = parse_models(text);
  ck_assert_int_eq(specs.status().code(), EINVAL);
  return specs.status().message();
}

std::string feature_complaint(const std::string& text) {
  const auto specs = parse_features(text);
  ck_assert_int_eq(specs.status().code(), EINVAL);
  return specs.status().message();
}

}  // namespace

START_TEST(models_of_client_tools) {
  const auto easy = models(
      "version=vmaf_v0.6.1:name=vmaf_hd|version=vmaf_v0.6.1neg:name=vmaf_hd_neg|"
      "version=vmaf_v0.6.1:name=vmaf_hd_phone:enable_transform=true");
  ck_assert_int_eq(easy.size(), 3);
  assert_text_eq(easy[0].name, "vmaf_hd");
  assert_text_eq(easy[1].version, "vmaf_v0.6.1neg");
  ck_assert(easy[2].enable_transform && !easy[2].disable_clip && !easy[0].enable_transform);

  const auto av1an = models("version=vmaf_v0.6.1:motion.motion_force_zero=true:disable_clip=1");
  assert_text_eq(av1an[0].overloads.at("motion").at("motion_force_zero"), "true");
  assert_text_eq(av1an[0].name, "");
  ck_assert(av1an[0].disable_clip);

  assert_text_eq(models("path=/models/vmaf_v0.6.1.json")[0].path, "/models/vmaf_v0.6.1.json");
}
END_TEST

START_TEST(features_of_client_tools) {
  const auto specs = features("name=psnr|name=cambi:full_ref=true:enc_width=1920");
  ck_assert_int_eq(specs.size(), 2);
  assert_text_eq(specs[0].extractor, "psnr");
  ck_assert(specs[0].options.empty());
  ck_assert((specs[1].options == OptionTexts{{"full_ref", "true"}, {"enc_width", "1920"}}));

  assert_text_eq(features("enable_mse=true:name=psnr")[0].extractor, "psnr");
  const auto bare = features("psnr:enable_mse=true|vif");
  assert_text_eq(bare[0].extractor, "psnr");
  assert_text_eq(bare[0].options.at("enable_mse"), "true");
  assert_text_eq(bare[1].extractor, "vif");
}
END_TEST

START_TEST(a_bare_model_is_a_version) {
  const auto specs = models("vmaf_v0.6.1|vmaf_v0.6.1neg:name=neg:disable_clip=1");
  ck_assert_int_eq(specs.size(), 2);
  assert_text_eq(specs[0].version, "vmaf_v0.6.1");
  assert_text_eq(specs[1].version, "vmaf_v0.6.1neg");
  assert_text_eq(specs[1].name, "neg");
  ck_assert(specs[1].disable_clip);
}
END_TEST

START_TEST(empty_entries_are_skipped) {
  ck_assert(models("").empty() && features("").empty() && features("|||").empty());
  ck_assert_int_eq(models("|version=a||path=b|").size(), 2);
  ck_assert_int_eq(models("version=a:").size(), 1);
}
END_TEST

START_TEST(quoting_follows_av_get_token) {
  assert_text_eq(models("path=C\\:/a\\\\b.json")[0].path, "C:/a\\b.json");
  assert_text_eq(models("path='C:/it''s':name=x")[0].path, "C:/its");
  assert_text_eq(models("path='a\\b'")[0].path, "a\\b");
  assert_text_eq(models("  path =  a b \t: name = x ")[0].path, "a b");
  assert_text_eq(models("path=' a '")[0].path, " a ");
  assert_text_eq(models("path=a\\ ")[0].path, "a ");
  assert_text_eq(models("path=a\\")[0].path, "a\\");
  assert_text_eq(models("path='unclosed ")[0].path, "unclosed");
}
END_TEST

START_TEST(unknown_keys_can_be_left_out) {
  std::vector<std::string> left_out;
  const auto specs = parse_known("version=a:enable_conf_interval=true:adm.x=1|path=b:clip=1:y.=2", &left_out);
  ck_assert(specs.ok());
  ck_assert_int_eq(specs.value().size(), 2);
  assert_text_eq(specs.value()[0].version, "a");
  ck_assert_int_eq(specs.value()[0].overloads.size(), 1);
  assert_text_eq(specs.value()[1].path, "b");
  ck_assert_int_eq(left_out.size(), 3);
  assert_contains(left_out[0], "model 'version=a:enable_conf_interval=true:adm.x=1': no key 'enable_conf_interval'");
  assert_contains(left_out[2], "no key 'y.'");
  ck_assert(!parse_known("version=a:disable_clip=yes", &left_out).ok());
}
END_TEST

START_TEST(mistakes_are_named) {
  assert_contains(model_complaint("version=a:vmaf_v0.6.1"), "'vmaf_v0.6.1' needs the form key=value");
  assert_contains(model_complaint("vmaf_v0.6.1:version=a"), "'version' is given twice");
  assert_contains(model_complaint("version="), "'version' needs the form key=value");
  assert_contains(model_complaint("=a"), "needs the form key=value");
  assert_contains(model_complaint("version=a:path=b"), "either version or path");
  assert_contains(model_complaint("version=a:version=b"), "'version' is given twice");
  assert_contains(model_complaint("name=x"), "version=… or path=… is missing");
  assert_contains(model_complaint("path=a|enable_transform=true"), "`|` begins another model");
  assert_contains(model_complaint("version=a:clip=1"), "no key 'clip'");
  assert_contains(model_complaint("version=a:.x=1"), "no key '.x'");
  assert_contains(model_complaint("version=a:adm.=1"), "no key 'adm.'");
  assert_contains(model_complaint("version=a:disable_clip=yes"), "'yes' is not a value for disable_clip");
  assert_contains(feature_complaint("enable_mse=true"), "name=… is missing");
  assert_contains(feature_complaint("psnr:enable_mse"), "'enable_mse' needs the form key=value");
  assert_contains(feature_complaint("psnr:name=vif"), "'name' is given twice");
  assert_contains(feature_complaint("name=psnr:a=1:a=2"), "'a' is given twice");
  assert_contains(feature_complaint(":"), "needs the form key=value");
}
END_TEST

int main() {
  return vmafx::test::run_suite("spec", {{"models", models_of_client_tools},
                                         {"features", features_of_client_tools},
                                         {"bare_model", a_bare_model_is_a_version},
                                         {"empty", empty_entries_are_skipped},
                                         {"quoting", quoting_follows_av_get_token},
                                         {"left_out", unknown_keys_can_be_left_out},
                                         {"errors", mistakes_are_named}});
}
