#include "engine/session_gpu.h"

#include <algorithm>
#include <utility>

namespace vmafx {

Status SessionGpu::open(bool at_once) {
  VMAFX_ASSIGN(backend_, open_backend(request_.backend, request_.device, at_once, log_));
  return {};
}

Status SessionGpu::start(const Plan& plan, const VideoFormat& format, std::optional<uint64_t> spare_pictures,
                         const Recolorers& recolorers, Pipeline& pipeline) {
  if (!backend_.comes_later) return add_queue(plan, format, spare_pictures, recolorers, pipeline);
  VMAFX_ASSIGN(DeviceExtractors made, plan.make_device_extractors(format));
  if (std::ranges::none_of(made.of_plan, [](const auto& extractor) { return extractor != nullptr; })) return {};
  kept_by_cpu_ = std::move(made.kept);
  DeviceQueueRequest queue{std::move(made.of_plan), format, spare_pictures, request_.encodes, recolorers};
  auto opening = DeviceOpening::start(
      {.device = request_.device, .queue = std::move(queue), .beside_stream = !spare_pictures.has_value()}, log_);
  if (!opening.ok()) return give_up(opening.status(), pipeline);
  opening_ = std::move(opening.value());
  pipeline.expect_device_queue(true);
  return {};
}

/* A queue that does not fit the GPU's memory counts as a GPU that failed to open. */
Status SessionGpu::add_queue(const Plan& plan, const VideoFormat& format, std::optional<uint64_t> spare_pictures,
                             const Recolorers& recolorers, Pipeline& pipeline) {
  const bool wanted = std::ranges::any_of(
      plan.extractions(), [&](const PlannedExtraction& extraction) { return plan.maker(extraction).device_twin(); });
  if (!backend_.device || !wanted) return {};
  const Status status =
      pipeline.add_device_queue(*backend_.device, format, spare_pictures, request_.verify, recolorers);
  return status.ok() ? status : give_up(status, pipeline);
}

void SessionGpu::stream_began() {
  if (opening_) opening_->stream_began();
}

void SessionGpu::wait() {
  if (opening_) (void)opening_->wait();
}

std::optional<Status> SessionGpu::outcome() const { return opening_ ? opening_->outcome() : std::nullopt; }

StatusOr<bool> SessionGpu::take_over(Pipeline& pipeline) {
  const Status joined = join(pipeline);
  if (!joined.ok()) {
    VMAFX_TRY(give_up(joined, pipeline));
    return false;
  }
  opening_.reset();
  pipeline.expect_device_queue(false);
  for (const std::string& line : kept_by_cpu_) log_.info(line);
  return true;
}

Status SessionGpu::join(Pipeline& pipeline) {
  VMAFX_ASSIGN(OpenedGpu gpu, opening_->take());
  std::vector<const Extractor*> extractors;
  for (const auto& extractor : gpu.extractors) extractors.push_back(extractor.get());
  VMAFX_TRY(pipeline.add_device_queue(std::move(gpu.queue), std::move(extractors), request_.verify));
  device_extractors_ = std::move(gpu.extractors);
  backend_ = {.listening = std::move(gpu.listening), .device = std::move(gpu.device), .preferred = Placement::kDevice};
  return {};
}

Status SessionGpu::give_up(const Status& reason, Pipeline& pipeline) {
  opening_.reset();
  pipeline.expect_device_queue(false);
  return give_up_device(request_.backend, reason, backend_, log_);
}

void SessionGpu::end_stream() {
  if (!opening_) return;
  opening_->wait_for_search();
  const std::optional<Status> outcome = opening_->outcome();
  opening_.reset();
  if (outcome && !outcome->ok()) return (void)give_up_device(request_.backend, *outcome, backend_, log_);
  backend_.fallback = "the stream ended before the GPU was open";
  log_.verbose("backend=auto ran on the CPU: " + backend_.fallback);
}

}  // namespace vmafx
