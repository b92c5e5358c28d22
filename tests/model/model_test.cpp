#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>

#include <check.h>  // after the standard headers: it defines a macro called fail
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "model/model_builtin.h"
#include "model/model_file.h"
#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

using nlohmann::json;

/* Predictions are equal to the bit where exp() is; another C library's may differ in its last place. */
constexpr double kTolerance = 1e-9;

Model loaded(const ModelSpec& spec) {
  auto model = load_model(spec);
  ck_assert_msg(model.ok(), "%s", model.status().message().c_str());
  return std::move(model.value());
}

Model builtin(const std::string& version, const std::string& name = "") {
  ModelSpec spec;
  spec.version = version;
  spec.name = name;
  return loaded(spec);
}

Model parsed(const json& document, const ModelSpec& spec = {}) {
  auto model = parse_model(document.dump(), "m.json", spec);
  ck_assert_msg(model.ok(), "%s", model.status().message().c_str());
  return std::move(model.value());
}

std::vector<double> scores_of(const Model& model, const std::vector<double>& features) {
  std::vector<double> scores(model.score_keys().size());
  const Status status = model.predict(features, scores);
  ck_assert_msg(status.ok(), "%s", status.message().c_str());
  return scores;
}

/* Two features, two support vectors: f(x) = 2 exp(-0.5 |x - (1, 0)|^2) - exp(-0.5 |x - (0, 0.25)|^2) - 0.125. */
json small_model() {
  return {
      {"model_dict",
       {{"model_type", "LIBSVMNUSVR"},
        {"norm_type", "linear_rescale"},
        {"feature_names", {"a_adm3", "b_speed_chroma"}},
        {"feature_opts_dicts",
         {{{"gain", 0.70}, {"height", 1080}, {"fast", true}, {"method", "bilinear"}}, json::object()}},
        {"slopes", {0.01, 2, 4}},
        {"intercepts", {-0.25, 0.5, -1}},
        {"score_clip", {0, 100}},
        {"model",
         "svm_type nu_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.125\nSV\n2 1:1 \n-1 2:0.25 \n"}}}};
}

double small_score(double a, double b) {
  const auto square = [](double x) { return x * x; };
  const double x0 = 2 * a + 0.5, x1 = 4 * b - 1;
  const double y =
      2 * std::exp(-0.5 * (square(x0 - 1) + square(x1))) - std::exp(-0.5 * (square(x0) + square(x1 - 0.25))) - 0.125;
  return (y + 0.25) / 0.01;
}

/* The small model as a collection of a base and members whose rho differs. */
json small_collection(int members) {
  json document;
  for (int i = 0; i <= members; i++) {
    json member = small_model();
    member["model_dict"]["model_type"] = "BOOTSTRAP_LIBSVMNUSVR";
    std::string svm = member["model_dict"]["model"];
    svm.replace(svm.find("rho 0.125"), 9, "rho " + std::to_string(0.125 + 0.01 * i));
    member["model_dict"]["model"] = svm;
    document[std::to_string(i)] = member;
  }
  return document;
}

/* A built-in model as the text of a model file. */
json document_of(const Model& model) {
  const ModelMember& member = model.members()[0];
  std::string svm =
      format_text("svm_type nu_svr\nkernel_type rbf\ngamma %.17g\nnr_class 2\ntotal_sv %zu\nrho %.17g\nSV\n",
                  member.svm.gamma(), member.svm.rows().size() / (member.features.size() + 1), member.svm.rho());
  for (size_t i = 0; i < member.svm.rows().size(); i++) {
    const size_t column = i % (member.features.size() + 1);
    if (column == 0) svm += (i ? "\n" : "") + format_text("%.17g", member.svm.rows()[i]);
    if (column && member.svm.rows()[i] != 0) svm += format_text(" %zu:%.17g", column, member.svm.rows()[i]);
  }
  json dict = {{"model_type", "LIBSVMNUSVR"},     {"norm_type", "linear_rescale"}, {"slopes", member.slopes},
               {"intercepts", member.intercepts}, {"score_clip", {0, 100}},        {"model", svm}};
  for (const ModelFeature& feature : member.features) {
    dict["feature_names"].push_back(feature.name);
    dict["feature_opts_dicts"].push_back(json(feature.options));
  }
  return {{"model_dict", dict}};
}

std::string complaint(const std::string& text) {
  const auto model = parse_model(text, "m.json", {});
  ck_assert_msg(model.status().code() == EINVAL, "accepted: %.200s", text.c_str());
  assert_contains(model.status().message(), "model file 'm.json': ");
  return model.status().message();
}

/* adm2, motion2, vif_scale0..3 of frames of two test clips, with the scores of libvmaf f85a853. */
struct GoldenFrame {
  bool neg;
  std::vector<double> features;
  double vmaf, vmaf_4k;
};
const GoldenFrame kGolden[] = {
    {false,
     {0.9231788118279778, 0, 0.19367817044258118, 0.8539093136787415, 0.9346010684967041, 0.9605579972267151},
     76.64858942305396,
     85.12467687358222},
    {true,
     {0.9179968659033865, 0, 0.1853438764810562, 0.8336700201034546, 0.9180101752281189, 0.9493044018745422},
     74.1725922155845,
     83.4399804716276},
    {false,
     {0.9229555718619367, 7.171394348144531, 0.1933649480342865, 0.8371570110321045, 0.9210785031318665,
      0.9567754864692688},
     83.28215457975162,
     89.79002573584265},
    {true,
     {0.9170802808328133, 7.171394348144531, 0.18816585838794708, 0.8281819820404053, 0.9147070050239563,
      0.9531633853912354},
     81.58061194178316,
     88.60014389370939},
    {false,
     {0.8722117433482657, 7.3326853476107035, 0.56805819272995, 0.9510414600372314, 0.9776830673217773,
      0.9897393584251404},
     77.06859804800281,
     81.42600842034304},
    {true,
     {0.8705591967823687, 7.3326853476107035, 0.56805819272995, 0.950853705406189, 0.9770538210868835,
      0.9886999130249023},
     76.61105620150965,
     81.06724774792586},
};

/* vmaf_b_v0.6.3 on kGolden[0] and [4], in the order of score_keys(). */
const std::vector<double> kGoldenBootstrap[] = {
    {74.8943370681576,  79.99197353908073, 70.02204623484766,  72.45714568913321, 74.8690331973582,
     76.36020559584848, 70.10212818562908, 70.93981736878331,  75.4341760513675,  72.02921756019948,
     77.63145751815176, 68.55507233740823, 75.62583281726393,  76.7742990346795,  73.59373855830083,
     70.61139396824419, 74.41098598708405, 77.01465287147457,  71.85442114582385, 78.80158661276171,
     71.67540397900858, 73.93772941262243, 3.1464065553535843, 69.25188493869197, 79.4265397490792},
    {75.31436035624928, 76.49281889626315, 74.03974589253157,  73.44197916206758, 76.4551525867265,
     72.40019479123268, 74.83380996178133, 76.48616244834264,  73.05724873390719, 71.93623132191195,
     77.56138969324886, 72.36066931162007, 76.39511359555932,  75.42474735967869, 78.61749825321371,
     77.07817392226637, 67.29511988201187, 75.29898940093702,  77.63393845776481, 78.90966415178711,
     79.25386220329933, 75.2486255013076,  2.8411890587469033, 69.49964781596441, 79.09036812883102},
};

}  // namespace

START_TEST(builtin_names) {
  const auto names = builtin_model_names();
  ck_assert_int_eq(names.size(), 17);
  assert_text_eq(names[0], "vmaf_v0.6.1");
  for (const char* name : names) assert_text_eq(builtin(name).name(), "vmaf");
  ModelSpec unknown;
  unknown.version = "vmaf_v0.6.2";
  const auto model = load_model(unknown);
  ck_assert_int_eq(model.status().code(), EINVAL);
  assert_contains(
      model.status().message(),
      "could not load libvmaf model with version: vmaf_v0.6.2; built in are: vmaf_v0.6.1, vmaf_v0.6.1neg, ");
}
END_TEST

START_TEST(builtin_features) {
  const Model model = builtin("vmaf_v0.6.1neg");
  ck_assert_int_eq(model.features().size(), 6);
  assert_text_eq(model.features()[0].name, "VMAF_integer_feature_adm2_score");
  assert_text_eq(model.features()[0].options.at("adm_enhn_gain_limit"), "1");
  ck_assert(model.features()[1].options.empty());
  assert_text_eq(model.features()[5].options.at("vif_enhn_gain_limit"), "1");
  ck_assert(builtin("vmaf_v0.6.1").features()[0].options.empty());
  ck_assert_int_eq(builtin("vmaf_b_v0.6.3").features().size(), 6);
}
END_TEST

START_TEST(builtin_scores_are_libvmafs) {
  for (const GoldenFrame& frame : kGolden) {
    const std::string suffix = frame.neg ? "neg" : "";
    ck_assert_double_eq_tol(scores_of(builtin("vmaf_v0.6.1" + suffix), frame.features)[0], frame.vmaf, kTolerance);
    ck_assert_double_eq_tol(scores_of(builtin("vmaf_4k_v0.6.1" + suffix), frame.features)[0], frame.vmaf_4k,
                            kTolerance);
  }
}
END_TEST

/* The output of libvmaf's program, features and scores with six digits, for a frame of 576x324. A chroma feature of 0
 * is made of the third; the last rows are of equal pictures. */
START_TEST(scores_of_v1_are_libvmafs) {
  struct Row {
    const char* version;
    std::vector<double> features;  // cambi, speed_chroma_uv, adm3, motion3
    double vmaf;
  };
  const Row rows[] = {
      {"vmaf_v1.0.16_3d0h", {0, 6.22745, 0.91523, 7.270508}, 76.138104},
      {"vmaf_v1.0.16_5d0h", {0, 0, 0.938457, 7.270508}, 81.4704},
      {"vmaf_v1.0.16_1d5h_2160", {0, 6.22745, 0.91523, 7.270508}, 75.03641},
      {"vmaf_v1.0.16_3d0h_2160", {0, 0, 0.946983, 7.270508}, 89.568607},
      {"vmaf_v1.0.16_hfr_3d0h", {0, 6.22745, 0.91523, 9.464135}, 77.701993},
      {"vmaf_v1.0.16_hfr_5d0h", {0, 0, 0.938211, 7.292837}, 81.391968},
      {"vmaf_v1.0.16_hfr_1d5h_2160", {0, 11.744907, 0.92233, 7.292837}, 71.863272},
      {"vmaf_v1.0.16_hfr_3d0h_2160", {0, 0, 0.944243, 7.292837}, 88.414216},
      {"vmaf_v1.0.16_3d0h", {0, 0.000006, 0.99999, 7.270508}, 100},
      {"vmaf_v1.0.16_3d0h_2160", {0, 0, 0.999991, 7.270508}, 110},
  };
  for (const Row& row : rows) {
    const Model model = builtin(row.version);
    ck_assert_int_eq(model.features().size(), 4);
    ck_assert_msg(std::abs(scores_of(model, row.features)[0] - row.vmaf) < 1e-3, "%s: %f, not %f", row.version,
                  scores_of(model, row.features)[0], row.vmaf);
    ck_assert(model.members()[0].svm.rows().size() == builtin("vmaf_v1.0.16_3d0h").members()[0].svm.rows().size());
  }
  ck_assert(
      (builtin("vmaf_v1.0.16_hfr_5d0h").features()[3].options ==
       OptionTexts{{"motion_max_val", "18"}, {"motion_five_frame_window", "true"}, {"motion_moving_average", "true"}}));
}
END_TEST

START_TEST(float_models_are_the_integer_ones_elsewhere) {
  for (const auto& [name, integer] : {std::pair{"vmaf_float_v0.6.1", "vmaf_v0.6.1"},
                                      {"vmaf_float_v0.6.1neg", "vmaf_v0.6.1neg"},
                                      {"vmaf_float_4k_v0.6.1", "vmaf_4k_v0.6.1"},
                                      {"vmaf_float_b_v0.6.3", "vmaf_b_v0.6.3"}}) {
    const Model model = builtin(name), other = builtin(integer);
    assert_text_eq(model.features()[0].name, "VMAF_feature_adm2_score");
    for (size_t i = 0; i < model.features().size(); i++)
      ck_assert(model.features()[i].options == other.features()[i].options);
    ck_assert(scores_of(model, kGolden[0].features) == scores_of(other, kGolden[0].features));
  }
}
END_TEST

START_TEST(bootstrap_scores_are_libvmafs) {
  const Model model = builtin("vmaf_b_v0.6.3", "b");
  const auto& keys = model.score_keys();
  ck_assert_int_eq(keys.size(), 25);
  assert_text_eq(keys[0], "b");
  assert_text_eq(keys[1], "b_0001");
  assert_text_eq(keys[20], "b_0020");
  assert_text_eq(keys[21] + " " + keys[22] + " " + keys[23] + " " + keys[24],
                 "b_bagging b_stddev b_ci_p95_lo b_ci_p95_hi");
  for (int i = 0; i < 2; i++) {
    const auto scores = scores_of(model, kGolden[4 * i].features);
    for (size_t key = 0; key < keys.size(); key++)
      ck_assert_double_eq_tol(scores[key], kGoldenBootstrap[i][key], kTolerance);
  }
}
END_TEST

START_TEST(files_give_the_numbers_that_are_built_in) {
  for (const char* version : {"vmaf_v0.6.1", "vmaf_4k_v0.6.1neg", "vmaf_float_v0.6.1neg"}) {
    const Model model = builtin(version), file = parsed(document_of(model));
    ck_assert(std::ranges::equal(model.features(), file.features()));
    ck_assert(std::ranges::equal(model.members()[0].svm.rows(), file.members()[0].svm.rows()));
    for (const GoldenFrame& frame : kGolden)
      ck_assert_double_eq(scores_of(model, frame.features)[0], scores_of(file, frame.features)[0]);
  }
}
END_TEST

START_TEST(files_tell_the_hash_of_their_bytes) {
  const std::string text = small_model().dump();
  auto model = parse_model(text, "m.json", {}), other = parse_model(text + "\n", "m.json", {});
  ck_assert(model.ok() && other.ok());
  assert_text_eq(model.value().sha256(), sha256(text));
  assert_text_eq(other.value().sha256(), sha256(text + "\n"));
  assert_text_eq(builtin("vmaf_v0.6.1").sha256(), builtin_model_sha256("vmaf_v0.6.1"));
}
END_TEST

START_TEST(predictions_follow_the_formula) {
  const Model model = parsed(small_model());
  assert_text_eq(model.name(), "vmaf");
  ck_assert((model.features()[0].options ==
             OptionTexts{{"gain", "0.7"}, {"height", "1080"}, {"fast", "true"}, {"method", "bilinear"}}));
  for (const auto& [a, b] : {std::pair{0.1, 0.3}, {0.25, 0.25}, {-0.5, 0.75}})
    ck_assert_double_eq_tol(scores_of(model, {a, b})[0], std::clamp(small_score(a, b), 0., 100.), kTolerance);
  ck_assert(std::isnan(scores_of(model, {std::nan(""), 0.5})[0]));

  json raw = small_model();
  raw["model_dict"].update({{"norm_type", "none"}, {"score_clip", nullptr}});
  raw["model_dict"].erase("slopes");
  const double x0 = 0.75, x1 = 0.5;
  const double want = 2 * std::exp(-0.5 * (0.0625 + 0.25)) - std::exp(-0.5 * (0.5625 + 0.0625)) - 0.125;
  ck_assert_double_eq_tol(scores_of(parsed(raw), {x0, x1})[0], want, kTolerance);
}
END_TEST

START_TEST(clip_can_be_disabled) {
  ModelSpec spec;
  spec.disable_clip = true;
  const double raw = small_score(0.25, 0.25);
  ck_assert(raw > 100);
  ck_assert_double_eq(scores_of(parsed(small_model()), {0.25, 0.25})[0], 100);
  ck_assert_double_eq_tol(scores_of(parsed(small_model(), spec), {0.25, 0.25})[0], raw, kTolerance);
}
END_TEST

START_TEST(transform_maps_in_three_steps) {
  ModelSpec enable;
  enable.enable_transform = enable.disable_clip = true;
  ModelSpec plain;
  plain.disable_clip = true;
  const double raw = small_score(0.1, 0.3);
  const auto transformed = [&](const json& transform, const ModelSpec& spec) {
    json document = small_model();
    document["model_dict"]["score_transform"] = transform;
    return scores_of(parsed(document, spec), {0.1, 0.3})[0];
  };
  const json polynomial = {{"p0", 1}, {"p1", 0.5}, {"p2", -0.001}};
  const double mapped = 1 + 0.5 * raw - 0.001 * raw * raw;
  ck_assert(mapped < raw);
  ck_assert_double_eq_tol(transformed(polynomial, plain), raw, kTolerance);
  ck_assert_double_eq_tol(transformed(polynomial, enable), mapped, kTolerance);
  ck_assert_double_eq_tol(transformed({{"enabled", true}, {"p0", 7}, {"p1", nullptr}}, plain), 7, kTolerance);
  ck_assert_double_eq_tol(transformed({{"enabled", false}, {"p0", 7}}, plain), raw, kTolerance);

  json rectified = polynomial;
  rectified["out_gte_in"] = "true";
  ck_assert_double_eq_tol(transformed(rectified, enable), raw, kTolerance);
  ck_assert_double_eq_tol(transformed({{"p0", 1e6}, {"out_lte_in", "true"}}, enable), raw, kTolerance);

  const json knots = {{0, 0}, {10, 0}, {20, 30}, {30, 40}};
  const std::pair<double, double> points[] = {{-5, 0}, {5, 0}, {10, 0}, {15, 15}, {20, 30}, {25, 35}, {40, 50}};
  for (const auto& [x, y] : points)
    ck_assert_double_eq_tol(transformed({{"p0", x}, {"knots", knots}}, enable), y, kTolerance);
  ck_assert_double_eq_tol(transformed({{"p0", -2}, {"knots", {{0, 1}, {1, 3}}}}, enable), -3, kTolerance);
}
END_TEST

START_TEST(chroma_is_corrected_from_luma) {
  json document = small_model();
  document["model_dict"]["chroma_correction_parameter"] = 120;
  const Model model = parsed(document);
  const auto clipped = [](double score) { return std::clamp(score, 0., 100.); };
  ck_assert_double_eq_tol(scores_of(model, {0.998, 0})[0], clipped(small_score(0.998, 120 - 120 * 0.998)), kTolerance);
  ck_assert_double_eq_tol(scores_of(model, {0.998, 0.1})[0], clipped(small_score(0.998, 0.1)), kTolerance);
  document["model_dict"]["chroma_correction_parameter"] = 0;
  ck_assert_double_eq_tol(scores_of(parsed(document), {0.998, 0})[0], clipped(small_score(0.998, 0)), kTolerance);
}
END_TEST

START_TEST(collections_summarize_their_members) {
  ModelSpec spec;
  spec.name = "c";
  const Model model = parsed(small_collection(3), spec);
  ck_assert_int_eq(model.score_keys().size(), 1 + 3 + 4);
  ck_assert_int_eq(model.features().size(), 2);
  const double base = small_score(0.1, 0.6);
  const auto scores = scores_of(model, {0.1, 0.6});
  for (int i = 0; i < 4; i++) ck_assert_double_eq_tol(scores[i], base - i, kTolerance);  // 0.01 of rho is 1 of score
  ck_assert_double_eq_tol(scores[4], base - 2, kTolerance);
  ck_assert_double_eq_tol(scores[5], std::sqrt(2. / 3), kTolerance);
  ck_assert_double_eq_tol(scores[6], base - 2.95, kTolerance);  // 2.5 % of the way from base - 3 up to base - 1
  ck_assert_double_eq_tol(scores[7], base - 1.05, kTolerance);
  for (const double score : scores_of(model, {std::nan(""), 0.5})) ck_assert(std::isnan(score));
}
END_TEST

/* A feature's score of a picture without faults; nullopt: that of the frame. */
std::optional<double> best_of(const std::string& feature) {
  if (feature.find("motion") != feature.npos) return std::nullopt;
  return feature.find("adm") != feature.npos || feature.find("vif") != feature.npos ? 1 : 0;
}

/* Checks that the slopes explain all of what a frame lacks to the best one. */
void assert_explained(const Model& model, const std::vector<double>& features) {
  std::vector<double> best, slopes(features.size());
  for (size_t i = 0; i < features.size(); i++) best.push_back(best_of(model.features()[i].name).value_or(features[i]));
  const double of_best = model.explain(features, best, slopes);
  ck_assert(of_best == scores_of(model, best)[0]);
  double explained = 0;
  for (size_t i = 0; i < features.size(); i++) explained += slopes[i] * (best[i] - features[i]);
  const double lacks = of_best - scores_of(model, features)[0];
  ck_assert_msg(std::abs(explained - lacks) < 1e-9, "%s: %.12g of %.12g are explained", model.name().c_str(), explained,
                lacks);
}

START_TEST(slopes_explain_what_scores_lack) {
  for (const char* const name : builtin_model_names()) {
    const Model model = builtin(name);
    const bool v1 = model.features().size() == 4;
    const std::vector<std::vector<double>> frames =
        v1 ? std::vector<std::vector<double>>{{0.8, 6.2, 0.915, 7.27}, {0, 0, 0.938, 7.27}, {12, 40, 0.5, 0}}
           : std::vector<std::vector<double>>{
                 {0.95, 3.9, 0.5, 0.91, 0.94, 0.96}, {0.2, 0, 0.01, 0.02, 0.05, 0.1}, {1.01, 12, 1.1, 1.01, 1, 1}};
    for (const std::vector<double>& features : frames) assert_explained(model, features);
  }
}
END_TEST

/* On a short way the slopes are the partial derivatives, here by central differences. */
START_TEST(slopes_are_derivatives) {
  for (const double chroma : {0.0, 0.1}) {
    json document = small_model();
    document["model_dict"]["chroma_correction_parameter"] = 0.5;
    document["model_dict"]["score_transform"] = {{"enabled", true}, {"p0", 1}, {"p1", 0.5}, {"p2", 0.001}};
    ModelSpec spec;
    spec.disable_clip = true;
    const Model model = parsed(document, spec);
    const std::vector<double> features = {0.7, chroma};
    std::vector<double> best = features, slopes(2);
    best[0] += 1e-6;
    if (chroma > 0) best[1] -= 1e-6;
    model.explain(features, best, slopes);
    constexpr double kStep = 1e-5;
    for (size_t i = 0; i < 2; i++) {
      if (features[i] == 0) continue;  // where it is corrected, the other feature moves it
      std::vector<double> above = features, below = features;
      above[i] += kStep;
      below[i] -= kStep;
      const double slope = (scores_of(model, above)[0] - scores_of(model, below)[0]) / (2 * kStep);
      ck_assert_msg(std::abs(slopes[i] - slope) < 1e-4 * std::abs(slope), "feature %zu: %g, not %g", i, slopes[i],
                    slope);
    }
    if (chroma == 0) ck_assert(slopes[1] == 0);
  }
}
END_TEST

START_TEST(predict_checks_its_lengths) {
  const Model model = parsed(small_model());
  std::vector<double> scores(1);
  ck_assert_int_eq(model.predict(std::vector<double>(3), scores).code(), EINVAL);
  scores.resize(2);
  ck_assert_int_eq(model.predict(std::vector<double>(2), scores).code(), EINVAL);
}
END_TEST

START_TEST(broken_files_are_refused_by_field) {
  const auto with = [](const char* field, const json& value) {
    json document = small_model();
    document["model_dict"][field] = value;
    return complaint(document.dump());
  };
  const auto with_transform = [&](const json& transform) { return with("score_transform", transform); };
  assert_contains(with("model_type", 3), "model_dict.model_type is not a string");
  assert_contains(with("model_type", nullptr), "model_dict.model_type is missing");
  assert_contains(with("model_type", "SVR"), "is 'SVR', which is not supported");
  assert_contains(with("norm_type", "clip_0to1"), "is 'clip_0to1', neither linear_rescale nor none");
  assert_contains(with("feature_names", "x"), "feature_names is not a list of strings");
  assert_contains(with("feature_names", {1, 2}), "feature_names is not a list of strings");
  assert_contains(with("feature_names", json::array()), "feature_names has 0 names");
  assert_contains(with("feature_names", std::vector<std::string>(65, "x")), "has 65 names; from 1 to 64");
  assert_contains(with("feature_opts_dicts", {{}}), "feature_opts_dicts is not a list of 2 objects");
  assert_contains(with("feature_opts_dicts", {1, 2}), "feature_opts_dicts has an item that is not an object");
  assert_contains(with("feature_opts_dicts", {{{"gain", nullptr}}, json::object()}), "has for gain neither");
  assert_contains(with("slopes", {1, 2}), "slopes has 2 numbers; 3 are needed");
  assert_contains(with("slopes", {1, 0, 2}), "slopes has a 0");
  assert_contains(with("slopes", {1, "2", 3}), "slopes is not a list of numbers");
  assert_contains(with("intercepts", {1, 2, 3, 4}), "intercepts has 4 numbers; 3 are needed");
  assert_contains(with("intercepts", nullptr), "intercepts is missing");
  assert_contains(with("score_clip", {0}), "score_clip is not a pair");
  assert_contains(with("score_clip", {100, 0}), "score_clip is not a pair");
  assert_contains(with("score_clip", {{"min", 0}}), "score_clip is not a list of numbers");
  assert_contains(with("chroma_correction_parameter", "120"), "chroma_correction_parameter is not a number");
  assert_contains(with_transform({1}), "score_transform is not an object");
  assert_contains(with_transform({{"enabled", "true"}}), "score_transform.enabled is neither true nor false");
  assert_contains(with_transform({{"p1", "1"}}), "score_transform.p1 is not a number");
  assert_contains(with_transform({{"out_gte_in", true}}), "score_transform.out_gte_in is not a string");
  assert_contains(with_transform({{"knots", {{0, 0}}}}), "score_transform.knots is not a list of 2 to 10 points");
  assert_contains(with_transform({{"knots", {{0, 0}, {1}}}}), "has a point that is not a pair");
  assert_contains(with_transform({{"knots", {{0, 0}, {0, 1}}}}), "knots do not ascend");
  assert_contains(with_transform({{"knots", {{0, 5}, {1, 1}}}}), "knots do not ascend");

  json two_guides = small_model();
  two_guides["model_dict"].update({{"feature_names", {"adm3", "adm3_b"}}, {"chroma_correction_parameter", 1}});
  assert_contains(complaint(two_guides.dump()), "needs exactly one feature named adm3");
}
END_TEST

START_TEST(broken_svm_texts_are_refused_by_line) {
  const std::string head = "svm_type nu_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\nrho 0.1\n";
  const auto svm = [](const std::string& text) { return Svm::parse(text, 2).status().message(); };
  ck_assert(Svm::parse(head + "total_sv 1\nSV\n1 1:2\n\n", 2).ok());
  assert_contains(svm(""), "the line 'SV' is missing");
  assert_contains(svm(head), "the line 'SV' is missing");
  assert_contains(svm("svm_type c_svc\nSV\n"), "svm_type 'c_svc': only nu_svr");
  assert_contains(svm("svm_type nu_svr\nkernel_type linear\nSV\n"), "kernel_type 'linear': only rbf");
  assert_contains(svm("svm_type nu_svr\nkernel_type rbf\ntotal_sv 1\nSV\n1\n"), "gamma, rho or total_sv is missing");
  assert_contains(svm(head + "gamma 1\nSV\n"), "line 6: 'gamma' is given twice");
  assert_contains(svm(head + "gamma2 1\nSV\n"), "line 6: 'gamma2' is not known of a nu_svr with an rbf kernel");
  assert_contains(svm(head + "degree 3\nSV\n"), "line 6: 'degree' is not known");
  assert_contains(svm(head + "total_sv 1 2\nSV\n1 1:2\n"), "line 6: 'total_sv' has a second value, '2'");
  assert_contains(svm("svm_type nu_svr\nkernel_type rbf\ngamma 0.5\nnr_class 3\nrho 0.1\ntotal_sv 1\nSV\n1 1:2\n"),
                  "nr_class '3': it is 2 for a nu_svr");
  ck_assert(Svm::parse(head + "probA 0.3\n\ntotal_sv 1\nSV\n1 1:2\n", 2).ok());
  for (const char* count : {"0", "-1", "1e9", "10001"})
    assert_contains(svm(head + "total_sv " + count + "\nSV\n"), "are supported");
  assert_contains(svm(head + "total_sv nan\nSV\n"), "not a number");
  assert_contains(svm(head + "total_sv 2\nSV\n1 1:2\n"), "the number of support vectors is not total_sv");
  assert_contains(svm(head + "total_sv 1\nSV\n1 1:2\n1 1:2\n"), "the number of support vectors is not total_sv");
  assert_contains(svm(head + "total_sv 1.5\nSV\n1 1:2\n"), "the number of support vectors is not total_sv");
  assert_contains(svm(head + "total_sv 1\nSV\nx 1:2\n"), "line 8: the coefficient is not a number");
  for (const char* node : {"1:", ":1", "1", "1:nan", "1:inf", "1:1e999", "1:2:3", "x:1", "1:1x"})
    assert_contains(svm(head + "total_sv 1\nSV\n1 " + node + "\n"), "is not index:value");
  for (const char* nodes : {"3:1", "0:1", "-1:1", "2:1 1:1", "1:1 1:2", "1.5:1", "1e300:1"})
    assert_contains(svm(head + "total_sv 1\nSV\n1 " + nodes + "\n"), "indices ascend from 1 to the number of features");
}
END_TEST

START_TEST(broken_documents_are_refused) {
  assert_contains(complaint(""), "empty");
  assert_contains(complaint(" \n"), "empty");
  assert_contains(complaint("{"), "not valid JSON");
  assert_contains(complaint(std::string("{\"a\": \"\xff\"}")), "not valid JSON");
  assert_contains(complaint("{\"model_dict\": {\"slopes\": [1e999]}}"), "not valid JSON");
  assert_contains(complaint("{\"model_dict\": {\"slopes\": [NaN]}}"), "not valid JSON");
  assert_contains(complaint("[]"), "not a JSON object");
  assert_contains(complaint("{}"), "model_dict is missing");
  assert_contains(complaint("{\"model_dict\": 1}"), "model_dict is not an object");
  assert_contains(complaint(std::string(1000000, '[')), "nested more than 32 deep");
  std::string nested = "{\"a\": 1}";
  for (int i = 0; i < 40; i++) nested = "{\"a\": " + nested + "}";
  assert_contains(complaint(nested), "nested more than 32 deep");

  json gap = small_collection(3);
  gap.erase("2");
  assert_contains(complaint(gap.dump()), "2 is missing");
  json plain = small_collection(2);
  plain["1"]["model_dict"]["model_type"] = "LIBSVMNUSVR";
  assert_contains(complaint(plain.dump()), "1.model_dict.model_type is LIBSVMNUSVR in a collection");
  json wrong = small_collection(2);
  wrong["2"]["model_dict"]["slopes"] = {1};
  assert_contains(complaint(wrong.dump()), "2.model_dict.slopes has 1 numbers");
  assert_contains(complaint(small_collection(100).dump()), "101 members; up to 100");
}
END_TEST

/* libvmaf's master has pictures converted to it before features are computed. */
const json kColorTarget = {
    {"colorspace", {{"range", "limited"}, {"primaries", "bt2020"}, {"trc", "smpte2084"}, {"matrix", "ictcp"}}}};

START_TEST(color_targets) {
  ck_assert(!parsed(small_model()).color_target());
  json document = small_model();
  document["model_dict"]["conversion_target"] = kColorTarget;
  const Model model = parsed(document);
  const Color& color = model.color_target().value().color;
  ck_assert(color == (Color{.matrix = 14, .transfer = 16, .primaries = 9, .range = Color::Range::kLimited}));
  ck_assert(!model.color_target()->rules.maps_tones);

  const auto refused = [](const json& target, const std::string& message) {
    json wrong = small_model();
    wrong["model_dict"]["conversion_target"] = target;
    assert_contains(complaint(wrong.dump()), "model_dict.conversion_target" + message);
  };
  refused(nullptr, " is missing");
  for (const json& value : {json(false), json(1), json("x"), json::array()}) refused(value, " is not an object");
  refused(json::object(), ".colorspace is missing");
  json target = kColorTarget;
  target["size"] = 1;
  refused(target, ".size is a key that this version does not know");
  for (const char* key : {"range", "primaries", "trc", "matrix"}) {
    target = kColorTarget;
    target["colorspace"].erase(key);
    refused(target, std::string(".colorspace.") + key + " is missing");
    target["colorspace"][key] = "unknown";
    refused(target, std::string(".colorspace.") + key + " is 'unknown', which is not supported");
  }
  target = kColorTarget;
  target["colorspace"]["trc"] = "bt709";
  refused(target, ".colorspace.matrix and the other keys are no target: ICtCp is defined for");

  json collection = small_collection(2);
  collection["1"]["model_dict"]["conversion_target"] = kColorTarget;
  assert_contains(complaint(collection.dump()), "1.model_dict.conversion_target differs from that of member 0");
}
END_TEST

/* Keys that are not read may be part of what the model means. */
START_TEST(unknown_keys_are_refused) {
  const auto refused = [](const json& document, const std::string& key) {
    assert_contains(
        complaint(document.dump()),
        "model file 'm.json': " + key + " is a key that this version does not know, and scores may depend on it");
  };
  json document = small_model();
  document["conversion_target"] = kColorTarget;
  refused(document, "conversion_target");
  document = small_model();
  document["0"] = small_model();
  refused(document, "0");
  document = small_model();
  document["model_dict"]["score_transform"] = {{"enabled", true}, {"p0", 1}, {"p3", 1}};
  refused(document, "model_dict.score_transform.p3");
  document = small_model();
  document["model_dict"]["Slopes"] = {1};
  refused(document, "model_dict.Slopes");
  document = small_model();
  document["model_dict"]["\x1b[31m\n"] = 1;
  refused(document, "model_dict.\"\\u001b[31m\\n\"");

  json collection = small_collection(2);
  collection["2"]["extra"] = 1;
  refused(collection, "2.extra");
  collection = small_collection(2);
  collection["extra"] = 1;
  refused(collection, "extra");
  collection = small_collection(2);
  collection["model_dict"] = nullptr;
  refused(collection, "model_dict");

  document = small_model();
  document["model_dict"]["score_transform"] = {{"out_gte_in", "True"}};
  assert_contains(complaint(document.dump()), "score_transform.out_gte_in is neither the text \"true\" nor \"false\"");
}
END_TEST

/* Keys that libvmaf's training adds, and remarks, are harmless. */
START_TEST(harmless_keys_are_taken) {
  const json params = {{"C", 4}, {"nu", 0.9}, {"custom_clip_0to1_map", {{"x", {0, 1}}}}},
             features = {{"VMAF_feature", {"adm2"}}};
  json document = small_model();
  document["param_dict"] = params;
  document["_id"] = "5f1";
  document["model_dict"]["feature_dict"] = features;
  document["model_dict"]["dataset"] = "mine";
  const auto want = scores_of(parsed(small_model()), {0.1, 0.3});
  ck_assert(scores_of(parsed(document), {0.1, 0.3}) == want);
  json collection = small_collection(2);
  collection["uuid"] = 7;
  collection["0"]["param_dict"] = params;
  collection["2"]["model_dict"]["feature_dict"] = features;
  parsed(collection);
  document["_id"] = {{"conversion_target", 1}};  // more than a remark
  assert_contains(complaint(document.dump()), "_id is a key that this version does not know");
}
END_TEST

START_TEST(repeated_keys_are_refused) {
  const std::string good = small_model().dump();
  const auto with = [&](const std::string& before, const std::string& more) {
    std::string text = good;
    const size_t at = text.find(before);
    ck_assert(at != text.npos);
    return complaint(text.insert(at, more));
  };
  assert_contains(with("\"slopes\"", "\"slopes\": [1, 1, 1], "), "model_dict.slopes is given twice");
  assert_contains(with("\"slopes\"", "\"score_clip\": null, "), "model_dict.score_clip is given twice");
  assert_contains(with("\"model_dict\"", "\"model_dict\": {}, "), "model_dict is given twice");
  assert_contains(with("\"slopes\"", "\"sl\\u006fpes\": [1, 1, 1], "), "model_dict.slopes is given twice");
  assert_contains(with("\"gain\"", "\"gain\": 1, "), "model_dict.feature_opts_dicts.[0].gain is given twice");
  assert_contains(with("\"slopes\"", "\"score_transform\": {\"p0\": 1, \"p0\": 2}, "),
                  "model_dict.score_transform.p0 is given twice");
  assert_contains(with("\"model_dict\"", "\"param_dict\": {\"C\": 1, \"C\": 2}, "), "param_dict.C is given twice");
}
END_TEST

/* C reads a text up to its first zero byte, whoever checked the whole of it. */
START_TEST(zero_bytes_are_refused) {
  const std::string zero("a\0b", 3);
  json value = small_model(), name = small_model(), elsewhere = small_model();
  value["model_dict"]["feature_opts_dicts"][0]["method"] = zero;
  name["model_dict"]["feature_opts_dicts"][0][zero] = "bilinear";
  elsewhere["about"] = {{"by", zero}};
  for (const json& document : {value, name, elsewhere})
    assert_contains(complaint(document.dump()), "a zero byte in a text or a name");
  assert_contains(complaint(small_model().dump() + zero), "a zero byte");
}
END_TEST

/* Two of them would be one key in JSON. */
START_TEST(names_are_utf8) {
  ModelSpec spec;
  spec.version = "vmaf_v0.6.1";
  for (const char* name : {"hd", "gr\xc3\xb6\xc3\x9f", "\xef\xbf\xbd"}) {
    spec.name = name;
    ck_assert(load_model(spec).ok());
  }
  for (const char* name : {"\xff", "hd\xc3", "\xed\xa0\x80"}) {
    spec.name = name;
    assert_contains(load_model(spec).status().message(), "its name is not UTF-8 text");
  }
}
END_TEST

START_TEST(unreadable_files_are_named) {
  namespace fs = std::filesystem;
  std::string name = (fs::temp_directory_path() / "vmafx_model_XXXXXX").string();
  ck_assert_ptr_nonnull(mkdtemp(name.data()));
  const auto failure = [](const std::string& path) {
    ModelSpec spec;
    spec.path = path;
    return load_model(spec).status();
  };
  const std::string file = name + "/model.json";
  ck_assert_int_eq(failure(file).code(), ENOENT);
  assert_contains(failure(file).message(), "model file '" + file + "': No such file");
  ck_assert_int_eq(failure(name).code(), EISDIR);
  const std::string pipe = name + "/pipe";
  ck_assert_int_eq(mkfifo(pipe.c_str(), 0600), 0);
  alarm(60);  // the one has no end of waiting, the other none of bytes
  for (const std::string& path : {pipe, std::string("/dev/zero")})
    assert_contains(failure(path).message(), "model file '" + path + "': it is a pipe or a device, not a file");
  alarm(0);
  assert_contains(failure(name + "/vmaf_v0.6.1.pkl").message(), "pickle models are no longer supported");
  std::ofstream(file) << std::string((4 << 20) + 1, ' ');
  assert_contains(failure(file).message(), "larger than");
  std::ofstream(file) << "";
  assert_contains(failure(file).message(), "empty");
  std::ofstream(file) << small_model();
  ck_assert(failure(file).ok());
  if (geteuid() != 0) {  // root may read anything
    fs::permissions(file, fs::perms::none);
    ck_assert_int_eq(failure(file).code(), EACCES);
  }
  fs::remove_all(name);
}
END_TEST

/* Whatever is done to a good text, the reader answers, and what it accepts can predict. */
START_TEST(damaged_texts_never_crash) {
  std::mt19937 random(20250611);
  const auto below = [&](size_t n) { return random() % n; };
  const std::string collection = small_collection(2).dump(), file = document_of(builtin("vmaf_v0.6.1")).dump(1);
  const std::string pieces[] = {"-", "1e308", "\"", "\\", "null", "{",    "}",    "[",
                                "]", ":",     ",",  "0",  "65",   "true", "\xff", "\\n"};
  int accepted = 0;
  for (int i = 0; i < 3000; i++) {
    std::string text = i % 10 ? collection : file;
    for (size_t damage = 0; damage <= below(3); damage++) {
      const size_t at = below(text.size());
      switch (below(5)) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, 1 + below(20)); break;
        case 2: text.insert(at, pieces[below(std::size(pieces))]); break;
        case 3: text.insert(at, text.substr(below(text.size()), below(200))); break;
        case 4: text.replace(at, 1, pieces[below(std::size(pieces))]); break;
      }
    }
    const auto model = parse_model(text, "m.json", {});
    if (!model.ok()) {
      assert_contains(model.status().message(), "model file 'm.json': ");
      continue;
    }
    accepted++;
    scores_of(model.value(), std::vector<double>(model.value().features().size(), 0.5));
  }
  ck_assert_int_gt(accepted, 50);  // keys that are damaged are not known
  ck_assert_int_lt(accepted, 2900);
}
END_TEST

int main() {
  return vmafx::test::run_suite("model", {{"names", builtin_names},
                                          {"features", builtin_features},
                                          {"golden", builtin_scores_are_libvmafs},
                                          {"v1", scores_of_v1_are_libvmafs},
                                          {"float", float_models_are_the_integer_ones_elsewhere},
                                          {"bootstrap", bootstrap_scores_are_libvmafs},
                                          {"files", files_give_the_numbers_that_are_built_in},
                                          {"hashes", files_tell_the_hash_of_their_bytes},
                                          {"formula", predictions_follow_the_formula},
                                          {"clip", clip_can_be_disabled},
                                          {"transform", transform_maps_in_three_steps},
                                          {"chroma", chroma_is_corrected_from_luma},
                                          {"collections", collections_summarize_their_members},
                                          {"explained", slopes_explain_what_scores_lack},
                                          {"slopes", slopes_are_derivatives},
                                          {"lengths", predict_checks_its_lengths},
                                          {"fields", broken_files_are_refused_by_field},
                                          {"svm", broken_svm_texts_are_refused_by_line},
                                          {"documents", broken_documents_are_refused},
                                          {"color_targets", color_targets},
                                          {"keys", unknown_keys_are_refused},
                                          {"harmless", harmless_keys_are_taken},
                                          {"repeated", repeated_keys_are_refused},
                                          {"zero_bytes", zero_bytes_are_refused},
                                          {"utf8", names_are_utf8},
                                          {"unreadable", unreadable_files_are_named},
                                          {"damaged", damaged_texts_never_crash}});
}
