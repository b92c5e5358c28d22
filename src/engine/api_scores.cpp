/* The part of the C API that needs no stream: models by themselves, pooling, facts of scores, and reports of scores
 * that the application has. */
#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/api.h"
#include "engine/frames/pictures.h"
#include "engine/look/join.h"
#include "engine/look/told_finding.h"
#include "engine/plan.h"
#include "engine/session.h"
#include "engine/version.h"
#include "kernels/registry/registry.h"
#include "model/spec.h"
#include "report/report.h"
#include "vmafx/vmafx.h"

using vmafx::error;
using vmafx::Status;
using vmafx::StatusOr;

struct VmafxPredictor {
  vmafx::Plan plan;  // of this model alone
  std::string feature;
  std::vector<std::string> inputs;

  const vmafx::Model& model() const { return plan.models().front().model; }
};

namespace {

struct LogGiven {
  VmafxLogCallback log;
  void* log_cookie;
};

/* -- Predictors ---------------------------------------------------------------------------------------------------- */

/* A value inside the option `feature`, which cannot have a `|`. */
StatusOr<std::string> escaped(const std::string& text) {
  if (text.find('|') != text.npos) return error(EINVAL, "an option of a model has a `|`: '%s'", text.c_str());
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\':= \t\r\n").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

StatusOr<std::string> feature_text(const vmafx::Plan& plan) {
  std::string text;
  for (const vmafx::PlannedExtractor& planned : plan.extractors()) {
    text += (text.empty() ? "name=" : "|name=") + std::string(planned.info->name);
    for (const auto& [name, value] : planned.given) {
      VMAFX_ASSIGN(const std::string said, escaped(value));
      text += ":" + name + "=" + said;
    }
  }
  return text;
}

StatusOr<std::unique_ptr<VmafxPredictor>> make_predictor(const std::string& text, vmafx::Log& log) {
  VMAFX_ASSIGN(auto specs, vmafx::parse_models(text));
  if (specs.size() != 1) return error(EINVAL, "one model is needed, not '%s'", text.c_str());
  auto predictor = std::make_unique<VmafxPredictor>();
  VMAFX_ASSIGN(predictor->plan, vmafx::Plan::make(specs, {}, log));
  if (predictor->plan.models().front().model.color_target())
    return vmafx::error(EINVAL,
                        "a predictor has no pictures to convert to the model's color space; score them in a session");
  VMAFX_ASSIGN(predictor->feature, feature_text(predictor->plan));
  for (const vmafx::PlannedModel::Input& input : predictor->plan.models().front().inputs) {
    const vmafx::PlannedExtractor& planned = predictor->plan.extractors()[static_cast<size_t>(input.extractor)];
    const auto feature = std::ranges::find_if(planned.info->features,
                                              [&](const vmafx::FeatureInfo& f) { return input.feature == f.name; });
    predictor->inputs.push_back(planned.key_of(*feature));  // it is there: find_provider() found the extractor by it
  }
  return predictor;
}

const char* text_at(std::span<const std::string> texts, int i) {
  return i >= 0 && static_cast<size_t>(i) < texts.size() ? texts[static_cast<size_t>(i)].c_str() : nullptr;
}

/* -- Reports ------------------------------------------------------------------------------------------------------- */

std::span<const VmafxFrameResult> frames_of(const VmafxReport& report) { return {report.frames, report.n_frames}; }

Status check_stream(const VmafxReport& report) {
  if (!report.stream) return {};
  VMAFX_TRY(vmafx::check_reserved(*report.stream, "VmafxReportStream"));
  if (report.stream->pairing) VMAFX_TRY(vmafx::check_reserved(*report.stream->pairing, "VmafxPairing"));
  VMAFX_TRY(vmafx::check_array(report.stream->facts, report.stream->n_facts, "VmafxScoreFacts"));
  VMAFX_TRY(vmafx::check_array(report.stream->findings, report.stream->n_findings, "VmafxFinding"));
  if (report.stream->n_parts && !report.stream->parts)
    return error(EINVAL, "%zu parts are given, but no pointer to their first pairs", report.stream->n_parts);
  for (size_t i = 0; report.stream->pictures && i < report.n_frames; i++)
    VMAFX_TRY(vmafx::check_reserved(report.stream->pictures[i], "VmafxPicture"));
  return {};
}

Status check(const VmafxReport& report) {
  VMAFX_TRY(vmafx::check_reserved(report, "VmafxReport"));
  if (!report.path || !*report.path) return error(EINVAL, "a report needs a path");
  if (report.n_subsample < 0) return error(EINVAL, "n_subsample=%d; use 1 or more", report.n_subsample);
  if ((report.n_frames && !report.frames) || (report.n_aggregates && !report.aggregates))
    return error(EINVAL, "a report has no scores to write");
  for (const VmafxFrameResult& frame : frames_of(report)) {
    VMAFX_TRY(vmafx::check_reserved(frame, "VmafxFrameResult"));
    if (frame.frame < 0 || frame.frame > INT_MAX || (frame.n_scores && !frame.scores))
      return error(EINVAL, "there is no frame %lld", static_cast<long long>(frame.frame));
    VMAFX_TRY(vmafx::check_array(frame.scores, frame.n_scores, "VmafxScore"));
  }
  VMAFX_TRY(vmafx::check_array(report.aggregates, report.n_aggregates, "VmafxScore"));
  return check_stream(report);
}

vmafx::MeanOfScores* mean_of(const std::string& key) {
  const vmafx::FeatureInfo* const feature = vmafx::find_score(key).feature;
  return feature ? feature->mean : nullptr;
}

/* Columns in the order in which scores name them. */
vmafx::ScoreTable table_of(const VmafxReport& report) {
  std::vector<std::string> keys;
  std::unordered_map<std::string, int> columns;
  for (const VmafxFrameResult& frame : frames_of(report))
    for (const VmafxScore& score : std::span(frame.scores, frame.n_scores))
      if (columns.emplace(score.key, static_cast<int>(keys.size())).second) keys.push_back(score.key);
  vmafx::ScoreTable table(std::move(keys));
  for (int column = 0; column < table.columns(); column++)
    table.set_mean(column, mean_of(table.keys()[static_cast<size_t>(column)]));
  for (const VmafxFrameResult& frame : frames_of(report))
    for (const VmafxScore& score : std::span(frame.scores, frame.n_scores))
      table.put(frame.frame, columns.at(score.key), score.value);
  const VmafxPicture* const pictures = report.stream ? report.stream->pictures : nullptr;
  for (size_t i = 0; pictures && i < report.n_frames; i++)
    if (const auto time = vmafx::time_of(pictures[i])) table.set_time(report.frames[i].frame, *time);
  for (const VmafxScore& aggregate : std::span(report.aggregates, report.n_aggregates))
    table.set_aggregate(aggregate.key, aggregate.value);
  return table;
}

std::string text(const char* given) { return given ? given : ""; }

VmafxWorse worse_of(vmafx::Worse worse) {
  switch (worse) {
    case vmafx::Worse::kLow: return VMAFX_WORSE_LOW;
    case vmafx::Worse::kHigh: return VMAFX_WORSE_HIGH;
    case vmafx::Worse::kNeither: break;
  }
  return VMAFX_WORSE_NEITHER;
}

StatusOr<vmafx::Worse> worse_of(const VmafxScoreFacts& facts) {
  for (const auto worse : {vmafx::Worse::kLow, vmafx::Worse::kHigh, vmafx::Worse::kNeither})
    if (worse_of(worse) == facts.worse) return worse;
  return error(EINVAL, "%d does not say which scores of %s are the worse ones", static_cast<int>(facts.worse),
               facts.key);
}

VmafxScoreFacts facts_of(const vmafx::KnownScore& score) {
  const auto& [metric, feature] = score;
  return {.key = feature->key,
          .metric = metric->name,
          .worse = worse_of(feature->worse),
          .main = &vmafx::main_feature(*metric) == feature,
          .alone = feature->alone,
          .unit = feature->unit};
}

/* Takes the facts of a score from the stream, or else from the metrics. */
VmafxScoreFacts facts_of(const std::string& key, const VmafxReportStream* stream) {
  if (stream)
    for (const VmafxScoreFacts& facts : std::span(stream->facts, stream->n_facts))
      if (key == facts.key) return facts;
  const vmafx::KnownScore known = vmafx::find_score(key);
  if (!known.feature) return {.key = key.c_str(), .metric = nullptr, .worse = VMAFX_WORSE_LOW, .main = 1};
  VmafxScoreFacts facts = facts_of(known);
  facts.key = key.c_str();
  facts.main = facts.alone;
  return facts;
}

StatusOr<std::vector<vmafx::ScoreFacts>> facts_of(const vmafx::ScoreTable& table, const VmafxReportStream* stream) {
  std::vector<vmafx::ScoreFacts> all;
  for (const std::string& key : table.keys()) {
    const VmafxScoreFacts facts = facts_of(key, stream);
    VMAFX_ASSIGN(const vmafx::Worse worse, worse_of(facts));
    all.push_back({key, text(facts.metric), worse, facts.main != 0, text(facts.unit)});
  }
  return all;
}

/* As a session makes them of the same frames. */
StatusOr<std::vector<vmafx::PooledFrames>> windows_of(const VmafxReport& report, const vmafx::ScoreTable& table,
                                                      vmafx::Log& log) {
  const VmafxReportStream stream = report.stream ? *report.stream : VmafxReportStream{};
  VMAFX_ASSIGN(const vmafx::PoolWindowRule rule, vmafx::parse_window(text(stream.window)));
  vmafx::PoolWindows windows(rule);
  std::vector<vmafx::PooledFrames> pooled;
  if (!rule.any() || !report.n_frames) return pooled;
  windows.begin_at(report.frames[0].frame);
  for (size_t i = 0; i < report.n_frames; i++) {
    const VmafxPicture picture = stream.pictures ? stream.pictures[i] : VmafxPicture{};
    if (report.frames[i].frame != report.frames[0].frame + static_cast<int64_t>(i))
      return error(EINVAL, "windows are of frames that follow one another; before frame %lld some are missing",
                   static_cast<long long>(report.frames[i].frame));
    VMAFX_TRY(windows.add(vmafx::time_of(picture), picture.keyframe));
  }
  windows.end();
  const vmafx::Pool pool = vmafx::choose_pool(text(stream.pool), log);
  for (size_t i = 0; i < windows.known(); i++) {
    pooled.push_back(vmafx::pool_frames(table, windows.frames(i), pool, 1));
    pooled.back().time = windows.time(i);
  }
  return pooled;
}

StatusOr<std::vector<vmafx::look::Finding>> findings_of(const VmafxFinding* given, size_t n) {
  std::vector<vmafx::look::Finding> findings;
  for (size_t i = 0; i < n; i++) {
    VMAFX_ASSIGN(auto finding, vmafx::look::read_finding(given[i]));
    findings.push_back(std::move(finding));
  }
  return findings;
}

/* The parts of a merged stream, as the look at each has left them. */
StatusOr<vmafx::look::Parts> parts_of(const VmafxReportStream* stream) {
  if (!stream->n_parts) return vmafx::look::Parts{};
  const std::span begins(stream->parts, stream->n_parts);
  std::vector<vmafx::look::Break> breaks;
  for (const VmafxBreak& given : std::span(stream->breaks, stream->n_breaks))
    breaks.push_back({given.pair, given.size});
  std::vector<vmafx::look::PairFit> ends;
  for (const VmafxPairFit& given : std::span(stream->ends, stream->n_ends))
    ends.push_back({.frame = given.pair, .gain = given.gain, .offset = given.offset, .left = given.left});
  VMAFX_ASSIGN(auto brief, findings_of(stream->brief, stream->n_brief));
  for (vmafx::look::Finding& finding : brief) finding.brief = true;
  return vmafx::look::Parts{.begins = {begins.begin(), begins.end()},
                            .end = ends.empty() ? 0 : ends.back().frame + 1,
                            .breaks = vmafx::look::join_breaks(breaks, ends, begins.subspan(1)),
                            .brief = std::move(brief)};
}

/* The doubts that the findings of a stream, or of its parts, leave. */
StatusOr<std::vector<vmafx::PictureDoubt>> picture_doubts_of(const VmafxReportStream* stream) {
  std::vector<vmafx::PictureDoubt> doubts;
  if (!stream) return doubts;
  VMAFX_ASSIGN(auto findings, findings_of(stream->findings, stream->n_findings));
  VMAFX_ASSIGN(const auto parts, parts_of(stream));
  for (vmafx::look::Finding& finding : vmafx::look::join(std::move(findings), parts))
    if (const vmafx::look::ToldFinding told(std::move(finding)); told.is_doubt()) doubts.push_back(told.words());
  return doubts;
}

/* The run itself is unknown: only what the scores are. */
std::optional<vmafx::Json> run_json(std::span<const vmafx::ScoreFacts> facts) {
  if (facts.empty()) return std::nullopt;
  return vmafx::Json::object({{"scores", vmafx::scores_json(facts)}});
}

Status write(const VmafxReport& report, vmafx::Log& log) {
  VMAFX_TRY(check(report));
  const int n_subsample = std::max(report.n_subsample, 1);
  VMAFX_ASSIGN(auto files, vmafx::open_reports({.path = report.path,
                                                .format = text(report.format),
                                                .score_format = text(report.score_fmt),
                                                .n_subsample = n_subsample,
                                                .overwrite = report.overwrite != 0},
                                               log));
  vmafx::ReportFile& file = files.front();
  if (file.format() == vmafx::ReportFormat::kNdjson)
    return error(EINVAL, "ndjson is written while frames are scored: use xml, json, csv or sub");
  const vmafx::ScoreTable table = table_of(report);
  VMAFX_ASSIGN(auto windows, windows_of(report, table, log));
  VMAFX_ASSIGN(const auto facts, facts_of(table, report.stream));
  std::optional<vmafx::Pairing> pairing;
  if (report.stream && report.stream->pairing) {
    VMAFX_ASSIGN(pairing, vmafx::read_pairing(*report.stream->pairing));
  }
  VMAFX_ASSIGN(const auto picture_doubts, picture_doubts_of(report.stream));
  const vmafx::EncodeReport encode = {table,
                                      nullptr,
                                      {.version = vmafx::library_version(),
                                       .width = report.width,
                                       .height = report.height,
                                       .fps = report.fps,
                                       .partial = pairing && pairing->counts.cut_short,
                                       .windows = std::move(windows),
                                       .run = run_json(facts),
                                       .pairing = pairing,
                                       .picture_doubts = picture_doubts}};
  VMAFX_TRY(file.write({&encode, 1}));
  VMAFX_TRY(file.commit());
  if (pairing) vmafx::log_pairing(*pairing, log);
  for (const std::string& sentence : vmafx::doubt_sentences(picture_doubts)) log.warning(sentence);
  return {};
}

/* -- Pooling ------------------------------------------------------------------------------------------------------- */

Status pool(const char* key, const char* method, std::span<const double> values, double* pooled) {
  const vmafx::ParsedPool parsed = vmafx::parse_pool(text(method));
  if (!parsed.known)
    return error(EINVAL, "cannot pool by %s: use mean, min, max, harmonic_mean, median, stddev or pN",
                 text(method).c_str());
  const auto score = vmafx::pool_column(parsed.pool, vmafx::pool_values(values, key ? mean_of(key) : nullptr));
  if (!score) return error(EDOM, "there are no scores to pool");
  *pooled = *score;
  return {};
}

/* -- Values of a whole stream -------------------------------------------------------------------------------------- */

constexpr int kMostPlanes = 3;

vmafx::StreamSums read_sums(const VmafxStreamSums& given) {
  return {given.plane, given.frames, given.samples, given.peak, given.whole, given.fraction};
}

Status check_sums(const VmafxStreamSums& given) {
  VMAFX_TRY(vmafx::check_reserved(given, "VmafxStreamSums"));
  VMAFX_TRY(vmafx::check_texts(&given.metric, 1, "metrics"));
  const bool is_plane = given.plane >= 0 && given.plane < kMostPlanes && given.samples && given.peak;
  const bool is_sum = given.frames && !(given.fraction >> vmafx::StreamSums::kFractionBits);
  return is_plane && is_sum ? Status() : error(EINVAL, "the sums of %s are not those of frames", given.metric);
}

Status stream_value(std::span<const VmafxStreamSums> sums, double* value) {
  if (sums.empty()) return error(EINVAL, "there are no sums");
  std::vector<vmafx::StreamSums> planes;
  for (const VmafxStreamSums& given : sums) {
    VMAFX_TRY(check_sums(given));
    if (std::string_view(given.metric) != sums.front().metric)
      return error(EINVAL, "sums of %s and of %s make no value", sums.front().metric, given.metric);
    const vmafx::StreamSums read = read_sums(given);
    const auto plane = std::ranges::find(planes, read.plane, &vmafx::StreamSums::plane);
    if (plane == planes.end()) planes.push_back(read);
    else VMAFX_TRY(plane->add(read));
  }
  const vmafx::ExtractorInfo* const metric = vmafx::find_extractor(sums.front().metric).info;
  if (!metric || !metric->stream_value) return error(EINVAL, "%s has no values of a whole stream", sums.front().metric);
  *value = vmafx::least_value(metric->stream_value, planes);
  return {};
}

}  // namespace

int vmafx_stream_value(const VmafxStreamSums* sums, size_t n, double* value) {
  if (!value || !sums) return -EINVAL;
  return vmafx::code_of(vmafx::guarded([&] { return stream_value({sums, n}, value); }));
}

int vmafx_predictor_open(VmafxPredictor** out, const char* model, VmafxLogCallback log, void* log_cookie) {
  if (!out) return -EINVAL;
  *out = nullptr;
  if (!model) return -EINVAL;
  const LogGiven given = {log, log_cookie};
  return vmafx::told(given, [&]() -> Status {
    vmafx::Log to(vmafx::sink_of(given));
    VMAFX_ASSIGN(auto predictor, make_predictor(model, to));
    *out = predictor.release();
    return {};
  });
}

void vmafx_predictor_close(VmafxPredictor** predictor) {
  if (!predictor) return;
  delete *predictor;
  *predictor = nullptr;
}

const char* vmafx_predictor_feature(const VmafxPredictor* predictor) {
  return predictor ? predictor->feature.c_str() : nullptr;
}

const char* vmafx_predictor_input(const VmafxPredictor* predictor, int i) {
  return predictor ? text_at(predictor->inputs, i) : nullptr;
}

const char* vmafx_predictor_output(const VmafxPredictor* predictor, int i) {
  return predictor ? text_at(predictor->model().score_keys(), i) : nullptr;
}

int vmafx_predict(const VmafxPredictor* predictor, const double* inputs, double* outputs) {
  if (!predictor || !inputs || !outputs) return -EINVAL;
  const vmafx::Model& model = predictor->model();
  return vmafx::code_of(vmafx::guarded(
      [&] { return model.predict({inputs, model.features().size()}, {outputs, model.score_keys().size()}); }));
}

int vmafx_write_report(const VmafxReport* report) {
  if (!report) return -EINVAL;
  return vmafx::told(*report, [&] {
    vmafx::Log log(vmafx::sink_of(*report));
    return write(*report, log);
  });
}

int vmafx_pool_key(const char* key, const char* method, const double* values, size_t n, double* pooled) {
  if (!pooled || (n && !values)) return -EINVAL;
  return vmafx::code_of(vmafx::guarded([&] { return pool(key, method, {values, n}, pooled); }));
}

int vmafx_pool(const char* method, const double* values, size_t n, double* pooled) {
  return vmafx_pool_key(nullptr, method, values, n, pooled);
}

int vmafx_known_score(int i, VmafxScoreFacts* facts) {
  const auto known = vmafx::known_scores();
  if (!facts || i < 0 || static_cast<size_t>(i) >= known.size()) return -EINVAL;
  *facts = facts_of(known[static_cast<size_t>(i)]);
  return 0;
}
