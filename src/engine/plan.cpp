#include "engine/plan.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "base/nearest.h"
#include "engine/plan_errors.h"
#include "kernels/active_area/active_area.h"
#include "kernels/registry/registry.h"
#include "kernels/signature/signature.h"
#include "kernels/steps/gray_file.h"
#include "model/model_check.h"
#include "model/model_file.h"

namespace vmafx {
namespace {

/* Leaves out the names of kernels, which nobody needs. */
std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const std::string& name : extractor_names())
    if (!find_extractor(name).device_only) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

std::string no_such_metric(const std::string& name) {
  const std::vector<std::string> names = metric_names();
  if (const std::string meant = nearest_name(name, names); !meant.empty())
    return format_text("there is no such metric; did you mean %s?", meant.c_str());
  std::string all;
  for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
  return "there is no such metric; there are: " + all;
}

const FeatureInfo& feature_of(const ExtractorInfo& info, std::string_view name) {
  return *std::ranges::find_if(info.features, [&](const FeatureInfo& f) { return name == f.name; });
}

const OptionInfo* find_option(const ExtractorInfo& info, const std::string& name) {
  const auto option = std::ranges::find_if(info.options, [&](const OptionInfo& o) { return name == o.name; });
  return option == info.options.end() ? nullptr : &*option;
}

bool is_overloaded(const PlannedModel& planned, const std::vector<PlannedExtractor>& all, const std::string& name) {
  return std::ranges::any_of(planned.inputs, [&](const PlannedModel::Input& input) {
    return name == all[input.extractor].info->name || name == input.feature;
  });
}

/* A model file may come from anybody; only the user says which files are written. */
Status check_writes_nothing(const ModelSpec& spec, const ModelFeature& feature, const ExtractorInfo& info) {
  for (const auto& [name, text] : feature.options) {
    const OptionInfo* option = find_option(info, name);
    if (option && option->writes)
      return error(
          EINVAL,
          "model file '%s': it sets %s of %s, which writes files, and a model file may not: take it out, and if you "
          "want these files, add %s.%s=… to model=",
          spec.path.c_str(), name.c_str(), info.name, info.name, name.c_str());
  }
  return {};
}

/* Names the model file if an option that it sets is wrong: the user did not write it. */
Status check_known(const ModelSpec& spec, const ModelFeature& feature, const ExtractorInfo& info) {
  if (spec.path.empty()) return {};
  const Status status = Options::resolve(info.name, info.options, feature.options).status();
  return status.ok() ? status
                     : no_extractor(info.name, format_text("model file '%s': feature_opts_dicts: %s", spec.path.c_str(),
                                                           status.message().c_str()));
}

/* Takes out an option that asks for the metric once more; returns the options of that second request. */
std::optional<OptionTexts> take_second(const ExtractorInfo& info, OptionTexts& given) {
  for (const OptionInfo& option : info.options) {
    if (!option.again || !given.contains(option.name)) continue;
    const std::string value = given.extract(option.name).mapped();
    OptionTexts second = given;
    second[option.again] = value;
    return second;
  }
  return std::nullopt;
}

bool has_regions(const ExtractorInfo& info) { return std::ranges::any_of(info.features, &FeatureInfo::regional); }

void add_written(const ExtractorInfo* info, const OptionTexts& given, std::vector<NamedFile>* written) {
  if (!info) return;
  for (const auto& [name, text] : given)
    if (const OptionInfo* option = find_option(*info, name); option && option->writes && !text.empty())
      written->push_back({name, text, std::string(kHeatMaps.ending)});
}

}  // namespace

std::vector<NamedFile> written_folders(const std::vector<ModelSpec>& models, const std::vector<FeatureSpec>& features) {
  std::vector<NamedFile> written;
  for (const ModelSpec& model : models)
    for (const auto& [name, given] : model.overloads) {
      const ExtractorInfo* provider = find_provider(name);
      add_written(provider ? provider : find_extractor(name).info, given, &written);
    }
  for (const FeatureSpec& feature : features)
    add_written(find_extractor(feature.extractor).info, feature.options, &written);
  return written;
}

std::string PlannedExtractor::name() const {
  return info->name + options.key_suffix() + (unreported ? " of " + asker : "");
}

std::string PlannedExtractor::request() const {
  std::string text = info->name;
  for (const auto& [name, value] : given) text += ":" + name + "=" + value;
  return asker + " (" + text + ")";
}

std::string PlannedExtractor::key() const {
  std::string key = info->name;
  for (const auto& [name, text] : given) key += '\n' + name + '=' + text;
  return key;
}

std::string PlannedExtractor::key_of(const FeatureInfo& feature) const {
  return feature.key + (feature.bare ? "" : options.key_suffix());
}

std::string PlannedExtractor::key_of(const char* aggregate) const { return aggregate + options.key_suffix(); }

StatusOr<Plan> Plan::make(const std::vector<ModelSpec>& models, const std::vector<FeatureSpec>& features, Log& log,
                          Rivals rivals) {
  Plan plan;
  plan.rivals_ = rivals;
  for (const ModelSpec& spec : models) VMAFX_TRY(plan.add_model(spec, log));
  for (const FeatureSpec& spec : features) VMAFX_TRY(plan.add_feature(spec, log));
  if (plan.extractors_.empty()) return error(EINVAL, "nothing to score: name a model or a feature");
  return plan;
}

bool Plan::names_kernels() const { return std::ranges::any_of(extractors_, &PlannedExtractor::device_only); }

void Plan::look_at_pictures() {
  extractors_.push_back({.info = &kSignatureExtractor, .asker = "check", .looks = true});
}

Status Plan::make_maps() {
  bool any = false;
  for (PlannedExtractor& planned : extractors_) any |= planned.maps = planned.info->flags & kMaps;
  if (any) return {};
  std::string names;
  for (const ExtractorInfo* info : vmafx::extractors())
    if (info->flags & kMaps) names += (names.empty() ? "" : ", ") + std::string(info->name);
  return error(EINVAL, "none of the metrics has maps: score one of these, too, with feature=name=…: %s", names.c_str());
}

/* Maps of metrics that models read make the models' maps. */
Status Plan::score_regions(std::vector<std::string> names, bool active, Log& log) {
  bool any = false;
  for (PlannedExtractor& planned : extractors_) {
    const bool regional = has_regions(*planned.info);
    any |= regional;
    planned.maps |= regional;
    if (!regional && planned.asked_for)
      log.info(format_text("%s has no scores of regions (roi), only of whole pictures", planned.info->name));
  }
  for (const PlannedModel& model : models_) {
    for (const PlannedModel::Input& input : model.inputs) {
      PlannedExtractor& planned = extractors_[static_cast<size_t>(input.extractor)];
      planned.maps |= (planned.info->flags & kMaps) != 0;
    }
    any |= has_map(model);
  }
  if (!any) {
    std::string known;
    for (const ExtractorInfo* info : vmafx::extractors())
      if (has_regions(*info)) known += std::string(", ") + info->name;
    return error(EINVAL,
                 "roi: nothing that is scored has scores of regions; they have: models of VMAF%s. Name one with model= "
                 "or feature=name=…",
                 known.c_str());
  }
  region_names_ = std::move(names);
  if (active) extractors_.push_back({.info = &kActiveAreaExtractor, .asker = "roi", .finds_area = true});
  return {};
}

std::optional<size_t> Plan::active_area() const {
  const auto found = std::ranges::find_if(extractors_, &PlannedExtractor::finds_area);
  return found == extractors_.end() ? std::nullopt : std::optional(found->extraction);
}

bool Plan::has_map(const PlannedModel& model) const {
  return std::ranges::any_of(model.inputs, [this](const PlannedModel::Input& input) {
    const PlannedExtractor& planned = extractors_[static_cast<size_t>(input.extractor)];
    return planned.maps && !planned.options.write() && !std::isnan(feature_of(*planned.info, input.feature).best);
  });
}

std::optional<size_t> Plan::look() const {
  return looks() ? std::optional(extractors_.back().extraction) : std::nullopt;
}

Status Plan::place(Placement preferred) {
  for (PlannedExtractor& planned : extractors_) {
    if (planned.device_only && preferred != Placement::kDevice)
      return no_extractor(
          extractor_name(*planned.info, Placement::kDevice),
          std::string("it runs on a GPU, and this session has none; the metric is called ") + planned.info->name);
    planned.placement = planned.info->flags & kHip ? preferred : Placement::kCpu;
  }
  return {};
}

Status Plan::add_model(const ModelSpec& spec, Log& log) {
  VMAFX_ASSIGN(Model model, load_model(spec));
  for (const PlannedModel& other : models_)
    if (other.model.name() == model.name())
      return error(EINVAL,
                   "two models are called '%s'; give one of them another name with name=", model.name().c_str());

  PlannedModel planned{std::move(model), version_of(spec), {}};
  for (const ModelFeature& feature : planned.model.features()) {
    const ExtractorInfo* info = find_provider(feature.name);
    if (!info)
      return no_extractor(feature.name,
                          "no metric of this build provides what model " + planned.model.name() + " needs");
    VMAFX_TRY(check_writes_nothing(spec, feature, *info));
    OptionTexts given = feature.options;
    for (const std::string& name : {std::string(info->name), feature.name})
      if (const auto overload = spec.overloads.find(name); overload != spec.overloads.end())
        for (const auto& [option, text] : overload->second) given[option] = text;
    VMAFX_TRY(check_known(spec, feature, *info));
    const Asker asker = {"model " + planned.model.name(), info->name, feature.name.c_str()};
    const std::optional<OptionTexts> second = take_second(*info, given);
    VMAFX_ASSIGN(const int index, add_extractor(*info, given, asker, log));
    planned.inputs.push_back({index, feature.name});
    if (second) VMAFX_TRY(add_extractor(*info, *second, asker, log).status());
  }
  for (const auto& [name, options] : spec.overloads)
    if (!is_overloaded(planned, extractors_, name))
      log.warning(format_text("model %s does not use %s, so its options are ignored", planned.model.name().c_str(),
                              name.c_str()));
  models_.push_back(std::move(planned));
  return {};
}

Status Plan::add_feature(const FeatureSpec& spec, Log& log) {
  const auto [info, device_only] = find_extractor(spec.extractor);
  if (!info) return no_extractor(spec.extractor, no_such_metric(spec.extractor));
  std::vector<OptionTexts> requests = {spec.options};
  if (auto second = take_second(*info, requests[0])) requests.push_back(std::move(*second));
  for (const OptionTexts& options : requests) {
    VMAFX_ASSIGN(const int index, add_extractor(*info, options, {"feature", spec.extractor}, log));
    extractors_[index].asked_for = true;
    if (device_only) extractors_[index].device_only = true;
  }
  return {};
}

/* Requests with the same options share an extractor. Options that only add to the output (debug, enable_mse, …) are
 * switched on if anybody asks for them. */
StatusOr<int> Plan::add_extractor(const ExtractorInfo& info, const OptionTexts& given, const Asker& asker, Log& log) {
  auto resolved = Options::resolve(asker.metric, info.options, given);
  if (!resolved.ok()) return no_extractor(asker.metric, resolved.status().message());

  PlannedExtractor asked = {.info = &info, .given = given, .asker = asker.name, .options = std::move(resolved.value())};
  int rival = -1;  // the first extractor with the same keys
  for (int i = 0; i < static_cast<int>(extractors_.size()); i++) {
    PlannedExtractor& planned = extractors_[i];
    if (planned.info != &info || planned.options.key_suffix() != asked.options.key_suffix()) continue;
    if (planned.options.contradictions(asked.options).empty() && (asker.feature || !planned.unreported)) {
      planned.options.add(asked.options, planned.given, given);
      return i;
    }
    if (rival < 0) rival = i;
  }
  if (rival >= 0) {
    const FeatureInfo& main = asker.feature ? feature_of(info, asker.feature) : main_feature(info);
    VMAFX_TRY(meet_rival(asked.key_of(main), extractors_[rival], asked,
                         extractors_[rival].options.contradictions(asked.options), log));
    if (!asker.feature) return rival;
    asked.unreported = true;
  }
  extractors_.push_back(std::move(asked));
  return static_cast<int>(extractors_.size()) - 1;
}

Status Plan::meet_rival(const std::string& key, const PlannedExtractor& first, const PlannedExtractor& second,
                        const std::string& difference, Log& log) const {
  const std::string what = format_text("two requests with different options write the key %s: %s and %s%s%s",
                                       key.c_str(), first.request().c_str(), second.request().c_str(),
                                       difference.empty() ? "" : ", which differ in ", difference.c_str());
  if (rivals_ == Rivals::kRefused)
    return error(
        EINVAL,
        "%s. Give both the same options, or options that are part of the key and differ, or score them in two runs",
        what.c_str());
  log.warning(what + "; the first one is reported");
  return {};
}

void Plan::allow_overwrite() {
  for (PlannedExtractor& planned : extractors_) planned.options.allow_overwrite();
}

void Plan::write_below(const std::string& folder) {
  for (PlannedExtractor& planned : extractors_) planned.options.write_below(folder);
}

Status Plan::check_models(const VideoFormat& format, Log& log) const {
  for (const PlannedModel& planned : models_) {
    const bool encode_depth_known = std::ranges::any_of(planned.inputs, [&](const PlannedModel::Input& input) {
      return extractors_[input.extractor].given.contains("enc_bitdepth");
    });
    VMAFX_TRY(check_model(planned.model, planned.version, encode_depth_known, format, log));
  }
  return {};
}

Status Plan::instantiate(const VideoFormat& format, Log& log, int encodes) {
  VMAFX_TRY(check_models(format, log));
  for (PlannedExtractor& planned : extractors_)
    if (!planned.looks) VMAFX_TRY(choose_placement(planned, format, log));
  share_extractions();
  for (PlannedExtraction& extraction : extractions_) VMAFX_TRY(make_extractors(extraction, format, encodes));
  VMAFX_TRY(settle_look(format, log));
  VMAFX_TRY(place_columns(log));
  VMAFX_TRY(place_aggregates(log));
  for (PlannedModel& planned : models_) {
    VMAFX_TRY(place_inputs(planned));
    planned.first_column = static_cast<int>(columns_.size());
    for (const std::string& key : planned.model.score_keys()) {
      if (std::ranges::find(columns_, key) != columns_.end())
        return error(EINVAL, "the name '%s' is taken; give the model another one with name=", key.c_str());
      columns_.push_back(key);
    }
  }
  return place_regions();
}

/* Orders columns as libvmaf, on one thread, writes the features' first scores. */
Status Plan::place_columns(Log& log) {
  for (PlannedExtractor& planned : extractors_) {
    planned.columns.assign(planned.extractor->features().size(), -1);
    planned.unseen = planned.columns;
  }
  for (const FirstScore first_score : {FirstScore::kWithItsFrame, FirstScore::kWithTheNextFrame, FirstScore::kAtTheEnd})
    for (PlannedExtractor& planned : extractors_)
      for (size_t i = 0; i < planned.columns.size(); i++)
        if (planned.extractor->features()[i].first_score == first_score) VMAFX_TRY(place_column(planned, i, log));
  return {};
}

Status Plan::place_column(PlannedExtractor& planned, size_t i, Log& log) {
  if (planned.unreported) return {};
  const std::string key = planned.key_of(planned.extractor->features()[i]);
  const int column = static_cast<int>(std::ranges::find(columns_, key) - columns_.begin());
  if (column < static_cast<int>(columns_.size()))
    return meet_rival(key,
                      *std::ranges::find_if(extractors_,
                                            [=](const PlannedExtractor& other) {
                                              return std::ranges::find(other.columns, column) != other.columns.end();
                                            }),
                      planned, "", log);
  planned.columns[i] = column;
  columns_.push_back(key);
  return {};
}

/* Keys do not show options that have no alias, so two extractors may want the same. */
Status Plan::place_aggregates(Log& log) {
  for (PlannedExtractor& planned : extractors_) {
    planned.aggregates.clear();
    std::vector<std::string> mine;
    for (const char* const aggregate : planned.extractor->aggregates()) mine.push_back(planned.key_of(aggregate));
    if (planned.unreported || mine.empty()) continue;
    const auto has_one = [&](const PlannedExtractor& other) {
      return std::ranges::find_first_of(other.aggregates, mine) != other.aggregates.end();
    };
    const auto first = std::ranges::find_if(extractors_, has_one);
    if (first == extractors_.end()) planned.aggregates = std::move(mine);
    else VMAFX_TRY(meet_rival(mine.front(), *first, planned, "", log));
  }
  return {};
}

Status Plan::place_inputs(PlannedModel& model) {
  for (PlannedModel::Input& input : model.inputs) {
    PlannedExtractor& planned = extractors_[input.extractor];
    const auto features = planned.extractor->features();
    const auto found = std::ranges::find_if(features, [&](const FeatureInfo& f) { return input.feature == f.name; });
    if (found == features.end())
      return error(EINVAL, "model %s needs %s, which %s does not provide with these options",
                   model.model.name().c_str(), input.feature.c_str(), name_of(planned).c_str());
    const auto i = static_cast<size_t>(found - features.begin());
    input.column = planned.columns[i];
    input.unseen = input.column < 0;
    if (!input.unseen) continue;
    if (planned.unseen[i] < 0) planned.unseen[i] = unseen_columns_++;
    input.column = planned.unseen[i];
  }
  return {};
}

Status Plan::place_regions() {
  for (size_t region = 0; region < region_names_.size(); region++) {
    for (size_t e = 0; e < extractors_.size(); e++)
      for (size_t i = 0; i < extractors_[e].columns.size(); i++)
        if (const int column = extractors_[e].columns[i];
            column >= 0 && extractors_[e].extractor->features()[i].regional)
          VMAFX_TRY(
              place_region({.region = region, .of_picture = column, .extractor = static_cast<int>(e), .feature = i}));
    for (size_t m = 0; m < models_.size(); m++)
      if (has_map(models_[m]))
        VMAFX_TRY(
            place_region({.region = region, .of_picture = models_[m].first_column, .model = static_cast<int>(m)}));
  }
  return {};
}

Status Plan::place_region(PlannedRegion region) {
  const std::string key = columns_[static_cast<size_t>(region.of_picture)] + "." + region_names_[region.region];
  if (std::ranges::find(columns_, key) != columns_.end())
    return error(EINVAL, "the name '%s' is taken; give the region '%s' of roi another one", key.c_str(),
                 region_names_[region.region].c_str());
  region.column = static_cast<int>(columns_.size());
  columns_.push_back(key);
  regions_.push_back(region);
  return {};
}

void Plan::set_means(ScoreTable& table) const {
  for (const PlannedExtractor& planned : extractors_)
    for (size_t i = 0; i < planned.columns.size(); i++)
      if (planned.columns[i] >= 0) table.set_mean(planned.columns[i], planned.extractor->features()[i].mean);
  for (const PlannedRegion& region : regions_) table.set_mean(region.column, table.mean(region.of_picture));
}

std::vector<SummaryColumn> Plan::summary_columns() const {
  std::vector<SummaryColumn> columns;
  for (const PlannedExtractor& planned : extractors_)
    for (size_t i = 0; planned.asked_for && i < planned.columns.size(); i++)
      if (planned.columns[i] >= 0) columns.push_back({planned.columns[i], planned.extractor->features()[i].worse});
  for (const PlannedModel& planned : models_) columns.push_back({planned.first_column, Worse::kLow});
  std::ranges::sort(columns, {}, &SummaryColumn::column);
  for (const PlannedRegion& region : regions_) {
    const auto whole = std::ranges::find(columns, region.of_picture, &SummaryColumn::column);
    if (whole != columns.end()) columns.push_back({region.column, whole->worse});
  }
  return columns;
}

/* The score that stands for a metric: its main score, or the first that it provides with these options. */
int Plan::main_column(const PlannedExtractor& planned) {
  const auto features = planned.extractor->features();
  for (size_t i = 0; planned.info->main_score && i < features.size(); i++)
    if (planned.columns[i] >= 0 && std::string_view(features[i].key) == planned.info->main_score)
      return planned.columns[i];
  const auto first = std::ranges::find_if(planned.columns, [](int column) { return column >= 0; });
  return first == planned.columns.end() ? -1 : *first;
}

std::vector<MetricColumn> Plan::main_columns() const {
  std::vector<MetricColumn> columns;
  for (const PlannedExtractor& planned : extractors_)
    if (const int column = planned.asked_for ? main_column(planned) : -1; column >= 0)
      columns.push_back({column, false});
  for (const PlannedModel& planned : models_) columns.push_back({planned.first_column, true});
  std::ranges::sort(columns, {}, &MetricColumn::column);
  for (const PlannedRegion& region : regions_)
    if (std::ranges::find(columns, region.of_picture, &MetricColumn::column) != columns.end())
      columns.push_back({region.column, false});
  return columns;
}

std::vector<ScoreFacts> Plan::score_facts() const {
  std::vector<ScoreFacts> facts;
  for (const std::string& key : columns_) facts.push_back({.key = key});
  for (const PlannedExtractor& planned : extractors_)
    for (size_t i = 0; i < planned.columns.size(); i++) {
      if (planned.columns[i] < 0) continue;
      const FeatureInfo& feature = planned.extractor->features()[i];
      ScoreFacts& found = facts[static_cast<size_t>(planned.columns[i])];
      found.metric = planned.info->name;
      found.worse = feature.worse;
      found.unit = feature.unit ? feature.unit : "";
    }
  for (const PlannedModel& planned : models_)
    if (const auto stddev = planned.model.stddev_index())
      facts[static_cast<size_t>(planned.first_column) + *stddev].worse = Worse::kNeither;
  for (const PlannedRegion& region : regions_) {
    ScoreFacts& found = facts[static_cast<size_t>(region.column)];
    const std::string key = found.key;
    found = facts[static_cast<size_t>(region.of_picture)];
    found.key = key;
  }
  for (const auto& [column, is_model] : main_columns()) facts[static_cast<size_t>(column)].main = true;
  return facts;
}

bool Plan::any(ExtractorFlags flag) const {
  return std::ranges::any_of(extractors_,
                             [flag](const PlannedExtractor& planned) { return planned.info->flags & flag; });
}

Reach Plan::reach() const {
  Reach all;
  for (const PlannedExtractor& planned : extractors_) {
    const Reach reach = planned.extractor->reads().reach;
    all.before = std::max(all.before, reach.before);
    all.after = std::max(all.after, reach.after);
    all.first = std::max(all.first, reach.first);
  }
  return all;
}

unsigned Plan::planes_read() const {
  unsigned planes = 0;
  for (const PlannedExtractor& planned : extractors_) {
    if (planned.looks || !planned.extractor) continue;
    const Reads reads = planned.extractor->reads();
    planes |= reads.ref | reads.dist;
  }
  return planes;
}

}  // namespace vmafx
