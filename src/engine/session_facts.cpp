/* Session: the facts that reports and the log tell besides scores. */
#include <algorithm>
#include <utility>

#include "engine/session.h"
#include "engine/version.h"

namespace vmafx {
namespace {

constexpr const char* kChromaNames[] = {"4:0:0", "4:2:0", "4:2:2", "4:4:4"};  // in the order of Chroma

}  // namespace

Status Session::write_reports(bool partial) {
  return reports_.write(encodes_,
                        [=, this](const Encode& encode, bool of_all) { return report_data(encode, of_all, partial); });
}

ReportData Session::report_data(const Encode& encode, bool of_all, bool partial) const {
  const bool cut = partial || (encode.pairing() && encode.pairing()->counts.cut_short);
  return {.version = library_version(),
          .width = format_.w,
          .height = format_.h,
          .fps = frames_per_second(),
          .partial = cut,
          .windows = encode.windows(),
          .run = run_json(library_version(), run_facts(of_all ? nullptr : &encode)),
          .range = range_facts(encode, cut),
          .pairing = encode.pairing(),
          .picture_doubts = params_.reports_findings() ? encode.picture_doubts() : std::vector<PictureDoubt>()};
}

std::optional<RangeFacts> Session::range_facts(const Encode& encode, bool partial) const {
  auto facts = encode.range_facts(partial);
  if (!facts) return facts;
  const Color& color = format_.color;
  facts->format = Json::object({{"width", format_.w},
                                {"height", format_.h},
                                {"bits", format_.bpc},
                                {"chroma", std::string(kChromaNames[static_cast<size_t>(format_.chroma)])},
                                {"matrix", color.matrix},
                                {"transfer", color.transfer},
                                {"primaries", color.primaries},
                                {"full_range", color.range == Color::Range::kFull},
                                {"chroma_location", static_cast<int>(color.chroma_location)}});
  Json hashes = Json::array();
  for (const PlannedModel& planned : plan_.models()) hashes.add(planned.model.sha256());
  if (plan_.any(kFps)) facts->format.add("fps", format_.fps);
  facts->options = score_options();
  facts->options.add("model_files", std::move(hashes));
  Json masks = Json::array();
  for (const auto& mask : masks_)
    if (mask) masks.add(mask->sha256);
  if (!params_.roi.empty()) facts->options.add("roi_masks", std::move(masks));
  return facts;
}

Json Session::score_options() const {
  Json options = Json::object({{"model", params_.model},
                               {"feature", params_.feature},
                               {"ignore_unknown", params_.ignore_unknown},
                               {"n_subsample", params_.n_subsample},
                               {"pool", params_.pool},
                               {"window", params_.window}});
  if (!params_.convert.empty()) options.add("convert", params_.convert);
  if (!params_.roi.empty()) options.add("roi", params_.roi);
  return options;
}

/* nullopt: pictures are scored as they are. */
std::optional<Json> Session::conversion_facts() const {
  if (!color_target_) return std::nullopt;
  const Color& color = format_.color;
  const bool maps = recoloring_.maps_tones();
  const ColorRules& rules = color_target_->rules;
  Json facts = Json::object({{"target", color_target_->name},
                             {"matrix", matrix_name(color.matrix)},
                             {"transfer", transfer_name(color.transfer)},
                             {"primaries", primaries_name(color.primaries)},
                             {"range", color.range == Color::Range::kFull ? "full" : "limited"},
                             {"bits", format_.bpc},
                             {"chroma", kChromaNames[static_cast<size_t>(format_.chroma)]},
                             {"inputs", recoloring_.text()},
                             {"sdr_white", rules.white}});
  if (maps)
    facts.add("tone_mapping",
              format_text("BT.2390 EETF, %g to %g cd/m2, reference white of BT.2408", rules.peak, rules.white));
  return facts;
}

/* The facts of one encode; nullptr: of all encodes. */
RunFacts Session::run_facts(const Encode* encode) const {
  FramesMoved ref{pipeline_.counts(hip::Side::kRef), ref_reader_.downloaded()};
  FramesMoved dist{pipeline_.counts(hip::Side::kDist)};
  for (const PictureReader& reader : dist_readers_) dist.downloaded += reader.downloaded();
  RunFacts run{.fallback = gpu_.fallback(),
               .threads = pipeline_.threads(),
               .n_subsample = params_.n_subsample,
               .ref = ref,
               .dist = dist,
               .in_gpu_memory = spare_pictures() || (reference_ && reference_->device_budget()),
               .takeover = takeover(encode),
               .handover = handover_,
               .verify = params_.verify,
               .verification = pipeline_.verification(),
               .conversion = conversion_facts(),
               .scores = plan_.score_facts()};
  const bool ended_before =
      encode && run.takeover == encode->number_of(encode->submitted()) && pipeline_.given_to_device() == 0;
  if (ended_before) run.takeover.reset();
  for (const PlannedModel& planned : plan_.models())
    run.models.push_back({planned.model.name(), planned.version, planned.model.sha256()});
  for (const PlannedExtractor& planned : plan_.extractors())
    if (planned.is_metric())
      run.metrics.push_back({planned.name(), !ended_before && pipeline_.on_device(planned.extraction)});
  if (params_.report_times) run.options = score_options();  // programs made for libvmaf get neither
  if (gpu_.device()) run.device = device_name(*gpu_.device());
  return run;
}

double Session::frames_per_second() const {
  const double seconds = std::chrono::duration<double>(ended_ - started_).count();
  return seconds > 0 ? static_cast<double>(submitted_) / seconds : 0;
}

}  // namespace vmafx
