/* The text of a model file. A text that is not a model is refused in words that name the file; a model predicts, and
 * written as a file it is the same model again. */
#include "model/model_file.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <nlohmann/json.hpp>

#include "fuzz/target.h"
#include "tests/support/params.h"
#include "vmafx/vmafx.h"

using namespace vmafx;
using namespace vmafx::fuzz;

namespace {

using nlohmann::json;

/* -- A model as the text of a file --------------------------------------------------------------------------------- */

std::string svm_text(const Svm& svm) {
  const size_t row = static_cast<size_t>(svm.n_features()) + 1;
  std::string text = format_text("svm_type nu_svr\nkernel_type rbf\ngamma %.17g\nrho %.17g\ntotal_sv %zu\nSV\n",
                                 svm.gamma(), svm.rho(), svm.rows().size() / row);
  for (size_t i = 0; i < svm.rows().size(); i++) {
    const size_t column = i % row;
    if (column) text += format_text(" %zu:", column);
    text += format_text("%.17g", svm.rows()[i]);
    if (column + 1 == row) text += "\n";
  }
  return text;
}

json transform_json(const ScoreTransform& transform) {
  json written = {{"enabled", true},
                  {"out_lte_in", transform.out_lte_in ? "true" : "false"},
                  {"out_gte_in", transform.out_gte_in ? "true" : "false"}};
  for (const auto& [name, factor] : {std::pair{"p0", transform.p0}, {"p1", transform.p1}, {"p2", transform.p2}})
    if (factor) written[name] = *factor;
  for (const auto& [x, y] : transform.knots) written["knots"].push_back({x, y});
  return written;
}

json member_json(const ModelMember& member, bool in_collection) {
  json dict = {{"model_type", in_collection ? "BOOTSTRAP_LIBSVMNUSVR" : "LIBSVMNUSVR"},
               {"norm_type", member.rescale ? "linear_rescale" : "none"},
               {"model", svm_text(member.svm)}};
  for (const ModelFeature& feature : member.features) {
    dict["feature_names"].push_back(feature.name);
    dict["feature_opts_dicts"].push_back(json::object());
    for (const auto& [name, value] : feature.options) dict["feature_opts_dicts"].back()[name] = value;
  }
  if (member.rescale) dict.update({{"slopes", member.slopes}, {"intercepts", member.intercepts}});
  if (member.clip) dict["score_clip"] = {member.clip->first, member.clip->second};
  if (member.transform) dict["score_transform"] = transform_json(*member.transform);
  if (member.chroma_correction) dict["chroma_correction_parameter"] = *member.chroma_correction;
  return {{"model_dict", dict}};
}

json file_json(const Model& model) {
  if (model.members().size() == 1) return member_json(model.members()[0], false);
  json collection;
  for (size_t i = 0; i < model.members().size(); i++)
    collection[std::to_string(i)] = member_json(model.members()[i], true);
  return collection;
}

/* -- What it promises ---------------------------------------------------------------------------------------------- */

std::vector<double> predicted(const Model& model, double feature) {
  const std::vector<double> features(model.features().size(), feature);
  std::vector<double> scores(model.score_keys().size());
  const Status status = model.predict(features, scores);
  REQUIRE(status.ok(), "%s", status.message().c_str());
  for (size_t m = 0; m < model.members().size(); m++)
    if (const auto& clip = model.members()[m].clip)
      REQUIRE(std::isnan(scores[m]) || (scores[m] >= clip->first && scores[m] <= clip->second),
              "%g is outside of %g, %g", scores[m], clip->first, clip->second);
  return scores;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++)
    if (std::memcmp(&a[i], &b[i], sizeof a[i]) != 0 && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  return true;
}

void require_same(const Model& model) {
  const std::string text = file_json(model).dump();
  const auto again = parse_model(text, "again", {});
  REQUIRE(again.ok(), "%s: %s", text.c_str(), again.status().message().c_str());
  REQUIRE(again.value().score_keys() == model.score_keys(), "%s", text.c_str());
  REQUIRE(std::ranges::equal(again.value().features(), model.features()), "%s", text.c_str());
  for (const double feature : {0., 1., 0.37, -1e30, std::nan(""), std::numeric_limits<double>::infinity()})
    REQUIRE(same_bits(predicted(again.value(), feature), predicted(model, feature)), "%g: %s", feature, text.c_str());
}

void keep_words(void* words, VmafxLogLevel, const char* message) { *static_cast<std::string*>(words) += message; }

/* Predicts through a file and the C API: the features that a model names can be computed. */
void predict_from_file(const std::string& text) {
  const MemoryFile file;
  file.set(text);
  std::string words;
  VmafxPredictor* predictor = nullptr;
  const int ret = vmafx_predictor_open(&predictor, ("path=" + file.path()).c_str(), keep_words, &words);
  REQUIRE((ret == 0) == (predictor != nullptr), "%d", ret);
  REQUIRE(ret <= 0 && (ret == 0 || !words.empty()), "%d without words", ret);
  if (!predictor) return;
  int inputs = 0, outputs = 0;
  while (vmafx_predictor_input(predictor, inputs)) inputs++;
  while (vmafx_predictor_output(predictor, outputs)) outputs++;
  const std::vector<double> features(static_cast<size_t>(inputs), 0.5);
  std::vector<double> scores(static_cast<size_t>(outputs));
  REQUIRE(vmafx_predict(predictor, features.data(), scores.data()) == 0, "%d inputs", inputs);

  test::Params params;
  params.backend = "cpu";
  params.model = "";
  params.feature = vmafx_predictor_feature(predictor);
  params.log = keep_words;
  params.log_cookie = &words;
  VmafxContext* ctx = nullptr;
  REQUIRE(test::open_context(&ctx, params) == 0, "%s: %s", params.feature, words.c_str());
  vmafx_close(&ctx);
  vmafx_predictor_close(&predictor);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ModelSpec asked;
  for (const bool switches : {false, true}) {
    asked.disable_clip = asked.enable_transform = switches;
    const auto model = parse_model(text, "file", asked);
    if (model.ok()) {
      require_same(model.value());
    } else {
      require_reason(model.status());
      REQUIRE(model.status().message().starts_with("model file 'file': "), "%s", model.status().message().c_str());
      return 0;
    }
  }
  predict_from_file(text);
  return 0;
}
