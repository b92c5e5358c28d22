/* A program that uses our libvmaf.so.3 gets the scores of a vmafx context, to the last bit, and what libvmaf promises
 * besides. Built with ON_EMULATOR, the library runs on a GPU, by the variables that a user sets, and the other context
 * on the CPU. */
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#include "tests/libvmaf/client.h"
#ifdef ON_EMULATOR
#include "tests/support/paths.h"
#endif

using namespace vmafx::test;

namespace {

constexpr int kFrames = 6;
const VmafxFormat kFormat = StreamOptions{}.ref;

VmafxFormat format(VmafxChroma chroma, int bits, int w = 97, int h = 66) {
  return {w, h, chroma, bits, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
}

Outcome expected(const char* model, const char* feature, const VmafxFormat& format = kFormat, int n_subsample = 1) {
  Params params = cpu_params(model, feature);
  params.n_subsample = n_subsample;
  StreamOptions options;
  options.ref = options.dist = format;
  options.frames = kFrames;
  const Outcome outcome = run_stream(params, options);
  ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
  return outcome;
}

/* Checks that two scores have the same bits, or both are not a number. */
void check_score(const std::string& what, double got, double want) {
  ck_assert_msg(std::memcmp(&got, &want, sizeof got) == 0 || (std::isnan(got) && std::isnan(want)),
                "%s: got %.17g, want %.17g", what.c_str(), got, want);
}

void check_features(const Client& client, const Outcome& wanted) {
  ck_assert_uint_eq(wanted.frames.size(), kFrames);
  int checked = 0;
  for (unsigned index = 0; index < kFrames; index++)
    for (const auto& [key, score] : wanted.frames[index]) {
      check_score(key, client.feature(vmaf_name(key), index), score);
      checked++;
    }
  ck_assert_int_ge(checked, kFrames);
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

constexpr int kLookedAt = 100, kWidth = 192, kHeight = 144;

/* A sample of waves that move; mirrored: left and right are exchanged. */
uint8_t wave(int x, int y, int n, bool mirrored) {
  if (mirrored) x = kWidth - 1 - x;
  return static_cast<uint8_t>(120 + 40 * std::sin((x + 3 * n) / 17.) + 30 * std::sin((y + 2 * n) / 11. + x / 40.) +
                              20 * std::sin(x * x / 900.));
}

VmafPicture waves(int n, bool mirrored) {
  VmafPicture picture;
  ck_assert_int_eq(vmaf_picture_alloc(&picture, VMAF_PIX_FMT_YUV400P, 8, kWidth, kHeight), 0);
  for (int y = 0; y < kHeight; y++)
    for (int x = 0; x < kWidth; x++)
      static_cast<uint8_t*>(picture.data[0])[y * picture.stride[0] + x] = wave(x, y, n, mirrored);
  return picture;
}

/* The warnings of a vmafx context for the same pictures. */
std::vector<std::string> warnings_of_a_session() {
  std::vector<std::string> warnings;
  Params params = cpu_params("", "name=psnr:enable_chroma=false");
  params.log_cookie = &warnings;
  params.log = [](void* to, VmafxLogLevel level, const char* message) {
    if (level == VMAFX_LOG_WARNING) static_cast<std::vector<std::string>*>(to)->push_back(message);
  };
  VmafxContext* ctx = nullptr;
  const VmafxFormat gray = format(VMAFX_CHROMA_400, 8, kWidth, kHeight);
  ck_assert_int_eq(open_context(&ctx, params), 0);
  ck_assert_int_eq(vmafx_configure(ctx, &gray, &gray), 0);
  for (int n = 0; n < kLookedAt; n++) {
    VmafxPicture pictures[2];
    for (const bool mirrored : {false, true}) {
      Samples samples;
      for (int i = 0; i < kWidth * kHeight; i++) samples.push_back(wave(i % kWidth, i / kWidth, n, mirrored));
      pictures[mirrored] = TestPicture::make(gray, samples);
    }
    ck_assert_int_eq(vmafx_submit(ctx, &pictures[0], &pictures[1]), 0);
  }
  ck_assert_int_eq(vmafx_finish(ctx), 0);
  vmafx_close(&ctx);
  return warnings;
}

/* What `work` writes to the standard error. */
template <class Work>
std::string said_by(Work work) {
  const std::string path = std::string("/tmp/vmafx-said-") + std::to_string(getpid());
  std::fflush(stderr);
  const int kept = dup(STDERR_FILENO), file = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  dup2(file, STDERR_FILENO);
  work();
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept), close(file);
  const std::string said = text_of(path);
  unlink(path.c_str());
  return said;
}

}  // namespace

/* All metrics of libvmaf that take the format, with options, which become part of the names. */
START_TEST(features_have_the_scores_of_a_session) {
  struct Case {
    VmafxFormat format;
    const char* feature;
  } const cases[] = {
      {format(VMAFX_CHROMA_420, 8),
       "name=psnr:enable_mse=true|name=adm|name=vif:vif_enhn_gain_limit=1.0|name=motion|name=float_ssim"},
      {format(VMAFX_CHROMA_422, 10),
       "name=vif|name=adm:adm_enhn_gain_limit=1.0|name=psnr|name=float_adm|name=float_motion"},
      {format(VMAFX_CHROMA_444, 12), "name=psnr|name=float_vif|name=float_psnr|name=float_moment|name=float_ansnr"},
      {format(VMAFX_CHROMA_400, 16), "name=vif|name=motion:motion_force_zero=true|name=float_ssim"},
      {format(VMAFX_CHROMA_420, 8, 320, 192),
       "name=ciede|name=psnr_hvs|name=cambi|name=speed_chroma|name=float_ms_ssim"},
  };
  for (const Case& c : cases) {
    const Outcome wanted = expected("", c.feature, c.format);
    Client client;
    std::istringstream features(c.feature);
    for (std::string entry; std::getline(features, entry, '|');) {
      std::istringstream words(entry.substr(std::strlen("name=")));
      std::string name, option;
      VmafFeatureDictionary* dictionary = nullptr;
      std::getline(words, name, ':');
      while (std::getline(words, option, ':')) {
        const size_t equals = option.find('=');
        const std::string key = option.substr(0, equals), value = option.substr(equals + 1);
        ck_assert_int_eq(vmaf_feature_dictionary_set(&dictionary, key.c_str(), value.c_str()), 0);
      }
      ck_assert_int_eq(vmaf_use_feature(client, name.c_str(), dictionary), 0);
    }
    client.read_all(c.format, kFrames);
    check_features(client, wanted);
  }
}
END_TEST

START_TEST(models_have_the_scores_of_a_session) {
  for (const char* version :
       {"vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_4k_v0.6.1", "vmaf_float_v0.6.1", "vmaf_v1.0.16_3d0h"}) {
    const VmafxFormat pictures = format(VMAFX_CHROMA_420, 8, 320, 192);
    const Outcome wanted = expected((std::string("version=") + version + ":name=mine").c_str(), nullptr, pictures);
    Client client;
    const Model model(version, "mine");
    ck_assert_int_eq(vmaf_use_features_from_model(client, model), 0);
    client.read_all(pictures, kFrames);
    for (unsigned index = 0; index < kFrames; index++)
      check_score(version, model.score(client, index), wanted.frames[index].at("mine"));
    check_features(client, wanted);  // the model's own score is there now, too
    double pooled = 0;
    ck_assert_int_eq(vmaf_score_pooled(client, model, VMAF_POOL_METHOD_MEAN, &pooled, 0, kFrames - 1), 0);
    check_score("pooled", pooled, wanted.models.at(0));
  }
}
END_TEST

/* Several at once, with flags and overloads. A model that is destroyed leaves its scores. */
START_TEST(models_have_flags_and_overloads) {
  const Outcome wanted = expected(
      "version=vmaf_v0.6.1:name=plain|version=vmaf_v0.6.1:name=unclipped:disable_clip=true|"
      "version=vmaf_v0.6.1:name=phone:enable_transform=true|version=vmaf_v0.6.1:name=neg:adm.adm_enhn_gain_limit=1.0:"
      "vif.vif_enhn_gain_limit=1.0",
      nullptr);
  Client client;
  {
    const Model plain("vmaf_v0.6.1", "plain"), unclipped("vmaf_v0.6.1", "unclipped", VMAF_MODEL_FLAG_DISABLE_CLIP),
        phone("vmaf_v0.6.1", "phone", VMAF_MODEL_FLAG_ENABLE_TRANSFORM), neg("vmaf_v0.6.1", "neg");
    for (const char* metric : {"adm", "vif", "psnr"}) {  // which has no psnr
      VmafFeatureDictionary* dictionary = nullptr;
      const std::string option = std::string(metric) + "_enhn_gain_limit";
      ck_assert_int_eq(vmaf_feature_dictionary_set(&dictionary, option.c_str(), "1.0"), 0);
      ck_assert_int_eq(vmaf_model_feature_overload(neg, metric, dictionary), 0);
    }
    for (VmafModel* model : {static_cast<VmafModel*>(plain), static_cast<VmafModel*>(unclipped),
                             static_cast<VmafModel*>(phone), static_cast<VmafModel*>(neg)})
      ck_assert_int_eq(vmaf_use_features_from_model(client, model), 0);
    client.read_all(kFormat, kFrames);
    for (const Model* model : {&plain, &unclipped, &phone, &neg})
      for (unsigned index = 0; index < kFrames; index++) model->score(client, index);
  }
  check_features(client, wanted);

  const Model same("vmaf_v0.6.1", "plain"), other("vmaf_v0.6.1", "plain", VMAF_MODEL_FLAG_ENABLE_TRANSFORM);
  check_score("plain", same.score(client, 0), wanted.frames[0].at("plain"));
  double score = 0;
  ck_assert_int_eq(vmaf_score_at_index(client, other, &score, 0), -EINVAL);  // not the score of its namesake
}
END_TEST

START_TEST(collections_have_the_scores_of_a_session) {
  const Outcome wanted = expected("version=vmaf_b_v0.6.3:name=b", nullptr);
  Client client;
  VmafModelConfig configuration = {"b", 0};
  VmafModel* base = nullptr;
  VmafModelCollection* collection = nullptr;
  ck_assert_int_eq(vmaf_model_load(&base, &configuration, "vmaf_b_v0.6.3"), -EINVAL);
  ck_assert_int_eq(vmaf_model_collection_load(&base, &collection, &configuration, "vmaf_v0.6.1"), -EINVAL);
  ck_assert_int_eq(vmaf_model_collection_load(&base, &collection, &configuration, "vmaf_b_v0.6.3"), 0);
  ck_assert_int_eq(vmaf_use_features_from_model_collection(client, collection), 0);
  client.read_all(kFormat, kFrames);
  double score = 0, sum = 0;
  for (unsigned index = 0; index < kFrames; index++) {
    const FrameScores& frame = wanted.frames[index];
    ck_assert_int_eq(vmaf_score_at_index(client, base, &score, index), 0);
    check_score("b", score, frame.at("b"));
    for (int again = 0; again < 2; again++) {
      VmafModelCollectionScore scores{};
      ck_assert_int_eq(vmaf_score_at_index_model_collection(client, collection, &scores, index), 0);
      ck_assert_int_eq(scores.type, VMAF_MODEL_COLLECTION_SCORE_BOOTSTRAP);
      check_score("bagging", scores.bootstrap.bagging_score, frame.at("b_bagging"));
      check_score("stddev", scores.bootstrap.stddev, frame.at("b_stddev"));
      check_score("lo", scores.bootstrap.ci.p95.lo, frame.at("b_ci_p95_lo"));
      check_score("hi", scores.bootstrap.ci.p95.hi, frame.at("b_ci_p95_hi"));
    }
    sum += frame.at("b_bagging");
  }
  check_features(client, wanted);  // also those of the members
  VmafModelCollectionScore pooled{};
  ck_assert_int_eq(
      vmaf_score_pooled_model_collection(client, collection, VMAF_POOL_METHOD_MEAN, &pooled, 0, kFrames - 1), 0);
  check_score("pooled", pooled.bootstrap.bagging_score, sum / kFrames);
  vmaf_model_destroy(base);
  vmaf_model_collection_destroy(collection);
}
END_TEST

START_TEST(pooling_is_that_of_a_session) {
  Client client;
  const Model model("vmaf_v0.6.1");
  ck_assert_int_eq(vmaf_use_features_from_model(client, model), 0);
  ck_assert_int_eq(client.use("psnr"), 0);
  client.read_all(kFormat, kFrames);
  const std::pair<VmafPoolingMethod, const char*> methods[] = {{VMAF_POOL_METHOD_MIN, "min"},
                                                               {VMAF_POOL_METHOD_MAX, "max"},
                                                               {VMAF_POOL_METHOD_MEAN, "mean"},
                                                               {VMAF_POOL_METHOD_HARMONIC_MEAN, "harmonic_mean"}};
  double score = 0;
  for (const auto& [method, name] : methods) {
    Params params = cpu_params("version=vmaf_v0.6.1", "name=psnr");
    params.pool = name;
    const Outcome wanted = run_stream(params, {.frames = kFrames});
    ck_assert_int_eq(vmaf_score_pooled(client, model, method, &score, 0, kFrames - 1), 0);
    check_score(name, score, wanted.models.at(0));
    ck_assert_int_eq(vmaf_feature_score_pooled(client, "psnr_y", method, &score, 0, kFrames - 1), 0);
    check_score(name, score, wanted.features.at("psnr_y"));
    ck_assert_int_eq(vmaf_feature_score_pooled(client, "psnr_y", method, &score, 3, 3), 0);
    if (method != VMAF_POOL_METHOD_HARMONIC_MEAN) check_score(name, score, client.feature("psnr_y", 3));
  }
  const double imported[] = {2, std::numeric_limits<double>::infinity(), 4};
  for (unsigned index = 0; index < 3; index++)
    ck_assert_int_eq(vmaf_import_feature_score(client, "mine", imported[index], index), 0);
  ck_assert_int_eq(vmaf_feature_score_pooled(client, "mine", VMAF_POOL_METHOD_MEAN, &score, 0, 2), 0);
  check_score("scores that are not finite are left out", score, 3);
  for (const VmafPoolingMethod none : {VMAF_POOL_METHOD_UNKNOWN, VMAF_POOL_METHOD_NB})
    ck_assert_int_eq(vmaf_score_pooled(client, model, none, &score, 0, kFrames - 1), -EINVAL);
  ck_assert_int_eq(vmaf_score_pooled(client, model, VMAF_POOL_METHOD_MEAN, &score, 3, 2), -EINVAL);
  ck_assert_int_eq(vmaf_score_pooled(client, model, VMAF_POOL_METHOD_MEAN, &score, 0, kFrames), -EINVAL);
  ck_assert_int_eq(vmaf_feature_score_pooled(client, "psnr_y", VMAF_POOL_METHOD_MEAN, &score, 0,
                                             std::numeric_limits<unsigned>::max()),
                   -EINVAL);
}
END_TEST

/* In libvmaf, options that are not part of a key reach whoever asks for the key later, a model too. Here the first one
 * is reported, as there, and a model is scored from its own. */
START_TEST(features_do_not_change_a_models_score) {
  const char* const key = "VMAF_integer_feature_aim_score";
  const Outcome alone = expected("version=vmaf_v0.6.1", nullptr),
                skipping = expected("version=vmaf_v0.6.1:adm.adm_skip_aim=true", nullptr);
  ck_assert(alone.frames[1].at("integer_aim") > 0);
  for (const bool feature_first : {false, true}) {
    Client client({VMAF_LOG_LEVEL_NONE, 1, 1, 0, 0});
    const Model model("vmaf_v0.6.1"), other("vmaf_v0.6.1", "other");
    VmafFeatureDictionary* dictionary = nullptr;
    ck_assert_int_eq(vmaf_feature_dictionary_set(&dictionary, "adm_skip_aim", "true"), 0);
    ck_assert_int_eq(vmaf_model_feature_overload(other, "adm", dictionary), 0);
    if (feature_first) ck_assert_int_eq(client.use("adm", {{"adm_skip_aim", "true"}}), 0);
    for (int twice = 0; twice < 2; twice++) ck_assert_int_eq(vmaf_use_features_from_model(client, model), 0);
    if (!feature_first) ck_assert_int_eq(client.use("adm", {{"adm_skip_aim", "true"}}), 0);
    ck_assert_int_eq(vmaf_use_features_from_model(client, other), 0);
    client.read_all(kFormat, kFrames);
    for (unsigned index = 0; index < kFrames; index++) {
      check_score("vmaf", model.score(client, index), alone.frames[index].at("vmaf"));
      check_score("other", other.score(client, index), skipping.frames[index].at("vmaf"));
      check_score(key, client.feature(key, index), (feature_first ? skipping : alone).frames[index].at("integer_aim"));
    }
  }
}
END_TEST

/* adm3 is what v1 models see, and differs. */
START_TEST(a_later_model_is_scored_from_its_own_features) {
  const VmafxFormat pictures = format(VMAFX_CHROMA_420, 8, 320, 192);
  const char* const version = "vmaf_v1.0.16_3d0h";
  const Outcome alone = expected((std::string("version=") + version).c_str(), nullptr, pictures);
  const Outcome skipping =
      expected((std::string("version=") + version + ":adm.adm_skip_aim=true").c_str(), nullptr, pictures);
  ck_assert(alone.models.at(0) != skipping.models.at(0));
  Client client({VMAF_LOG_LEVEL_NONE, 1, 1, 0, 0});
  const Model model(version);
  ck_assert_int_eq(client.use("adm", {{"adm_csf_mode", "2"},
                                      {"adm_dlm_weight", "0.7"},
                                      {"adm_enhn_gain_limit", "1"},
                                      {"adm_min_val", "0.5"},
                                      {"adm_noise_weight", "0.02"},
                                      {"adm_skip_aim", "true"}}),
                   0);
  ck_assert_int_eq(vmaf_use_features_from_model(client, model), 0);
  client.read_all(pictures, kFrames);
  double pooled = 0;
  ck_assert_int_eq(vmaf_score_pooled(client, model, VMAF_POOL_METHOD_MEAN, &pooled, 0, kFrames - 1), 0);
  check_score("pooled", pooled, alone.models.at(0));
  const std::string key = "integer_adm3_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02";
  for (unsigned index = 0; index < kFrames; index++)
    check_score(key, client.feature(key, index), skipping.frames[index].at(key));
}
END_TEST

START_TEST(every_other_frame_is_scored) {
  const Outcome wanted = expected("version=vmaf_v0.6.1", nullptr, kFormat, 2);
  Client client({VMAF_LOG_LEVEL_NONE, 2, 2, 0, 0});
  const Model model("vmaf_v0.6.1");
  ck_assert_int_eq(vmaf_use_features_from_model(client, model), 0);
  ck_assert_int_eq(client.read(kFormat, 0, 1), -EINVAL);  // the first is not at 0
  client.read_all(kFormat, kFrames);
  double pooled = 0;
  ck_assert_int_eq(vmaf_score_pooled(client, model, VMAF_POOL_METHOD_MEAN, &pooled, 0, kFrames - 1), 0);
  check_score("pooled", pooled, wanted.models.at(0));
  check_features(client, wanted);
  double score = 0;
  ck_assert_int_eq(vmaf_feature_score_at_index(client, "integer_adm_scale0", &score, 1), -EINVAL);
}
END_TEST

/* Scores come as soon as nothing later is needed for them; indices are what the program says. */
START_TEST(scores_are_there_while_pictures_come) {
  const Outcome wanted = expected("version=vmaf_v0.6.1", nullptr);
  Client client({VMAF_LOG_LEVEL_NONE, 3, 1, 0, 0});
  const Model model("vmaf_v0.6.1");
  ck_assert_int_eq(vmaf_use_features_from_model(client, model), 0);
  double score = 0;
  for (unsigned n = 0; n < kFrames; n++) {
    ck_assert_int_eq(client.read(kFormat, static_cast<int>(n), 100 + 10 * n), 0);
    ck_assert_int_eq(vmaf_score_at_index(client, model, &score, 100 + 10 * n), -EINVAL);  // motion needs the next one
    if (n > 0) check_score("vmaf", model.score(client, 90 + 10 * n), wanted.frames[n - 1].at("vmaf"));
  }
  ck_assert_int_eq(client.flush(), 0);
  check_score("vmaf", model.score(client, 150), wanted.frames[5].at("vmaf"));
  ck_assert_int_eq(vmaf_score_at_index(client, model, &score, 0), -EINVAL);
}
END_TEST

START_TEST(scores_can_be_imported) {
  const Outcome wanted = expected("version=vmaf_v0.6.1", nullptr);
  Client client({VMAF_LOG_LEVEL_NONE, 0, 0, 0, 0});
  for (unsigned index = 0; index < kFrames; index++)
    for (const auto& [key, score] : wanted.frames[index])
      if (key != "vmaf") ck_assert_int_eq(vmaf_import_feature_score(client, vmaf_name(key).c_str(), score, index), 0);
  ck_assert_int_eq(vmaf_import_feature_score(client, "mine", 1.5, 2), 0);
  ck_assert_int_eq(vmaf_import_feature_score(client, "mine", 2.5, 2), -EINVAL);
  check_score("mine", client.feature("mine", 2), 1.5);
  ck_assert_int_eq(client.flush(), 0);
  const Model model("vmaf_v0.6.1");
  for (unsigned index = 0; index < kFrames; index++)
    check_score("vmaf", model.score(client, index), wanted.frames[index].at("vmaf"));
  const Model other("vmaf_v0.6.1neg", "neg");  // whose features have other names
  double score = 0;
  ck_assert_int_eq(vmaf_score_at_index(client, other, &score, 0), -EINVAL);
}
END_TEST

/* A feature that is computed where one was imported: the first one stays, and the call fails. */
START_TEST(an_imported_score_stays) {
  Client client({VMAF_LOG_LEVEL_NONE, 1, 1, 0, 0});
  ck_assert_int_eq(client.use("psnr"), 0);
  ck_assert_int_eq(vmaf_import_feature_score(client, "psnr_y", 7, 1), 0);
  int failures = 0;
  for (unsigned n = 0; n < 3; n++) failures += client.read(kFormat, static_cast<int>(n), n) == -EINVAL;
  failures += client.flush() == -EINVAL;
  ck_assert_int_eq(failures, 1);
  check_score("psnr_y", client.feature("psnr_y", 1), 7);
}
END_TEST

/* Reports are those of a session, but for what only one of the two can know. */
START_TEST(reports_are_those_of_a_session) {
  char folder[] = "/tmp/vmafx_libvmaf_XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  const std::string ours = std::string(folder) + "/ours", theirs = std::string(folder) + "/theirs";
  Client client;
  const Model model("vmaf_v0.6.1");
  ck_assert_int_eq(vmaf_use_features_from_model(client, model), 0);
  ck_assert_int_eq(client.use("psnr", {{"enable_apsnr", "true"}}), 0);
  client.read_all(kFormat, kFrames);
  double pooled = 0;
  ck_assert_int_eq(vmaf_score_pooled(client, model, VMAF_POOL_METHOD_MEAN, &pooled, 0, kFrames - 1), 0);
  struct Case {
    VmafOutputFormat format;
    const char *name, *from, *to;  // of the part that is compared
  } const cases[] = {{VMAF_OUTPUT_FORMAT_XML, "xml", "  <frames>", "  <pooled_statistics"},
                     {VMAF_OUTPUT_FORMAT_JSON, "json", "  \"frames\"", "  \"pooled_statistics\""},
                     {VMAF_OUTPUT_FORMAT_CSV, "csv", "Frame,", nullptr},
                     {VMAF_OUTPUT_FORMAT_SUB, "sub", "{0}{1}", nullptr}};
  for (const Case& c : cases) {
    Params params = cpu_params("version=vmaf_v0.6.1", "name=psnr:enable_apsnr=true");
    params.log_path = theirs.c_str();
    params.log_fmt = c.name;
    ck_assert_int_eq(run_stream(params, {.frames = kFrames}).error, 0);
    ck_assert_int_eq(vmaf_write_output(client, ours.c_str(), c.format), 0);
    const auto part = [&](const std::string& text) {
      ck_assert_msg(text.find(c.from) != text.npos && (!c.to || text.find(c.to) != text.npos), "%s", text.c_str());
      return text.substr(text.find(c.from), c.to ? text.find(c.to) - text.find(c.from) : text.npos);
    };
    assert_text_eq(part(text_of(ours)), part(text_of(theirs)));
    if (!c.to) continue;
    assert_contains(text_of(ours), "apsnr_y");
  }
  assert_contains(text_of(theirs), "integer_adm2");
  ck_assert_int_eq(vmaf_write_output(client, ours.c_str(), VMAF_OUTPUT_FORMAT_NONE), -EINVAL);
  std::ofstream(ours) << "foreign";
  ck_assert_int_eq(vmaf_write_output(client, ours.c_str(), VMAF_OUTPUT_FORMAT_XML), -EINVAL);
  assert_text_eq(text_of(ours), "foreign");
  setenv("VMAFX_OVERWRITE", "1", 1);
  {
    Client allowed;
    unsetenv("VMAFX_OVERWRITE");
    ck_assert_int_eq(vmaf_use_features_from_model(allowed, model), 0);
    allowed.read_all(kFormat, 2);
    ck_assert_int_eq(vmaf_write_output(allowed, ours.c_str(), VMAF_OUTPUT_FORMAT_XML), 0);
    assert_contains(text_of(ours), "<VMAF");
  }
  ck_assert_int_eq(vmaf_write_output(client, nullptr, VMAF_OUTPUT_FORMAT_XML), -EINVAL);
  unlink(ours.c_str());
  unlink(theirs.c_str());
  rmdir(folder);
}
END_TEST

START_TEST(pictures_come_from_a_pool) {
  Client client;
  VmafPicture pictures[5] = {};
  ck_assert_int_eq(vmaf_fetch_preallocated_picture(client, &pictures[0]), -EINVAL);
  ck_assert_int_eq(vmaf_preallocate_pictures(client, {{96, 64, 8, VMAF_PIX_FMT_YUV420P}, 0}), -EINVAL);
  ck_assert_int_eq(vmaf_preallocate_pictures(client, {{0, 64, 8, VMAF_PIX_FMT_YUV420P}, 2}), -EINVAL);
  ck_assert_int_eq(vmaf_preallocate_pictures(client, {{96, 64, 8, VMAF_PIX_FMT_YUV420P}, 2}), 0);
  for (VmafPicture& picture : pictures) ck_assert_int_eq(vmaf_fetch_preallocated_picture(client, &picture), 0);
  const void* const last = pictures[4].data[0];
  for (VmafPicture& picture : pictures) ck_assert_int_eq(vmaf_picture_unref(&picture), 0);
  ck_assert_int_eq(vmaf_fetch_preallocated_picture(client, &pictures[0]), 0);
  ck_assert_ptr_eq(pictures[0].data[0], last);
  ck_assert_int_eq(vmaf_picture_unref(&pictures[0]), 0);

  const Outcome wanted = expected("", "name=psnr");
  ck_assert_int_eq(client.use("psnr"), 0);
  for (unsigned n = 0; n < kFrames; n++) {
    for (int side = 0; side < 2; side++) {
      ck_assert_int_eq(vmaf_fetch_preallocated_picture(client, &pictures[side]), 0);
      fill(kFormat, static_cast<int>(n), side == 1, &pictures[side]);
    }
    ck_assert_int_eq(vmaf_read_pictures(client, &pictures[0], &pictures[1], n), 0);
  }
  ck_assert_int_eq(client.flush(), 0);
  check_features(client, wanted);
}
END_TEST

/* Sizes as libvmaf's: chroma rounds down, and a gray picture has none. */
START_TEST(pictures_have_libvmafs_sizes) {
  struct Case {
    VmafPixelFormat format;
    unsigned w, h;
  } const cases[] = {{VMAF_PIX_FMT_YUV420P, 48, 32},
                     {VMAF_PIX_FMT_YUV422P, 48, 65},
                     {VMAF_PIX_FMT_YUV444P, 97, 65},
                     {VMAF_PIX_FMT_YUV400P, 0, 0}};
  for (const Case& c : cases) {
    VmafPicture picture;
    ck_assert_int_eq(vmaf_picture_alloc(&picture, c.format, 10, 97, 65), 0);
    ck_assert(picture.pix_fmt == c.format && picture.bpc == 10 && picture.w[0] == 97 && picture.h[0] == 65);
    for (int p = 1; p < 3; p++) {
      ck_assert_uint_eq(picture.w[p], c.w);
      ck_assert_uint_eq(picture.h[p], c.h);
      ck_assert_int_eq(picture.data[p] != nullptr, c.w != 0);
    }
    ck_assert_int_eq(vmaf_picture_unref(&picture), 0);
    ck_assert_int_eq(vmaf_picture_unref(&picture), -EINVAL);
  }
  VmafPicture picture;
  ck_assert_int_eq(vmaf_picture_alloc(&picture, VMAF_PIX_FMT_UNKNOWN, 8, 16, 16), -EINVAL);
  ck_assert_int_eq(vmaf_picture_alloc(&picture, VMAF_PIX_FMT_YUV420P, 7, 16, 16), -EINVAL);
  ck_assert_int_eq(vmaf_picture_alloc(&picture, VMAF_PIX_FMT_YUV420P, 17, 16, 16), -EINVAL);
  ck_assert_int_eq(vmaf_picture_alloc(nullptr, VMAF_PIX_FMT_YUV420P, 8, 16, 16), -EINVAL);
}
END_TEST

/* -- Programs with either header's VmafPicture --------------------------------------------------------------------- */

/* A picture as one header lays it out, and bytes behind it that are not the picture's. */
template <class Picture>
struct Guarded {
  Guarded() { std::memset(static_cast<void*>(this), 0xA5, sizeof *this); }
  VmafPicture* get() { return reinterpret_cast<VmafPicture*>(&picture); }
  void check() const {
    for (const unsigned char byte : guard) ck_assert_uint_eq(byte, 0xA5);
  }

  Picture picture;
  unsigned char guard[32];
};

constexpr VmafColor kHdr = {VMAF_COLOR_RANGE_LIMITED, VMAF_COLOR_PRIMARIES_BT2020, VMAF_COLOR_TRC_SMPTE2084,
                            VMAF_COLOR_MATRIX_BT2020_NCL};
constexpr VmafColor kBt709 = {VMAF_COLOR_RANGE_FULL, VMAF_COLOR_PRIMARIES_BT709, VMAF_COLOR_TRC_BT709,
                              VMAF_COLOR_MATRIX_BT709};

enum class Source { kAllocated, kFromPool, kWrapped };

/* Scores as a program with this header does, which sets the colors of its pictures if `colors`; checks that nothing
 * behind a picture is written. Wrapped pictures have the program's own planes. */
template <class Picture>
void check_program(Source source, bool colors) {
  const Outcome wanted = expected("", "name=psnr");
  std::vector<std::unique_ptr<std::vector<uint8_t>>> planes;  // of wrapped pictures, until the context is closed
  Client client;
  ck_assert_int_eq(client.use("psnr"), 0);
  const auto w = static_cast<unsigned>(kFormat.width), h = static_cast<unsigned>(kFormat.height),
             bpc = static_cast<unsigned>(kFormat.bits);
  const VmafPixelFormat pix_fmt = pixel_format(kFormat);
  ck_assert_int_eq(vmaf_preallocate_pictures(client, {{w, h, bpc, pix_fmt}, 3}), 0);
  for (unsigned n = 0; n < kFrames; n++) {
    Guarded<Picture> sides[2], copy;
    for (int side = 0; side < 2; side++) {
      VmafPicture* const picture = sides[side].get();
      if (source == Source::kWrapped) {
        planes.push_back(std::make_unique<std::vector<uint8_t>>(size_t{w} * h * 6));
        VmafLaterPictureWrapped given{pix_fmt, bpc, w, h, {}, {}, {}};
        const auto stride = static_cast<ptrdiff_t>(w * 2);
        for (int p = 0; p < 3; p++) {
          given.data[p] = planes.back()->data() + static_cast<size_t>(p) * size_t{w} * h * 2;
          given.stride[p] = stride;
        }
        ck_assert_int_eq(vmaf_picture_wrap(reinterpret_cast<VmafLaterPicture*>(picture), given), 0);
      } else if (source == Source::kFromPool) {
        ck_assert_int_eq(vmaf_fetch_preallocated_picture(client, picture), 0);
      } else {
        ck_assert_int_eq(vmaf_picture_alloc(picture, pix_fmt, bpc, w, h), 0);
      }
      fill(kFormat, static_cast<int>(n), side == 1, picture);
      if constexpr (std::is_same_v<Picture, VmafLaterPicture>)
        if (colors) sides[side].picture.color = side ? kBt709 : kHdr;
    }
    std::memcpy(static_cast<void*>(&copy), &sides[0], sizeof copy);  // programs move pictures
    ck_assert_int_eq(vmaf_read_pictures(client, copy.get(), sides[1].get(), n), 0);
    for (Guarded<Picture>* picture : {&copy, &sides[1]}) {
      picture->check();
      ck_assert_ptr_null(picture->picture.data[0]);
      ck_assert_int_eq(vmaf_picture_unref(picture->get()), -EINVAL);
    }
  }
  ck_assert_int_eq(client.flush(), 0);
  check_features(client, wanted);
  Guarded<Picture> unused;
  ck_assert_int_eq(vmaf_picture_alloc(unused.get(), pix_fmt, bpc, w, h), 0);
  ck_assert_int_eq(vmaf_picture_unref(unused.get()), 0);
  ck_assert_int_eq(vmaf_picture_unref(unused.get()), -EINVAL);
  unused.check();
}

START_TEST(both_headers_have_their_pictures) {
  for (const Source source : {Source::kAllocated, Source::kFromPool}) {
    check_program<VmafPicture>(source, false);
    check_program<VmafLaterPicture>(source, false);
    check_program<VmafLaterPicture>(source, true);
  }
}
END_TEST

START_TEST(pictures_wrap_planes_of_the_program) {
  for (const bool colors : {false, true}) check_program<VmafLaterPicture>(Source::kWrapped, colors);
  uint8_t plane[64 * 64] = {};
  VmafLaterPicture first, second;
  VmafLaterPictureWrapped given{VMAF_PIX_FMT_YUV400P, 8, 64, 64, {plane}, {64}, {}};
  ck_assert_int_eq(vmaf_picture_wrap(&first, given), 0);
  ck_assert_int_eq(vmaf_picture_wrap(&second, given), 0);  // the same planes once more
  ck_assert(first.w[0] == 64 && first.data[0] == plane && first.stride[0] == 64 && !first.data[1] && first.ref);
  ck_assert_int_eq(vmaf_picture_unref(reinterpret_cast<VmafPicture*>(&second)), 0);
  ck_assert_ptr_null(second.ref);
  ck_assert_int_eq(vmaf_picture_unref(reinterpret_cast<VmafPicture*>(&second)), -EINVAL);
  ck_assert_int_eq(vmaf_picture_unref(reinterpret_cast<VmafPicture*>(&first)), 0);
  ck_assert_int_eq(vmaf_picture_wrap(nullptr, given), -EINVAL);
  given.pix_fmt = VMAF_PIX_FMT_YUV420P;
  assert_contains(said_by([&] { ck_assert_int_eq(vmaf_picture_wrap(&first, given), -EINVAL); }), "plane 1 is null");
  given.release[1] = plane;
  assert_contains(said_by([&] { ck_assert_int_eq(vmaf_picture_wrap(&first, given), -EINVAL); }), "release_picture");
  VmafPicture made = make_vmaf_picture(format(VMAFX_CHROMA_400, 8), 0, false);
  given = {VMAF_PIX_FMT_YUV400P, 8, 64, 64, {made.data[0]}, {made.stride[0]}, {}};
  assert_contains(said_by([&] { ck_assert_int_eq(vmaf_picture_wrap(&first, given), -EINVAL); }), "hand over that one");
  ck_assert_int_eq(vmaf_picture_unref(&made), 0);
}
END_TEST

START_TEST(what_later_headers_declare_is_refused_in_words) {
  const std::string said = said_by([] {
    ck_assert_int_eq(vmaf_picture_convert_context_init(nullptr, nullptr, nullptr), -ENOTSUP);
    ck_assert_int_eq(vmaf_picture_convert(nullptr, nullptr, nullptr), -ENOTSUP);
    ck_assert_int_eq(vmaf_picture_convert_context_close(nullptr), -ENOTSUP);
  });
  for (const char* call :
       {"vmaf_picture_convert_context_init()", "vmaf_picture_convert()", "vmaf_picture_convert_context_close()"})
    assert_contains(said, call);
  const Client client;
  ck_assert_int_eq(vmaf_import_feature_score(client, "mine", 1, 0), 0);
  double score = 0;
  assert_contains(said_by([&] {
                    ck_assert_int_eq(vmaf_feature_score_pooled(client, "mine", VmafPoolingMethod{5}, &score, 0, 0),
                                     -EINVAL);
                  }),
                  "no pooling method 5 in libvmaf 3.2.1");
}
END_TEST

/* libvmaf takes a pair if one of its pictures has the depth of those before. */
START_TEST(pairs_have_one_depth) {
  Client client;
  ck_assert_int_eq(client.use("psnr"), 0);
  ck_assert_int_eq(client.read(kFormat, 0, 0), 0);
  for (const bool ref_is_deep : {false, true}) {
    VmafxFormat deep = kFormat;
    deep.bits = 10;
    VmafPicture ref = make_vmaf_picture(ref_is_deep ? deep : kFormat, 1, false),
                dist = make_vmaf_picture(ref_is_deep ? kFormat : deep, 1, true);
    assert_contains(said_by([&] { ck_assert_int_eq(vmaf_read_pictures(client, &ref, &dist, 1), -EINVAL); }),
                    "the two pictures differ in size or format");
  }
}
END_TEST

START_TEST(wrong_calls_are_errors) {
  double score = 0;
  VmafModel* none = nullptr;
  ck_assert_int_eq(vmaf_init(nullptr, {}), -EINVAL);
  ck_assert_int_eq(vmaf_close(nullptr), -EINVAL);
  ck_assert_int_eq(vmaf_feature_dictionary_set(nullptr, "a", "b"), -EINVAL);
  ck_assert_int_eq(vmaf_feature_dictionary_free(nullptr), -EINVAL);
  ck_assert_int_eq(vmaf_read_pictures(nullptr, nullptr, nullptr, 0), -EINVAL);

  Client client({VMAF_LOG_LEVEL_NONE, 1, 1, 0, 0});
  ck_assert_int_eq(vmaf_model_load(&none, nullptr, "vmaf_v0.0.0"), -EINVAL);
  ck_assert_int_eq(vmaf_model_load_from_path(&none, nullptr, "/nowhere/model.json"), -EINVAL);
  ck_assert_ptr_null(none);
  ck_assert_int_eq(client.use("no_such_feature"), -EINVAL);
  ck_assert_int_eq(client.use("vif", {{"vif_enhn_gain_limit", "0.5"}}), -EINVAL);
  ck_assert_int_eq(vmaf_use_feature(client, nullptr, nullptr), -EINVAL);
  ck_assert_int_eq(vmaf_use_features_from_model(client, nullptr), -EINVAL);
  ck_assert_int_eq(vmaf_feature_score_at_index(client, "psnr_y", &score, 0), -EINVAL);
  ck_assert_int_eq(client.use("psnr"), 0);
  ck_assert_int_eq(client.flush(), -EINVAL);  // there were no pictures

  VmafPicture picture = make_vmaf_picture(kFormat, 0, false);
  ck_assert_int_eq(vmaf_read_pictures(client, &picture, nullptr, 0), -EINVAL);
  ck_assert_int_eq(vmaf_picture_unref(&picture), 0);
  VmafPicture empty[2] = {};
  ck_assert_int_eq(vmaf_read_pictures(client, &empty[0], &empty[1], 0), -EINVAL);

  ck_assert_int_eq(client.read(kFormat, 0, 0), 0);
  ck_assert_int_eq(client.read(kFormat, 1, 0), -EINVAL);                               // the same index
  ck_assert_int_eq(client.read(format(VMAFX_CHROMA_420, 8), 1, 1), -EINVAL);           // another size
  ck_assert_int_eq(client.read(format(VMAFX_CHROMA_420, 10, 96, 64), 1, 1), -EINVAL);  // other depth
  ck_assert_int_eq(client.use("vif"), -EINVAL);                                        // too late
  ck_assert_int_eq(client.read(kFormat, 1, 1), 0);
  ck_assert_int_eq(client.flush(), 0);
  ck_assert_int_eq(client.flush(), -EINVAL);
  ck_assert_int_eq(client.read(kFormat, 2, 2), -EINVAL);
  ck_assert_int_eq(vmaf_feature_score_at_index(client, "psnr_y", &score, 1), 0);
  ck_assert_int_eq(vmaf_feature_score_at_index(client, "psnr_y", nullptr, 1), -EINVAL);
  ck_assert_int_eq(vmaf_feature_score_at_index(client, "psnr_y", &score, 2), -EINVAL);
}
END_TEST

/* A context is closed at any time: before pictures, while they are scored, with pictures of its pool in other hands. */
START_TEST(contexts_are_closed_at_any_time) {
  for (const int frames : {0, 1, 5}) {
    VmafPicture kept = {};
    {
      Client client({VMAF_LOG_LEVEL_NONE, 2, 1, 0, 0});
      const Model model("vmaf_v0.6.1");
      ck_assert_int_eq(vmaf_use_features_from_model(client, model), 0);
      ck_assert_int_eq(vmaf_preallocate_pictures(client, {{96, 64, 8, VMAF_PIX_FMT_YUV420P}, 1}), 0);
      ck_assert_int_eq(vmaf_fetch_preallocated_picture(client, &kept), 0);
      for (int n = 0; n < frames; n++) ck_assert_int_eq(client.read(kFormat, n, static_cast<unsigned>(n)), 0);
    }
    std::memset(kept.data[0], 1, 64);
    ck_assert_int_eq(vmaf_picture_unref(&kept), 0);
  }
}
END_TEST

/* One thread reads pictures and another asks for scores, of each of three contexts at once. */
START_TEST(threads_do_not_meet) {
  const Outcome wanted = expected("version=vmaf_v0.6.1", nullptr);
  const Model model("vmaf_v0.6.1");
  struct Run {
    Client client{{VMAF_LOG_LEVEL_NONE, 2, 1, 0, 0}};
    std::vector<VmafPicture> pictures;
    double scores[kFrames] = {};
    std::atomic<bool> ended = false;
    std::thread reader, asker;
  } runs[3];
  for (Run& run : runs) {
    ck_assert_int_eq(vmaf_use_features_from_model(run.client, model), 0);
    for (int n = 0; n < kFrames; n++)
      for (const bool distorted : {false, true}) run.pictures.push_back(make_vmaf_picture(kFormat, n, distorted));
  }
  for (Run& run : runs) {
    run.reader = std::thread([&run] {
      for (unsigned n = 0; n < kFrames; n++)
        vmaf_read_pictures(run.client, &run.pictures[2 * n], &run.pictures[2 * n + 1], n);
      vmaf_read_pictures(run.client, nullptr, nullptr, 0);
      run.ended = true;
    });
    run.asker = std::thread([&run, &model] {
      for (unsigned n = 0; n < kFrames; n++)
        for (bool last = false; vmaf_score_at_index(run.client, model, &run.scores[n], n) && !last;) last = run.ended;
    });
  }
  for (Run& run : runs) {
    run.reader.join();
    run.asker.join();
    for (unsigned n = 0; n < kFrames; n++) check_score("vmaf", run.scores[n], wanted.frames[n].at("vmaf"));
  }
}
END_TEST

START_TEST(wrong_variables_are_errors) {
  for (const auto& [name, value] : {std::pair{"VMAFX_BACKEND", "gpu"},
                                    {"VMAFX_VERIFY", "yes"},
                                    {"VMAFX_VERIFY", "-1"},
                                    {"VMAFX_OVERWRITE", "yes"},
                                    {"VMAFX_N_THREADS", "2x"}}) {
    const char* const before = std::getenv(name);
    const std::string kept = before ? before : "";
    setenv(name, value, 1);
    VmafContext* vmaf = nullptr;
    ck_assert_int_eq(vmaf_init(&vmaf, {VMAF_LOG_LEVEL_NONE, 1, 1, 0, 0}), -EINVAL);
    ck_assert_ptr_null(vmaf);
    if (before) setenv(name, kept.c_str(), 1);
    else unsetenv(name);
  }
}
END_TEST

START_TEST(pictures_are_looked_at) {
  const std::vector<std::string> wanted = warnings_of_a_session();
  ck_assert(!wanted.empty() && wanted[0].find("main is mirrored") != std::string::npos);
  const std::string said = said_by([] {
    Client client({VMAF_LOG_LEVEL_WARNING, 1, 1, 0, 0});
    ck_assert_int_eq(client.use("psnr", {{"enable_chroma", "false"}}), 0);
    for (unsigned n = 0; n < kLookedAt; n++) {
      VmafPicture ref = waves(static_cast<int>(n), false), dist = waves(static_cast<int>(n), true);
      ck_assert_int_eq(vmaf_read_pictures(client, &ref, &dist, n), 0);
    }
    ck_assert_int_eq(client.flush(), 0);
  });
  for (const std::string& warning : wanted) ck_assert_msg(said.find(warning) != std::string::npos, "%s", said.c_str());
}
END_TEST

/* -- Pictures in CUDA's memory ------------------------------------------------------------------------------------- */

namespace {

/* The driver: this program, in whose functions a GPU's memory is the host's. */
struct Driver {
  bool works = true;
  std::atomic<int> allocations = 0, downloads = 0;
} driver;

int context_of_program;  // its address is the program's CUcontext

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) { return driver.works ? 0 : 100; }
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &context_of_program;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxPushCurrent_v2(void* context) { return context == &context_of_program ? 0 : 1; }
int cuCtxPopCurrent_v2(void** context) {
  *context = nullptr;
  return 0;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  *address = reinterpret_cast<uintptr_t>(std::malloc(bytes));
  driver.allocations++;
  return 0;
}
int cuMemFree_v2(uint64_t address) {
  std::free(reinterpret_cast<void*>(static_cast<uintptr_t>(address)));
  driver.allocations--;
  return 0;
}
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<void*>(static_cast<uintptr_t>(from)), bytes);
  driver.downloads++;
  return 0;
}
}
#pragma GCC visibility pop

namespace {

void fetch_on_gpu(const Client& client, int n, bool distorted, VmafPicture* picture) {
  ck_assert_int_eq(vmaf_cuda_fetch_preallocated_picture(client, picture), 0);
  VmafPicture luma = *picture;
  for (int p = 1; p < 3; p++) luma.h[p] = 0;  // programs fill the luma alone
  fill(kFormat, n, distorted, &luma);
}

}  // namespace

/* As FFmpeg's filter libvmaf_cuda does. The CPU scores copies here. */
START_TEST(pictures_of_cuda_are_scored) {
  setenv("VMAFX_BACKEND", "cpu", 1);
  const Outcome wanted = expected("version=vmaf_v0.6.1", "name=psnr:enable_chroma=false");
  {
    Client client;
    const Model model("vmaf_v0.6.1");
    VmafCudaState* state = nullptr;
    ck_assert_int_eq(vmaf_cuda_state_init(&state, {&context_of_program}), 0);
    ck_assert_int_eq(vmaf_cuda_import_state(client, state), 0);
    std::free(state);
    const auto w = static_cast<unsigned>(kFormat.width), h = static_cast<unsigned>(kFormat.height),
               bpc = static_cast<unsigned>(kFormat.bits);
    ck_assert_int_eq(vmaf_cuda_preallocate_pictures(
                         client, {{w, h, bpc, pixel_format(kFormat)}, VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_DEVICE}),
                     0);
    ck_assert_int_eq(vmaf_use_features_from_model(client, model), 0);
    ck_assert_int_eq(client.use("psnr"), 0);  // of the luma, which is all there is
    for (unsigned n = 0; n < kFrames; n++) {
      VmafPicture ref, dist;
      fetch_on_gpu(client, static_cast<int>(n), false, &ref);
      fetch_on_gpu(client, static_cast<int>(n), true, &dist);
      ck_assert_int_eq(vmaf_read_pictures(client, &ref, &dist, n), 0);
    }
    ck_assert_int_eq(client.flush(), 0);
    for (unsigned n = 0; n < kFrames; n++) {
      check_score("vmaf", model.score(client, n), wanted.frames[n].at("vmaf"));
      check_score("psnr_y", client.feature("psnr_y", n), wanted.frames[n].at("psnr_y"));
    }
    ck_assert_int_ge(driver.downloads, 2 * kFrames);
  }
  ck_assert_int_eq(driver.allocations, 0);
}
END_TEST

/* What reads chroma has none, and what cannot be is an error that says so. */
START_TEST(pictures_of_cuda_have_luma_alone) {
  setenv("VMAFX_BACKEND", "cpu", 1);
  Client client;
  ck_assert_int_eq(client.use("ciede"), 0);
  VmafCudaPictureConfiguration configuration = {{96, 64, 8, VMAF_PIX_FMT_YUV420P},
                                                VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_DEVICE};
  assert_contains(said_by([&] { ck_assert_int_eq(vmaf_cuda_preallocate_pictures(client, configuration), -EINVAL); }),
                  "need vmaf_cuda_import_state() before");
  VmafPicture ref, dist, hosts = make_vmaf_picture(kFormat, 0, false);
  ck_assert_int_eq(vmaf_cuda_fetch_preallocated_picture(client, &ref), -EINVAL);
  VmafCudaState* state = nullptr;
  ck_assert_int_eq(vmaf_cuda_state_init(&state, {nullptr}), 0);  // the primary context
  ck_assert_int_eq(vmaf_cuda_import_state(client, state), 0);
  std::free(state);
  configuration.pic_params = {hosts.w[0], hosts.h[0], hosts.bpc, hosts.pix_fmt};
  ck_assert_int_eq(vmaf_cuda_preallocate_pictures(client, configuration), 0);
  fetch_on_gpu(client, 0, false, &ref);
  assert_contains(said_by([&] { ck_assert_int_eq(vmaf_read_pictures(client, &ref, &hosts, 0), -EINVAL); }),
                  "one of two pictures is in CUDA's memory");
  fetch_on_gpu(client, 0, false, &ref);
  fetch_on_gpu(client, 0, true, &dist);
  assert_contains(said_by([&] { ck_assert_int_eq(vmaf_read_pictures(client, &ref, &dist, 0), -EINVAL); }), "ciede");
  configuration.pic_prealloc_method = VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST_PINNED;
  ck_assert_int_eq(vmaf_cuda_preallocate_pictures(client, configuration), 0);
  ck_assert_int_eq(vmaf_cuda_fetch_preallocated_picture(client, &ref), 0);
  fill(kFormat, 0, false, &ref);
  ck_assert_int_eq(vmaf_picture_unref(&ref), 0);
  driver.works = false;
  assert_contains(said_by([&] { ck_assert_int_eq(vmaf_cuda_state_init(&state, {nullptr}), -EINVAL); }),
                  "no NVIDIA driver that works");
  ck_assert_ptr_null(state);
}
END_TEST

int main() {
#ifdef ON_EMULATOR
  setenv("VMAFX_HIP_RUNTIME", HIP_EMULATOR, 0);
  setenv("VMAFX_BACKEND", "hip", 0);
  setenv("VMAFX_VERIFY", "1", 0);
#else
  setenv("VMAFX_BACKEND", "cpu", 0);
#endif
  return run_suite("libvmaf", {{"features", features_have_the_scores_of_a_session},
                               {"models", models_have_the_scores_of_a_session},
                               {"overloads", models_have_flags_and_overloads},
                               {"collections", collections_have_the_scores_of_a_session},
                               {"pooling", pooling_is_that_of_a_session},
                               {"own_features", features_do_not_change_a_models_score},
                               {"later_model", a_later_model_is_scored_from_its_own_features},
                               {"subsample", every_other_frame_is_scored},
                               {"early", scores_are_there_while_pictures_come},
                               {"imports", scores_can_be_imported},
                               {"import_stays", an_imported_score_stays},
                               {"reports", reports_are_those_of_a_session},
                               {"pool", pictures_come_from_a_pool},
                               {"sizes", pictures_have_libvmafs_sizes},
                               {"layouts", both_headers_have_their_pictures},
                               {"wrapped", pictures_wrap_planes_of_the_program},
                               {"later", what_later_headers_declare_is_refused_in_words},
                               {"depths", pairs_have_one_depth},
                               {"errors", wrong_calls_are_errors},
                               {"close", contexts_are_closed_at_any_time},
                               {"threads", threads_do_not_meet},
                               {"variables", wrong_variables_are_errors},
                               {"cuda", pictures_of_cuda_are_scored},
                               {"cuda_luma", pictures_of_cuda_have_luma_alone},
                               {"look", pictures_are_looked_at}});
}
