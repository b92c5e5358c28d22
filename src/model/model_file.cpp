#include "model/model_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text_file.h"
#include "model/model_builtin.h"

namespace vmafx {
namespace {

constexpr size_t kMaxFileBytes = 4 << 20;  // ten times the largest model there is
constexpr int kMaxDepth = 32;              // the format needs 5
constexpr size_t kMaxKnots = 10;           // libvmaf's limit

/* -- Fields: every getter says which field of which file is wrong, and how --------------------------- */

/* An object of the document and the way to it ("2.model_dict.score_transform."). */
struct Fields {
  const Json& object;
  const std::string& origin;
  std::string path;

  Status wrong(const std::string& name, const std::string& problem) const {
    return error(EINVAL, "model file '%s': %s%s %s", origin.c_str(), path.c_str(), name.c_str(), problem.c_str());
  }

  /* The field's value; nullptr when it is absent or null. */
  const Json* find(const std::string& name) const {
    const Json* found = object.find(name);
    return !found || found->is_null() ? nullptr : found;
  }

  StatusOr<std::string> text(const std::string& name) const {
    const Json* value = find(name);
    if (!value) return wrong(name, "is missing");
    if (!value->is_string()) return wrong(name, "is not a string");
    return value->text();
  }

  StatusOr<std::optional<double>> optional_number(const std::string& name) const {
    const Json* value = find(name);
    if (!value) return std::optional<double>();
    if (!value->is_number()) return wrong(name, "is not a number");
    return std::optional<double>(value->number());
  }

  StatusOr<std::vector<double>> numbers(const std::string& name) const {
    const Json* value = find(name);
    if (!value) return wrong(name, "is missing");
    return numbers_of(name, *value);
  }

  StatusOr<std::vector<double>> numbers_of(const std::string& name, const Json& value) const {
    if (!value.is_array() || !std::ranges::all_of(value.items(), [](const Json& item) { return item.is_number(); }))
      return wrong(name, "is not a list of numbers");
    std::vector<double> numbers;
    for (const Json& item : value.items()) numbers.push_back(item.number());
    return numbers;
  }

  /* The fields of an object inside this one, which must be there. */
  StatusOr<Fields> inside(const std::string& name) const {
    const Json* value = find(name);
    if (!value) return wrong(name, "is missing");
    if (!value->is_object()) return wrong(name, "is not an object");
    return Fields{*value, origin, path + name + "."};
  }

  /* Whether all keys of the object are among `known` or harmless: what is not read may be part of what the model means.
   * */
  Status check_keys(const std::vector<std::string>& known) const;
};

/* -- Keys ---------------------------------------------------------------------------------------------- */

/* Keys whose values no score depends on, so that they are not looked at. docs/models.md has this list, too. */
constexpr std::string_view kHarmlessKeys[] = {
    "param_dict",    // how the model was trained (C, nu, gamma, …); what scoring needs of it stands in model_dict again
    "feature_dict",  // the features by the names that the training has for them; scoring takes feature_names
};

/* Remarks about a file, as programs and people add them: harmless if they are text or a number. */
constexpr std::string_view kRemarks[] = {"_id",     "uuid", "name",   "description", "comment",  "_comment",
                                         "dataset", "date", "author", "license",     "copyright"};

/* A key from a file, for a message. */
std::string shown(const std::string& key) {
  constexpr size_t kMost = 80;
  const bool plain = std::ranges::all_of(key, [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\\'; });
  return plain && !key.empty() && key.size() <= kMost ? key : json_string(key.substr(0, kMost));
}

bool is_harmless(const std::string& key, const Json& value) {
  if (std::ranges::find(kHarmlessKeys, key) != std::end(kHarmlessKeys)) return true;
  return std::ranges::find(kRemarks, key) != std::end(kRemarks) && (value.is_string() || value.is_number());
}

Status Fields::check_keys(const std::vector<std::string>& known) const {
  for (size_t i = 0; i < object.names().size(); i++) {
    const std::string& key = object.names()[i];
    if (std::ranges::find(known, key) != known.end() || is_harmless(key, object.items()[i])) continue;
    return wrong(shown(key),
                 "is a key that this version does not know, and scores may depend on it: use a version that knows it, "
                 "or take it out if it is only a remark");
  }
  return {};
}

/* Rejects a key that is given twice, since parsers differ in which of its values they take. `path` leads to `value` in
 * messages: "", or ends with a dot. */
Status check_repeated_keys(const Json& value, const std::string& origin, const std::string& path) {
  std::vector<std::string_view> sorted(value.names().begin(), value.names().end());
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    return error(EINVAL, "model file '%s': %s%s is given twice; which of the two counts is not certain", origin.c_str(),
                 path.c_str(), shown(std::string(*twice)).c_str());
  for (size_t i = 0; i < value.items().size(); i++) {
    if (value.items()[i].items().empty()) continue;
    const std::string step = value.is_object() ? shown(value.names()[i]) : format_text("[%zu]", i);
    VMAFX_TRY(check_repeated_keys(value.items()[i], origin, path + step + "."));
  }
  return {};
}

/* -- The parts of model_dict ------------------------------------------------------------------------- */

/* An option's value as text; numbers take the way through a float that libvmaf gives them. */
StatusOr<std::string> option_text(const Fields& fields, const std::string& name, const Json& value) {
  if (value.is_number()) return normalized_number(value.text());
  if (value.is_string() || value.is_bool()) return value.text();
  return fields.wrong("feature_opts_dicts", "has for " + name + " neither a number nor a string, true or false");
}

Status read_feature_options(const Fields& fields, std::vector<ModelFeature>& features) {
  const Json* dicts = fields.find("feature_opts_dicts");
  if (!dicts) return {};
  if (!dicts->is_array() || dicts->items().size() != features.size())
    return fields.wrong("feature_opts_dicts", "is not a list of " + std::to_string(features.size()) +
                                                  " objects, one for each of feature_names");
  for (size_t i = 0; i < features.size(); i++) {
    const Json& options = dicts->items()[i];
    if (!options.is_object()) return fields.wrong("feature_opts_dicts", "has an item that is not an object");
    for (size_t k = 0; k < options.names().size(); k++) {
      const std::string& name = options.names()[k];
      VMAFX_ASSIGN(features[i].options[name], option_text(fields, name, options.items()[k]));
    }
  }
  return {};
}

StatusOr<std::vector<ModelFeature>> read_features(const Fields& fields) {
  const Json* names = fields.find("feature_names");
  if (!names) return fields.wrong("feature_names", "is missing");
  if (!names->is_array() || !std::ranges::all_of(names->items(), [](const Json& name) { return name.is_string(); }))
    return fields.wrong("feature_names", "is not a list of strings");
  const size_t n = names->items().size();
  if (n < 1 || n > kMaxFeatures)
    return fields.wrong("feature_names", format_text("has %zu names; from 1 to %d are supported", n, kMaxFeatures));
  std::vector<ModelFeature> features;
  for (const Json& name : names->items()) features.push_back({name.text(), {}});
  VMAFX_TRY(read_feature_options(fields, features));
  return features;
}

/* Slopes or intercepts: one for the score and one for each feature. */
StatusOr<std::vector<double>> read_rescale(const Fields& fields, const char* name, size_t n_features) {
  VMAFX_ASSIGN(std::vector<double> numbers, fields.numbers(name));
  if (numbers.size() != 1 + n_features)
    return fields.wrong(name, format_text("has %zu numbers; %zu are needed, for the score and for each feature",
                                          numbers.size(), 1 + n_features));
  return numbers;
}

Status read_normalization(const Fields& fields, ModelMember& member) {
  VMAFX_ASSIGN(const std::string norm_type, fields.text("norm_type"));
  member.rescale = norm_type == "linear_rescale";
  if (norm_type == "none") return {};
  if (!member.rescale) return fields.wrong("norm_type", "is '" + norm_type + "', neither linear_rescale nor none");
  VMAFX_ASSIGN(member.slopes, read_rescale(fields, "slopes", member.features.size()));
  VMAFX_ASSIGN(member.intercepts, read_rescale(fields, "intercepts", member.features.size()));
  if (std::ranges::find(member.slopes, 0.0) != member.slopes.end()) return fields.wrong("slopes", "has a 0");
  return {};
}

StatusOr<std::vector<std::pair<double, double>>> read_knots(const Fields& fields) {
  std::vector<std::pair<double, double>> knots;
  const Json* list = fields.find("knots");
  if (!list) return knots;
  if (!list->is_array() || list->items().size() == 1 || list->items().size() > kMaxKnots)
    return fields.wrong("knots", format_text("is not a list of 2 to %zu points", kMaxKnots));
  for (const Json& item : list->items()) {
    VMAFX_ASSIGN(const std::vector<double> point, fields.numbers_of("knots", item));
    if (point.size() != 2) return fields.wrong("knots", "has a point that is not a pair [x, y]");
    if (!knots.empty() && (point[0] <= knots.back().first || point[1] < knots.back().second))
      return fields.wrong("knots", "do not ascend");
    knots.emplace_back(point[0], point[1]);
  }
  return knots;
}

/* The transform, if it is in force: enabled by the file or by the user. */
Status read_transform(const Fields& fields, const ModelSpec& spec, ModelMember& member) {
  if (!fields.find("score_transform")) return {};
  VMAFX_ASSIGN(const Fields inside, fields.inside("score_transform"));
  VMAFX_TRY(inside.check_keys({"enabled", "p0", "p1", "p2", "knots", "out_lte_in", "out_gte_in"}));
  const Json* enabled = inside.find("enabled");
  if (enabled && !enabled->is_bool()) return inside.wrong("enabled", "is neither true nor false");
  ScoreTransform transform;
  VMAFX_ASSIGN(transform.p0, inside.optional_number("p0"));
  VMAFX_ASSIGN(transform.p1, inside.optional_number("p1"));
  VMAFX_ASSIGN(transform.p2, inside.optional_number("p2"));
  VMAFX_ASSIGN(transform.knots, read_knots(inside));
  for (const auto& [name, flag] :
       {std::pair{"out_lte_in", &transform.out_lte_in}, {"out_gte_in", &transform.out_gte_in}}) {
    if (!inside.find(name)) continue;
    VMAFX_ASSIGN(const std::string text, inside.text(name));
    *flag = text == "true";
    if (!*flag && text != "false") return inside.wrong(name, "is neither the text \"true\" nor \"false\"");
  }
  if (spec.enable_transform || (enabled && enabled->boolean())) member.transform = std::move(transform);
  return {};
}

Status read_clip(const Fields& fields, const ModelSpec& spec, ModelMember& member) {
  if (!fields.find("score_clip")) return {};
  VMAFX_ASSIGN(const std::vector<double> clip, fields.numbers("score_clip"));
  if (clip.size() != 2 || clip[0] > clip[1]) return fields.wrong("score_clip", "is not a pair [min, max]");
  if (!spec.disable_clip) member.clip = {clip[0], clip[1]};
  return {};
}

/* Chroma-from-luma needs one adm3 and one speed_chroma feature to work with. */
Status read_chroma_correction(const Fields& fields, ModelMember& member) {
  VMAFX_ASSIGN(member.chroma_correction, fields.optional_number("chroma_correction_parameter"));
  if (!member.chroma_correction) return {};
  for (const char* part : {"adm3", "speed_chroma"}) {
    const auto has_part = [&](const ModelFeature& feature) { return feature.name.find(part) != feature.name.npos; };
    if (std::ranges::count_if(member.features, has_part) != 1)
      return fields.wrong("chroma_correction_parameter", std::string("needs exactly one feature named ") + part);
  }
  return {};
}

/* The code point that a text of the target names. */
template <class Find>
auto read_color(const Fields& fields, const char* name, Find find)
    -> StatusOr<typename decltype(find(""))::value_type> {
  VMAFX_ASSIGN(const std::string text, fields.text(name));
  if (const auto code = find(text)) return *code;
  return fields.wrong(name, "is '" + text + "', which is not supported");
}

/* The conversion that libvmaf's master makes with zimg: light above SDR's white is cut off, and white is zimg's. */
constexpr ColorRules kZimgRules = {.white = 100, .maps_tones = false};

/* {"colorspace": {"range": "limited", "primaries": "bt2020", "trc": "smpte2084", "matrix": "ictcp"}} */
Status read_color_target(const Fields& fields, ModelMember& member) {
  if (!fields.object.find("conversion_target")) return {};
  VMAFX_ASSIGN(const Fields outer, fields.inside("conversion_target"));
  VMAFX_TRY(outer.check_keys({"colorspace"}));
  VMAFX_ASSIGN(const Fields space, outer.inside("colorspace"));
  VMAFX_TRY(space.check_keys({"range", "primaries", "trc", "matrix"}));
  ColorTarget target{.name = "the model's color space", .color = {}, .rules = kZimgRules};
  VMAFX_ASSIGN(target.color.range, read_color(space, "range", find_range));
  VMAFX_ASSIGN(target.color.primaries, read_color(space, "primaries", find_primaries));
  VMAFX_ASSIGN(target.color.transfer, read_color(space, "trc", find_transfer));
  VMAFX_ASSIGN(target.color.matrix, read_color(space, "matrix", find_matrix));
  const VideoFormat format = {.w = 2, .h = 2, .color = target.color};
  if (const Status status = Recolorer::create(format, format, {}).status(); !status.ok())
    return space.wrong("matrix", "and the other keys are no target: " + status.message());
  member.color_target = std::move(target);
  return {};
}

Status check_model_type(const Fields& fields, bool in_collection) {
  VMAFX_ASSIGN(const std::string type, fields.text("model_type"));
  if (type == "BOOTSTRAP_LIBSVMNUSVR" || type == "RESIDUEBOOTSTRAP_LIBSVMNUSVR") return {};
  if (type != "LIBSVMNUSVR") return fields.wrong("model_type", "is '" + type + "', which is not supported");
  return in_collection ? fields.wrong("model_type", "is LIBSVMNUSVR in a collection of bootstrap models") : Status();
}

StatusOr<ModelMember> read_member(const Fields& outer, const ModelSpec& spec, bool in_collection) {
  VMAFX_ASSIGN(const Fields fields, outer.inside("model_dict"));
  VMAFX_TRY(fields.check_keys({"model_type", "norm_type", "feature_names", "feature_opts_dicts", "slopes", "intercepts",
                               "score_clip", "score_transform", "chroma_correction_parameter", "conversion_target",
                               "model"}));
  VMAFX_TRY(check_model_type(fields, in_collection));
  VMAFX_ASSIGN(std::vector<ModelFeature> features, read_features(fields));
  VMAFX_ASSIGN(const std::string svm_text, fields.text("model"));
  StatusOr<Svm> svm = Svm::parse(svm_text, static_cast<int>(features.size()));
  if (!svm.ok()) return fields.wrong("model", "is not a usable support vector machine: " + svm.status().message());

  ModelMember member{.features = std::move(features), .svm = std::move(svm.value())};
  VMAFX_TRY(read_normalization(fields, member));
  VMAFX_TRY(read_transform(fields, spec, member));
  VMAFX_TRY(read_clip(fields, spec, member));
  VMAFX_TRY(read_chroma_correction(fields, member));
  VMAFX_TRY(read_color_target(fields, member));
  return member;
}

/* A collection is an object with the keys "0", "1", … without gaps. */
StatusOr<std::vector<ModelMember>> read_collection(const Fields& document, const ModelSpec& spec) {
  const auto is_number = [](const std::string& key) {
    return !key.empty() && key.find_first_not_of("0123456789") == key.npos;
  };
  size_t count = 0;
  for (const std::string& key : document.object.names()) count += is_number(key);
  if (count < 2) return document.wrong("model_dict", "is missing");
  if (count > kMaxMembers)
    return error(EINVAL, "model file '%s': %zu members; up to %d are supported", document.origin.c_str(), count,
                 kMaxMembers);
  std::vector<ModelMember> members;
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; i++) {
    keys.push_back(std::to_string(i));
    VMAFX_ASSIGN(const Fields member, document.inside(keys.back()));
    VMAFX_TRY(member.check_keys({"model_dict"}));
    VMAFX_ASSIGN(ModelMember read, read_member(member, spec, true));
    if (!members.empty() && read.color_target != members.front().color_target)
      return member.wrong("model_dict.conversion_target", "differs from that of member 0");
    members.push_back(std::move(read));
  }
  VMAFX_TRY(document.check_keys(keys));
  return members;
}

/* -- Text and files ---------------------------------------------------------------------------------- */

bool has_zero_byte(const Json& value) {
  const auto in_text = [](const std::string& text) { return text.find('\0') != text.npos; };
  return in_text(value.text()) || std::ranges::any_of(value.names(), in_text) ||
         std::ranges::any_of(value.items(), has_zero_byte);
}

std::string name_of(const ModelSpec& spec) { return spec.name.empty() ? "vmaf" : spec.name; }

StatusOr<Model> load_builtin(const ModelSpec& spec) {
  auto members = builtin_model(spec);
  if (members) return Model(name_of(spec), std::move(*members), builtin_model_sha256(spec.version));
  std::string names;
  for (const char* name : builtin_model_names()) names += (names.empty() ? "" : ", ") + std::string(name);
  return error(EINVAL, "could not load libvmaf model with version: %s; built in are: %s (other models: path=FILE)",
               spec.version.c_str(), names.c_str());
}

}  // namespace

StatusOr<Model> parse_model(std::string_view text, const std::string& origin, const ModelSpec& spec) {
  if (text.find_first_not_of(" \t\r\n") == text.npos)
    return error(EINVAL, "model file '%s': it is empty", origin.c_str());
  if (nesting_depth(text) > kMaxDepth)
    return error(EINVAL, "model file '%s': it is nested more than %d deep", origin.c_str(), kMaxDepth);
  const std::optional<Json> document = Json::parse(text);
  if (text.find('\0') != text.npos || (document && has_zero_byte(*document)))
    return error(EINVAL, "model file '%s': it has a zero byte in a text or a name", origin.c_str());
  if (!document) return error(EINVAL, "model file '%s': it is not valid JSON", origin.c_str());
  if (!document->is_object()) return error(EINVAL, "model file '%s': it is not a JSON object", origin.c_str());

  VMAFX_TRY(check_repeated_keys(*document, origin, ""));

  const Fields fields{*document, origin, ""};
  std::vector<ModelMember> members;
  if (fields.find("model_dict")) {
    VMAFX_TRY(fields.check_keys({"model_dict"}));
    VMAFX_ASSIGN(ModelMember member, read_member(fields, spec, false));
    members.push_back(std::move(member));
  } else {
    VMAFX_ASSIGN(members, read_collection(fields, spec));
  }
  return Model(name_of(spec), std::move(members), sha256(text));
}

StatusOr<Model> load_model(const ModelSpec& spec) {
  if (valid_utf8(spec.name) != spec.name)
    return error(EINVAL, "model '%s': its name is not UTF-8 text", spec.name.c_str());
  if (!spec.version.empty()) return load_builtin(spec);
  if (spec.path.ends_with(".pkl"))
    return error(EINVAL, "model file '%s': pickle models are no longer supported, use the .json model",
                 spec.path.c_str());
  VMAFX_ASSIGN(const std::string text, read_text_file("model file", spec.path, kMaxFileBytes));
  return parse_model(text, spec.path, spec);
}

}  // namespace vmafx
