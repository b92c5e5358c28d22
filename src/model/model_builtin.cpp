#include "model/model_builtin.h"

#include <algorithm>
#include <array>

namespace vmafx {
namespace {

struct BuiltinOption {
  const char* name;
  const char* value;
};

struct BuiltinFeature {
  const char* name;
  BuiltinOption options[8];  // name == nullptr: no more
};

struct BuiltinSvm {
  double gamma;
  double rho;
  std::span<const double> rows;  // as Svm takes them
};

struct BuiltinTransform {
  bool present;  // false: the model has none
  bool enabled;  // without being asked to
  bool out_lte_in;
  bool out_gte_in;
  double p0, p1, p2;
};

struct BuiltinModel {
  const char* version;
  const char* sha256;  // of the file
  std::span<const BuiltinFeature> features;
  std::span<const double> rescale;  // slope, intercept: of the score, then of each feature
  BuiltinTransform transform;
  double clip[2];
  double chroma_correction;          // 0: none
  std::span<const BuiltinSvm> svms;  // base model, then the members of a collection
};

#include "models/builtin.inc"

constexpr auto kVersions = [] {
  std::array<const char*, std::size(kBuiltinModels)> versions{};
  for (size_t i = 0; i < versions.size(); i++) versions[i] = kBuiltinModels[i].version;
  return versions;
}();

const BuiltinModel* find(std::string_view version) {
  const auto found = std::ranges::find_if(kBuiltinModels, [&](const BuiltinModel& m) { return version == m.version; });
  return found == std::end(kBuiltinModels) ? nullptr : found;
}

ModelMember make_member(const BuiltinModel& model, const BuiltinSvm& svm, const ModelSpec& spec) {
  const int n_features = static_cast<int>(model.features.size());
  ModelMember member{.svm = Svm(n_features, svm.gamma, svm.rho, {svm.rows.begin(), svm.rows.end()})};
  for (const BuiltinFeature& feature : model.features) {
    member.features.push_back({feature.name, {}});
    for (const BuiltinOption& option : feature.options)
      if (option.name) member.features.back().options[option.name] = option.value;
  }
  for (size_t i = 0; i < model.rescale.size(); i += 2) {
    member.slopes.push_back(model.rescale[i]);
    member.intercepts.push_back(model.rescale[i + 1]);
  }
  const BuiltinTransform& t = model.transform;
  if (t.present && (t.enabled || spec.enable_transform))
    member.transform = ScoreTransform{
        .p0 = t.p0, .p1 = t.p1, .p2 = t.p2, .knots = {}, .out_lte_in = t.out_lte_in, .out_gte_in = t.out_gte_in};
  if (model.chroma_correction != 0) member.chroma_correction = model.chroma_correction;
  if (!spec.disable_clip) member.clip = {model.clip[0], model.clip[1]};
  return member;
}

}  // namespace

std::span<const char* const> builtin_model_names() { return kVersions; }

std::optional<std::vector<ModelMember>> builtin_model(const ModelSpec& spec) {
  const BuiltinModel* model = find(spec.version);
  if (!model) return std::nullopt;
  std::vector<ModelMember> members;
  for (const BuiltinSvm& svm : model->svms) members.push_back(make_member(*model, svm, spec));
  return members;
}

const char* builtin_model_sha256(std::string_view version) {
  const BuiltinModel* model = find(version);
  return model ? model->sha256 : "";
}

}  // namespace vmafx
