#include "engine/run_facts.h"

#include "base/cpu.h"

namespace vmafx {
namespace {

const char* backend_of(const RunFacts::Metric& metric) { return metric.on_device ? "hip" : "cpu"; }

void log_verification(const RunFacts& run, Log& log) {
  const Verification& result = run.verification;
  if (!result.frames) return;
  const std::string what = format_text("verify=%d: the largest difference between GPU and CPU in %lld frames is %g",
                                       run.verify, static_cast<long long>(result.frames), result.largest_difference);
  if (result.largest_difference > 0) log.warning(what);
  else log.info(what);
}

std::string counts_text(const char* role, const FramesMoved& counts) {
  return format_text("%s: %lld imported, %lld uploaded, %lld downloaded", role, static_cast<long long>(counts.imported),
                     static_cast<long long>(counts.uploaded), static_cast<long long>(counts.downloaded));
}

Json counts_json(const FramesMoved& counts) {
  return Json::object(
      {{"imported", counts.imported}, {"uploaded", counts.uploaded}, {"downloaded", counts.downloaded}});
}

}  // namespace

void log_beginning(const RunFacts& run, Log& log) {
  std::string where;
  for (const RunFacts::Metric& metric : run.metrics)
    where += (where.empty() ? "" : ", ") + metric.name + " on " + backend_of(metric);
  where += format_text("; CPU code %s, %d threads", cpu_level().c_str(), run.threads);
  if (run.takeover)
    where = format_text("the GPU takes over at frame %lld: ", static_cast<long long>(*run.takeover)) + where;
  if (run.device.empty()) log.verbose(where);
  else log.info(where + "; GPU " + run.device);
}

void log_end(const RunFacts& run, Log& log) {
  log_verification(run, log);
  if (run.in_gpu_memory)
    log.info("frames: " + counts_text("reference", run.ref) + "; " + counts_text("distorted", run.dist));
}

Json run_json(const std::string& version, const RunFacts& run) {
  Json models = Json::object(), hashes = Json::object(), backends = Json::object();
  for (const RunFacts::Model& model : run.models) models.add(model.key, model.version);
  for (const RunFacts::Model& model : run.models) hashes.add(model.key, model.sha256);
  for (const RunFacts::Metric& metric : run.metrics) backends.add(metric.name, backend_of(metric));
  Json ours = Json::object(
      {{"version", version},
       {"models", std::move(models)},
       {"backend", std::move(backends)},
       {"device", run.device.empty() ? Json() : Json(run.device)},
       {"cpu", cpu_level()},
       {"threads", run.threads},
       {"frames", Json::object({{"reference", counts_json(run.ref)}, {"distorted", counts_json(run.dist)}})},
       {"n_subsample", run.n_subsample}});
  if (run.options) ours.add("model_sha256", std::move(hashes)), ours.add("options", *run.options);
  if (run.conversion) ours.add("conversion", *run.conversion);
  if (!run.fallback.empty()) ours.add("fallback", run.fallback);
  if (run.takeover) ours.add("takeover", Json::object({{"frame", *run.takeover}}));
  if (run.handover)
    ours.add("handover", Json::object({{"frame", run.handover->frame}, {"reason", run.handover->reason.message()}}));
  if (run.verification.frames)
    ours.add("verification", Json::object({{"frames", run.verification.frames},
                                           {"largest_difference", run.verification.largest_difference}}));
  if (!run.scores.empty()) ours.add("scores", scores_json(run.scores));
  return ours;
}

}  // namespace vmafx
