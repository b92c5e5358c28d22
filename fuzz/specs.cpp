/* The texts of the options `model` and `feature`: what parses says the same when it is written and parsed again, and
 * what a plan can be made of is a plan again when its extractors are written as a text. */
#include "model/spec.h"

#include <vector>

#include "base/log.h"
#include "engine/plan.h"
#include "fuzz/target.h"

using namespace vmafx;
using namespace vmafx::fuzz;

namespace {

std::string escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += std::string("\\") + c;
  return escaped;
}

std::string pair(const std::string& key, const std::string& value) { return escaped(key) + "=" + escaped(value); }

std::string text_of(const ModelSpec& spec) {
  std::string text = spec.path.empty() ? pair("version", spec.version) : pair("path", spec.path);
  if (!spec.name.empty()) text += ":" + pair("name", spec.name);
  if (spec.disable_clip) text += ":disable_clip=true";
  if (spec.enable_transform) text += ":enable_transform=1";
  for (const auto& [extractor, options] : spec.overloads)
    for (const auto& [name, value] : options) text += ":" + pair(extractor + "." + name, value);
  return text;
}

std::string text_of(const FeatureSpec& spec) {
  std::string text = pair("name", spec.extractor);
  for (const auto& [name, value] : spec.options) text += ":" + pair(name, value);
  return text;
}

template <class Spec>
std::string text_of(const std::vector<Spec>& specs) {
  std::string text;
  for (const Spec& spec : specs) text += (text.empty() ? "" : "|") + text_of(spec);
  return text;
}

/* Only where there is one: a list of no entries is nothing to come back. */
template <class Specs>
void require_same(const Specs& specs, const StatusOr<Specs>& again) {
  REQUIRE(again.ok(), "%s: %s", text_of(specs).c_str(), again.status().message().c_str());
  REQUIRE(text_of(again.value()) == text_of(specs), "%s became %s", text_of(specs).c_str(),
          text_of(again.value()).c_str());
}

/* Models of files are left to another target. */
std::vector<ModelSpec> built_in(const std::vector<ModelSpec>& specs) {
  std::vector<ModelSpec> models;
  for (const ModelSpec& spec : specs)
    if (spec.path.empty()) models.push_back(spec);
  return models;
}

void plan(std::vector<ModelSpec> models, const std::vector<FeatureSpec>& features) {
  Log silent;
  const auto made = Plan::make(models, features, silent);
  if (!made.ok()) return require_reason(made.status());
  std::vector<FeatureSpec> same;
  for (const PlannedExtractor& planned : made.value().extractors()) {
    REQUIRE(!planned.name().empty() && !planned.key().empty(), "an extractor without a name");
    same.push_back({planned.info->name, planned.given});
  }
  const auto again = Plan::make({}, same, silent);
  REQUIRE(again.ok() || same.empty(), "%s: %s", text_of(same).c_str(), again.status().message().c_str());
  if (again.ok())
    REQUIRE(again.value().extractors().size() == same.size(), "%zu extractors became %zu", same.size(),
            again.value().extractors().size());
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> left_out;
  const auto known = parse_known(text, &left_out), models = parse_models(text);
  const auto features = parse_features(text);
  REQUIRE(models.ok() == (known.ok() && left_out.empty()), "%zu keys were left out", left_out.size());
  if (models.ok()) require_same(models.value(), parse_models(text_of(models.value())));
  else require_reason(models.status());
  if (known.ok()) plan(built_in(known.value()), {});
  if (!features.ok()) {
    require_reason(features.status());
    return 0;
  }
  require_same(features.value(), parse_features(text_of(features.value())));
  plan({}, features.value());
  return 0;
}
