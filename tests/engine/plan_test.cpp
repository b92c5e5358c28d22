/* The plan: which twin runs, whether models suit the pictures, and what a session makes of the colors that its inputs
 * say they have. */
#include "engine/plan.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <check.h>  // after the streams: it defines a macro fail()

#include "engine/color.h"
#include "kernels/registry/registry.h"
#include "model/model_builtin.h"
#include "model/model_check.h"
#include "model/model_file.h"
#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

/* A path as the value of an option: Windows' paths have colons and backslashes. */
std::string as_option(const std::string& path) {
  std::string value;
  for (const char c : path) value += c == ':' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return value;
}

Status only_small(const Options&, const VideoFormat& format) {
  return format.w > 64 ? error(EINVAL, "rows of %d samples do not fit shared memory", format.w) : Status();
}

/* psnr, if its kernels were choosy. */
ExtractorInfo choosy() {
  ExtractorInfo info = *find_extractor("psnr").info;
  info.fits_device = only_small;
  return info;
}

PlannedExtractor planned(const ExtractorInfo& info, bool device_only) {
  PlannedExtractor planned{
      .info = &info, .given = {{"enable_mse", "true"}}, .placement = Placement::kDevice, .device_only = device_only};
  planned.options = Options::resolve(info.name, info.options, planned.given).value();
  return planned;
}

constexpr VideoFormat kSmall = {.w = 64, .h = 48}, kWide = {.w = 65, .h = 48};

struct LogText {
  std::string text;
  Log log{[this](VmafxLogLevel, const char* message) { text += std::string(message) + "\n"; }};
};

/* The keys of a report, in order. */
std::string keys_of(const char* models, const char* features, const VideoFormat& format = {.w = 352, .h = 288}) {
  LogText log;
  auto plan = Plan::make(parse_models(models).value(), parse_features(features).value(), log.log);
  ck_assert_msg(plan.ok(), "%s", plan.status().message().c_str());
  const Status made = plan.value().instantiate(format, log.log);
  ck_assert_msg(made.ok(), "%s", made.message().c_str());
  std::string keys;
  for (const std::string& key : plan.value().columns()) keys += (keys.empty() ? "" : " ") + key;
  return keys;
}

/* "adm" with prefix "integer_" and suffix "_egl_1": "integer_adm2_egl_1 integer_aim_egl_1 …". */
std::string adm_keys(const std::string& prefix, const std::string& suffix) {
  std::string keys;
  for (const char* key : {"adm2", "aim", "adm3", "adm_scale0", "adm_scale1", "adm_scale2", "adm_scale3"})
    keys += prefix + key + suffix + " ";
  return keys;
}
std::string vif_keys(const std::string& prefix, const std::string& suffix) {
  std::string keys;
  for (const char* scale : {"0", "1", "2", "3"}) keys += prefix + "vif_scale" + scale + suffix + " ";
  return keys;
}
const std::string kSadKey = "VMAF_integer_feature_motion_sad_score ", kMotionKeys = "integer_motion2 integer_motion3 ";

Color said(int matrix, Color::Range range) { return {.matrix = matrix, .range = range}; }

}  // namespace

START_TEST(kernels_leave_what_does_not_fit) {
  const ExtractorInfo info = choosy();
  LogText log;
  PlannedExtractor psnr = planned(info, false);
  ck_assert(choose_placement(psnr, kSmall, log.log).ok());
  ck_assert(psnr.placement == Placement::kDevice);
  assert_text_eq(log.text, "");

  ck_assert(choose_placement(psnr, kWide, log.log).ok());
  ck_assert(psnr.placement == Placement::kCpu);
  ck_assert_ptr_eq(psnr.info, &info);
  ck_assert(psnr.options == Options::resolve("psnr", info.options, {{"enable_mse", "true"}}).value());
  assert_text_eq(log.text, "psnr runs on the CPU: rows of 65 samples do not fit shared memory\n");
}
END_TEST

START_TEST(kernels_asked_for_must_fit) {
  const ExtractorInfo info = choosy();
  LogText log;
  PlannedExtractor psnr = planned(info, true);
  ck_assert(choose_placement(psnr, kSmall, log.log).ok());
  const Status refused = choose_placement(psnr, kWide, log.log);
  ck_assert_int_eq(refused.code(), EINVAL);
  assert_text_eq(refused.message(),
                 "could not initialize feature extractor psnr_hip: rows of 65 samples do not fit shared memory");
}
END_TEST

/* The warnings about a model and pictures of w x h. */
std::string said_of(const char* version, int w, int h, int bpc = 10, bool encode_depth_known = false) {
  ModelSpec spec;
  spec.version = version;
  const auto model = load_model(spec);
  ck_assert(model.ok());
  LogText log;
  ck_assert(
      check_model(model.value(), version_of(spec), encode_depth_known, {.w = w, .h = h, .bpc = bpc}, log.log).ok());
  return log.text;
}

/* As in reports of libvmaf f85a853 on one thread. */
START_TEST(keys_stand_in_libvmafs_order) {
  const std::string v06 = adm_keys("integer_", "") + kSadKey + vif_keys("integer_", "");
  for (const char* version : {"vmaf_v0.6.1", "vmaf_4k_v0.6.1"})
    assert_text_eq(keys_of(("version=" + std::string(version)).c_str(), ""), v06 + kMotionKeys + "vmaf");
  for (const char* version : {"vmaf_v0.6.1neg", "vmaf_4k_v0.6.1neg"})
    assert_text_eq(keys_of(("version=" + std::string(version)).c_str(), ""),
                   adm_keys("integer_", "_egl_1") + kSadKey + vif_keys("integer_", "_egl_1") + kMotionKeys + "vmaf");
  const std::string in_float = adm_keys("", "") + "motion2 motion " + vif_keys("", "") + "motion3 ";
  for (const char* version : {"vmaf_float_v0.6.1", "vmaf_float_4k_v0.6.1"})
    assert_text_eq(keys_of(("version=" + std::string(version)).c_str(), ""), in_float + "vmaf");
  assert_contains(keys_of("version=vmaf_b_v0.6.3", ""), v06 + kMotionKeys + "vmaf vmaf_0001 vmaf_0002 ");
  assert_contains(keys_of("version=vmaf_float_b_v0.6.3", ""), in_float + "vmaf vmaf_0001 vmaf_0002 ");

  const std::string options = "_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", chroma = "_mxv_45_nnf_0.1_snn_0.19_wvm_5 ";
  assert_text_eq(keys_of("version=vmaf_v1.0.16_hfr_3d0h", "", {.w = 352, .h = 288, .bpc = 10}),
                 "cambi_hrs_1080_cmxv_17_vlt_0.06 speed_chroma_u" + chroma + "speed_chroma_v" + chroma +
                     "speed_chroma_uv" + chroma + adm_keys("integer_", options) +
                     "VMAF_integer_feature_motion_sad_score_mffw_mmxv_18_mma integer_motion2_mffw_mmxv_18_mma "
                     "integer_motion3_mffw_mmxv_18_mma vmaf");
}
END_TEST

START_TEST(keys_of_several_askers_stand_in_libvmafs_order) {
  assert_text_eq(keys_of("version=vmaf_v0.6.1|version=vmaf_v0.6.1neg:name=neg", "name=psnr|name=float_motion"),
                 adm_keys("integer_", "") + kSadKey + vif_keys("integer_", "") + adm_keys("integer_", "_egl_1") +
                     vif_keys("integer_", "_egl_1") + "psnr_y psnr_cb psnr_cr motion2 motion motion3 " + kMotionKeys +
                     "vmaf neg");
  assert_text_eq(keys_of("", "motion:debug=true|psnr:enable_mse=true"),
                 kSadKey + "integer_motion psnr_y mse_y psnr_cb mse_cb psnr_cr mse_cr integer_motion2 integer_motion3");
  assert_text_eq(keys_of("", "float_motion:motion_force_zero=true"), "motion2_force_0 motion3_force_0 motion_force_0");
  assert_text_eq(keys_of("", "float_motion:debug=false|float_ssim"), "motion2 float_ssim motion3");
}
END_TEST

/* libvmaf drops them where a model has asked for the same metric without. */
START_TEST(debug_keys_beside_a_model_are_written) {
  assert_text_eq(
      keys_of("version=vmaf_v0.6.1", "motion:debug=true"),
      adm_keys("integer_", "") + kSadKey + "integer_motion " + vif_keys("integer_", "") + kMotionKeys + "vmaf");
}
END_TEST

/* -- Requests that would write one key with different options ------------------------------------------------------ */

constexpr VideoFormat kLarge = {.w = 704, .h = 576, .bpc = 10};

struct Planned {
  LogText log;
  StatusOr<Plan> plan;
  Status made;

  Planned(const char* models, const char* features, Rivals rivals)
      : plan(Plan::make(parse_models(models).value(), parse_features(features).value(), log.log, rivals)) {
    made = plan.status();
    if (plan.ok()) made = plan.value().instantiate(kLarge, log.log);
  }
};

/* The sentence that the log of one plan and the error of the other share; they differ in the consequence. */
std::string told_of(const char* models, const char* features) {
  const Planned strict(models, features, Rivals::kRefused), first(models, features, Rivals::kFirstIsReported);
  ck_assert_msg(strict.made.code() == EINVAL, "%s and %s are accepted", models, features);
  ck_assert_msg(first.made.ok(), "%s", first.made.message().c_str());
  const std::string error = strict.made.message(), what = error.substr(0, error.find(". Give both"));
  assert_contains(
      error, ". Give both the same options, or options that are part of the key and differ, or score them in two runs");
  assert_contains(first.log.text, what + "; the first one is reported\n");
  const auto& columns = first.plan.value().columns();
  for (const std::string& key : columns) ck_assert_int_eq(std::ranges::count(columns, key), 1);
  return what;
}

constexpr const char* kAdmOfV1 =
    "adm:adm_csf_mode=2:adm_dlm_weight=0.7:adm_enhn_gain_limit=1:adm_min_val=0.5:adm_noise_weight=0.02";

START_TEST(requests_for_one_key_with_different_options_are_told) {
  assert_text_eq(told_of("", "psnr|psnr:reduced_hbd_peak=true"),
                 "two requests with different options write the key psnr_y: feature (psnr) and feature "
                 "(psnr:reduced_hbd_peak=true), which differ in reduced_hbd_peak");
  assert_contains(told_of("", "float_ssim|float_ssim:enable_db=true"), "write the key float_ssim: ");
  assert_contains(told_of("", "float_ssim:enable_db=true:clip_db=true|float_ssim"), "differ in enable_db, clip_db");
  assert_contains(told_of("", "float_ssim:scale=1|float_ssim:scale=2"), "differ in scale");
  assert_contains(told_of("", "float_ms_ssim|float_ms_ssim:enable_db=true"), "write the key float_ms_ssim: ");
  assert_contains(told_of("", "psnr:min_sse=1|psnr:min_sse=2|vif"), "differ in min_sse");
  assert_contains(told_of("", "xpsnr:fps=25|xpsnr:fps=25.0:enable_chroma=false"), "write the key xpsnr_fps_25: ");
  assert_contains(told_of("", "xpsnr|xpsnr:enable_chroma=false"), "write the key xpsnr: ");
  assert_contains(told_of("", "adm:adm_skip_aim=true|adm"), "write the key integer_adm2: ");
  assert_contains(told_of("", "float_adm:debug=true|float_adm:debug=true:adm_enhn_gain_limit=1"),
                  "write the key adm: ");
  assert_contains(told_of("", "cambi:full_ref=true|cambi:full_ref=true:cambi_max_val=5"),
                  "write the key cambi_source: ");
  const std::string skipping = std::string(kAdmOfV1) + ":adm_skip_aim=true";
  assert_contains(told_of("version=vmaf_v1.0.16_3d0h:name=v1", skipping.c_str()),
                  "write the key integer_adm2_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02: model v1 (adm:adm_csf_mode=2:");
  assert_contains(told_of("version=vmaf_v0.6.1|version=vmaf_v0.6.1:name=b:adm.adm_skip_aim=true", ""),
                  "write the key integer_adm2: model vmaf (adm) and model b (adm:adm_skip_aim=true), which differ in "
                  "adm_skip_aim");
}
END_TEST

START_TEST(paths_to_write_to_are_of_one_request) {
  const std::string folder = as_option(std::filesystem::temp_directory_path().string());
  const std::string one = "cambi:heatmaps_path=" + folder + "/vmafx_plan_1", other = one + "2";
  for (const std::string& features : {one + "|cambi", "cambi|" + one, one + "|" + one}) {
    LogText log;
    ck_assert(Plan::make({}, parse_features(features).value(), log.log).ok());
    assert_text_eq(log.text, "");
  }
  LogText log;
  const auto refused = Plan::make({}, parse_features(one + "|" + other).value(), log.log);
  ck_assert_int_eq(refused.status().code(), EINVAL);
  assert_contains(refused.status().message(), "which differ in heatmaps_path");
}
END_TEST

/* Other spellings, defaults that are said, and what only adds to the output. */
START_TEST(equal_requests_are_one) {
  for (const char* features :
       {"vif:vif_enhn_gain_limit=1|vif:vif_enhn_gain_limit=1.0", "vif|vif:vif_enhn_gain_limit=100",
        "adm:adm_noise_weight=0.03125|adm:adm_skip_aim=false", "psnr|psnr:min_sse=0.0",
        "float_ssim:scale=2|float_ssim:scale=2.0", "psnr:enable_chroma=false|psnr",
        "psnr:enable_apsnr=true|psnr:enable_mse=true", "float_motion:debug=false|float_motion",
        "float_ssim:enable_lcs=true|float_ssim", "cambi|cambi:full_ref=true", "xpsnr:enable_axpsnr=false|xpsnr"}) {
    const Planned planned("", features, Rivals::kRefused);
    ck_assert_msg(planned.made.ok(), "%s: %s", features, planned.made.message().c_str());
    ck_assert_uint_eq(planned.plan.value().extractors().size(), 1);
    assert_text_eq(planned.log.text, "");
  }
  assert_contains(keys_of("", "psnr:enable_chroma=false|psnr:enable_mse=true"),
                  "psnr_y mse_y psnr_cb mse_cb psnr_cr mse_cr");
  assert_contains(keys_of("", "float_motion:debug=false|float_motion"), "motion2 motion motion3");
  ck_assert_uint_eq(Planned("version=vmaf_v1.0.16_3d0h", kAdmOfV1, Rivals::kRefused).plan.value().extractors().size(),
                    4);
}
END_TEST

/* -- Extractors that share the making of raw sums ------------------------------------------------------------------ */

/* "cambi speed_chroma adm*2": the metrics whose sums are made, and for how many sets of options at once, if several. */
std::string extractions_of(const char* models, const char* features) {
  const Planned planned(models, features, Rivals::kRefused);
  ck_assert_msg(planned.made.ok(), "%s", planned.made.message().c_str());
  const Plan& plan = planned.plan.value();
  std::string text;
  for (const PlannedExtraction& extraction : plan.extractions()) {
    text += (text.empty() ? "" : " ") + std::string(plan.extractors()[extraction.of.front()].info->name);
    if (extraction.variants.size() > 1) text += format_text("*%zu", extraction.variants.size());
  }
  return text;
}

/* Viewing distances take the last part of adm; clips and averages only turn sums into scores. Other distances of v1
 * scale chroma in another way, and a window of five frames compares other frames. */
START_TEST(what_differs_late_is_shared) {
  const auto models = [](const char* a, const char* b) {
    return format_text("version=vmaf_%s:name=a|version=vmaf_%s:name=b", a, b);
  };
  const auto of_models = [&](const char* a, const char* b) { return extractions_of(models(a, b).c_str(), ""); };
  const char* const v1 = "v1.0.16_3d0h";
  assert_text_eq(of_models(v1, "v1.0.16_5d0h"), "cambi speed_chroma adm*2 motion speed_chroma");
  assert_text_eq(of_models(v1, "v1.0.16_3d0h_2160"), "cambi speed_chroma adm*2 motion speed_chroma");
  assert_text_eq(of_models(v1, "v1.0.16_1d5h_2160"), "cambi speed_chroma adm*2 motion");
  assert_text_eq(of_models(v1, "v1.0.16_hfr_3d0h"), "cambi speed_chroma adm motion motion");
  assert_text_eq(of_models("v0.6.1", v1), "adm motion vif cambi speed_chroma adm");
  assert_text_eq(of_models("v0.6.1", "4k_v0.6.1"), "adm motion vif");
  assert_text_eq(extractions_of("", "motion|motion:motion_max_val=18|motion:motion_moving_average=true"), "motion");
  assert_text_eq(extractions_of("", "adm|adm:adm_norm_view_dist=5|adm:adm_csf_mode=2|adm:adm_min_val=0.5"), "adm*3");
  assert_text_eq(extractions_of("", "float_adm|float_adm:adm_norm_view_dist=5|float_adm:adm_min_val=0.5"),
                 "float_adm float_adm");
}
END_TEST

/* More ways of viewing than one extraction serves go into a second one. */
START_TEST(an_extraction_has_room_for_some) {
  std::string features;
  for (int distance = 3; distance < 9; distance++)
    features += format_text("%sadm:adm_norm_view_dist=%d", distance == 3 ? "" : "|", distance);
  assert_text_eq(extractions_of("", features.c_str()), "adm*4 adm*2");
}
END_TEST

/* The option of later releases of libvmaf that names a second distance: keys are those of an extractor of its own. */
START_TEST(a_second_distance_is_a_second_extractor) {
  const std::string both = adm_keys("integer_", "_egl_1") + adm_keys("integer_", "_egl_1_nvd_5");
  const char* const features = "adm:adm_enhn_gain_limit=1:adm_norm_view_dist_extra=5";
  assert_text_eq(keys_of("", features) + " ", both);
  assert_text_eq(extractions_of("", features), "adm*2");
  assert_text_eq(keys_of("", "adm:adm_norm_view_dist_extra=3") + " ", adm_keys("integer_", ""));
  assert_contains(keys_of("version=vmaf_v0.6.1neg:adm.adm_norm_view_dist_extra=5", ""), "integer_adm2_egl_1_nvd_5");
  assert_contains(Planned("", "adm:adm_norm_view_dist_extra=30", Rivals::kRefused).made.message(),
                  "'30' is not a value for adm_norm_view_dist, which takes a number from 0.75 to 24");
}
END_TEST

/* Models are scored from what they ask for: from scores that nothing else shows, where the keys are another's. */
START_TEST(models_keep_their_own_features) {
  const Planned planned("version=vmaf_v0.6.1|version=vmaf_v0.6.1:name=b:adm.adm_skip_aim=true", "adm:adm_skip_aim=true",
                        Rivals::kFirstIsReported);
  ck_assert(planned.made.ok());
  const Plan& plan = planned.plan.value();
  const PlannedModel::Input &of_first = plan.models()[0].inputs[0], &of_second = plan.models()[1].inputs[0];
  assert_text_eq(of_first.feature, "VMAF_integer_feature_adm2_score");
  ck_assert(!of_first.unseen && of_second.unseen && of_first.extractor != of_second.extractor);
  assert_text_eq(plan.columns()[static_cast<size_t>(of_first.column)], "integer_adm2");
  ck_assert_int_eq(plan.unseen_columns(), 1);  // of the others the two models ask for the same
  assert_text_eq(plan.extractors()[static_cast<size_t>(of_second.extractor)].name(), "adm of model b");
  ck_assert_uint_eq(plan.extractors().size(), 4);
}
END_TEST

/* A model from anywhere says what is computed, and writes nothing; who runs it may. */
START_TEST(model_files_may_not_write) {
  std::string path = (std::filesystem::temp_directory_path() / "vmafx_plan_XXXXXX").string();
  const int fd = mkstemp(path.data());
  ck_assert_int_ge(fd, 0);
  close(fd);
  std::ofstream(path) << R"({"model_dict": {"model_type": "LIBSVMNUSVR", "norm_type": "none",
      "feature_names": ["Cambi_feature_cambi_score"], "feature_opts_dicts": [{"heatmaps_path": "/tmp/victim"}],
      "model": "svm_type nu_svr\nkernel_type rbf\ngamma 1\nnr_class 2\ntotal_sv 1\nrho 1\nSV\n1 1:1 \n"}})";
  const auto made = [&](const std::string& more) {
    LogText log;
    return Plan::make(parse_models("path=" + as_option(path) + more).value(), {}, log.log).status();
  };
  for (const char* more : {"", ":cambi.heatmaps_path=/tmp/mine"}) {
    ck_assert_int_eq(made(more).code(), EINVAL);
    assert_contains(made(more).message(),
                    "model file '" + path +
                        "': it sets heatmaps_path of cambi, which writes files, "
                        "and a model file may not: take it out, and if you want these files, add cambi.heatmaps_path=");
  }
  std::filesystem::remove(path);
}
END_TEST

/* Equal keys would be one in JSON. */
START_TEST(names_that_are_taken_are_refused) {
  for (const auto& [models, name] : {std::pair("version=vmaf_v0.6.1:name=integer_adm2", "integer_adm2"),
                                     {"version=vmaf_b_v0.6.3:name=b|version=vmaf_v0.6.1:name=b_0001", "b_0001"}}) {
    LogText log;
    auto plan = Plan::make(parse_models(models).value(), {}, log.log);
    ck_assert(plan.ok());
    const Status refused = plan.value().instantiate({.w = 352, .h = 288}, log.log);
    ck_assert_int_eq(refused.code(), EINVAL);
    assert_contains(refused.message(), "the name '" + std::string(name) + "' is taken");
  }
}
END_TEST

START_TEST(models_are_for_a_size) {
  assert_text_eq(said_of("vmaf_v0.6.1", 3840, 2160),
                 "model vmaf_v0.6.1 is made for 1080p and these pictures are 3840x2160: "
                 "vmaf_4k_v0.6.1 would suit them better\n");
  assert_contains(said_of("vmaf_v1.0.16_hfr_5d0h", 2160, 3840), "vmaf_v1.0.16_hfr_3d0h_2160 would");
  assert_contains(said_of("vmaf_4k_v0.6.1neg", 1920, 1088),
                  "made for 2160p and these pictures are 1920x1088: vmaf_v0.6.1neg");
  for (const char* version : {"vmaf_v0.6.1", "vmaf_4k_v0.6.1"}) assert_text_eq(said_of(version, 2560, 1440), "");
  assert_text_eq(said_of("vmaf_v0.6.1", 1920, 1080) + said_of("vmaf_float_v0.6.1", 1280, 720), "");
  assert_text_eq(said_of("vmaf_v1.0.16_1d5h_2160", 3840, 2160) + said_of("vmaf_float_4k_v0.6.1", 4096, 2160), "");
  for (int i = 0; i < static_cast<int>(builtin_model_names().size()); i++) {
    const char* name = builtin_model_names()[i];
    const bool large = std::string(name).find("4k") != std::string::npos || std::string(name).ends_with("_2160");
    assert_contains(large ? said_of(name, 1280, 720) : said_of(name, 3840, 2160), "would suit them better");
  }
  ModelSpec file;
  file.path = "some/where/vmaf_4k_v0.6.1.json";
  assert_text_eq(version_of(file), "vmaf_4k_v0.6.1");
}
END_TEST

START_TEST(small_pictures_are_to_be_scaled) {
  assert_text_eq(
      said_of("vmaf_v0.6.1", 640, 272),
      "model vmaf_v0.6.1 is made for 1080p and these pictures are only 640x272: scale both inputs up to what is "
      "seen (scale=1920:816:flags=bicubic before each input)\n");
  assert_contains(said_of("vmaf_v1.0.16_3d0h", 480, 640), "scale=810:1080:flags");
  assert_contains(said_of("vmaf_float_v0.6.1neg", 720, 576), "only 720x576: scale both inputs up to");
  assert_text_eq(said_of("vmaf_v0.6.1", 1280, 544) + said_of("vmaf_b_v0.6.3", 720, 1280), "");
  assert_contains(said_of("vmaf_4k_v0.6.1", 640, 272), "vmaf_v0.6.1 would suit them better");
}
END_TEST

START_TEST(models_of_ten_bits) {
  assert_contains(said_of("vmaf_v1.0.16_3d0h", 1920, 1080, 8), "made for 10 bits per sample and these pictures have 8");
  assert_text_eq(said_of("vmaf_v1.0.16_3d0h", 1920, 1080, 8, true) + said_of("vmaf_v0.6.1", 1920, 1080, 8), "");
}
END_TEST

START_TEST(models_of_chroma_refuse_gray) {
  ModelSpec spec;
  spec.version = "vmaf_v1.0.16_3d0h";
  LogText log;
  const VideoFormat gray = {.w = 1920, .h = 1080, .bpc = 10, .chroma = Chroma::k400};
  const Status refused = check_model(load_model(spec).value(), version_of(spec), false, gray, log.log);
  ck_assert_int_eq(refused.code(), EINVAL);
  assert_contains(refused.message(),
                  "model vmaf_v1.0.16_3d0h scores chroma, and these pictures are gray: use vmaf_v0.6.1");
  spec.version = "vmaf_v0.6.1";
  ck_assert(check_model(load_model(spec).value(), version_of(spec), false, gray, log.log).ok());
  assert_text_eq(log.text, "");
}
END_TEST

START_TEST(colors_are_common_to_both_inputs) {
  using Range = Color::Range;
  std::string differ;
  ck_assert(common_color(said(1, Range::kFull), said(1, Range::kFull), &differ) == said(1, Range::kFull));
  ck_assert(common_color(said(2, Range::kFull), said(9, Range::kUnspecified), &differ) == said(9, Range::kFull));
  assert_text_eq(differ, "");
  ck_assert(common_color(said(5, Range::kLimited), said(1, Range::kFull), &differ) == said(5, Range::kLimited));
  assert_text_eq(differ, "range, matrix");
}
END_TEST

START_TEST(colors_left_open_are_assumed) {
  VideoFormat format = {.w = 720, .h = 576};
  assert_text_eq(assume_color(format), "the matrix of BT.601 and limited range");
  ck_assert_int_eq(format.color.matrix, 6);
  ck_assert(format.color.range == Color::Range::kLimited);
  assert_text_eq(assume_color(format), "");

  format = {.w = 1280, .h = 720, .color = {.range = Color::Range::kFull}};
  assert_text_eq(assume_color(format), "the matrix of BT.709");
  ck_assert_int_eq(format.color.matrix, 1);
  ck_assert(format.color.range == Color::Range::kFull);
}
END_TEST

START_TEST(colors_of_the_api) {
  ck_assert(described_color({}) == Color());
  ck_assert(described_color({2, 0, 2, 2, 0}) == Color());
  ck_assert(described_color({-1, 7, -3, 0, -1}) == Color());
  const Color color = described_color({9, 2, 14, 9, 3});
  ck_assert_int_eq(color.matrix, 9);
  ck_assert(color.range == Color::Range::kFull);
  ck_assert_int_eq(color.transfer, 14);
  ck_assert_int_eq(color.primaries, 9);
  ck_assert(color.chroma_location == Color::ChromaLocation::kTopLeft);
}
END_TEST

int main() {
  return vmafx::test::run_suite("plan", {{"fits", kernels_leave_what_does_not_fit},
                                         {"by_name", kernels_asked_for_must_fit},
                                         {"order", keys_stand_in_libvmafs_order},
                                         {"common_order", keys_of_several_askers_stand_in_libvmafs_order},
                                         {"debug", debug_keys_beside_a_model_are_written},
                                         {"rivals", requests_for_one_key_with_different_options_are_told},
                                         {"paths", paths_to_write_to_are_of_one_request},
                                         {"shared", what_differs_late_is_shared},
                                         {"room", an_extraction_has_room_for_some},
                                         {"second", a_second_distance_is_a_second_extractor},
                                         {"equal", equal_requests_are_one},
                                         {"own_features", models_keep_their_own_features},
                                         {"writing", model_files_may_not_write},
                                         {"taken", names_that_are_taken_are_refused},
                                         {"size", models_are_for_a_size},
                                         {"small", small_pictures_are_to_be_scaled},
                                         {"depth", models_of_ten_bits},
                                         {"gray", models_of_chroma_refuse_gray},
                                         {"common", colors_are_common_to_both_inputs},
                                         {"assumed", colors_left_open_are_assumed},
                                         {"described", colors_of_the_api}});
}
