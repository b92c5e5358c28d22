#include "engine/session_gpu.h"

#include <algorithm>
#include <utility>

#include "base/cpu.h"
#include "base/hash.h"

namespace vmafx {

namespace {

/* Tells plans apart that take different times. */
std::string name_costs(const Plan& plan, const VideoFormat& format, int encodes, int threads) {
  std::string text = format_text("%s %dx%d %d %d, %d encodes, %d threads", cpu_level().c_str(), format.w, format.h,
                                 format.bpc, static_cast<int>(format.chroma), encodes, threads);
  for (const PlannedExtraction& extraction : plan.extractions()) text += "\n" + plan.key(extraction);
  Hash hash;
  hash.add(text.data(), text.size());
  return Hash::text(hash.value());
}

}  // namespace

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
  waiting_ = DeviceOpening::Request{
      .device = request_.device, .queue = std::move(queue), .beside_stream = !spare_pictures.has_value()};
  pipeline.expect_device_queue(true);
  auto delay = opening_delay();
  if (!delay.ok()) return give_up(delay.status(), pipeline);
  if (!delay.value() && !spare_pictures) {
    choice_.emplace(name_costs(plan, format, request_.encodes, pipeline.threads()), request_.device.name);
    return {};
  }
  waiting_->delay = delay.value().value_or(std::chrono::milliseconds(0));
  return begin_opening(pipeline);
}

Status SessionGpu::begin_opening(Pipeline& pipeline) {
  if (choice_) waiting_->turn = choice_->turn();
  auto opening = DeviceOpening::start(std::move(*std::exchange(waiting_, std::nullopt)), log_);
  if (!opening.ok()) return give_up(opening.status(), pipeline);
  opening_ = std::move(opening.value());
  opening_began_ = std::chrono::steady_clock::now();
  return {};
}

Status SessionGpu::consider(const StreamState& stream, Pipeline& pipeline) {
  if (waiting_ && choice_ && choice_->opens(stream)) VMAFX_TRY(begin_opening(pipeline));
  if (opening_) opening_->stream_began();
  return {};
}

void SessionGpu::let_wait(const StreamState& stream, bool ends, Pipeline& pipeline) {
  if (!choice_ || !opening_) return;
  const std::chrono::duration<double> lasts = std::chrono::steady_clock::now() - opening_began_;
  pipeline.hold_cpu(choice_->leaves_to_gpu(stream, lasts.count(), ends));
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

void SessionGpu::wait() {
  if (opening_) (void)opening_->wait();
}

std::optional<Status> SessionGpu::outcome() const { return opening_ ? opening_->outcome() : std::nullopt; }

StatusOr<bool> SessionGpu::take_over(const StreamState& stream, Pipeline& pipeline) {
  const Status joined = join(pipeline);
  if (!joined.ok()) {
    VMAFX_TRY(give_up(joined, pipeline));
    return false;
  }
  if (choice_) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - opening_began_;
    choice_->opened(took.count(), backend_.device->pci_address);
    choice_->measured_cpu(stream);
  }
  opening_.reset();
  pipeline.expect_device_queue(false);
  pipeline.hold_cpu(false);
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

void SessionGpu::share(const StreamState& stream, Pipeline& pipeline) {
  if (!choice_ || !device()) return;
  pipeline.give_cpu(choice_->pairs_for_cpu(stream, pipeline.fewest_for_cpu(), pipeline.room()));
}

Status SessionGpu::give_up(const Status& reason, Pipeline& pipeline) {
  waiting_.reset();
  opening_.reset();
  pipeline.expect_device_queue(false);
  pipeline.hold_cpu(false);
  return give_up_device(request_.backend, reason, backend_, log_);
}

void SessionGpu::end_stream(const StreamState& stream) {
  if (choice_) {
    if (comes_later()) choice_->measured_cpu(stream);
    else if (device()) choice_->measured_gpu(stream);
    choice_->ended(stream);
    (void)guarded([&]() -> Status {
      choice_->keep();
      return {};
    });
  }
  if (std::exchange(waiting_, std::nullopt)) {
    backend_.fallback = "the stream ended before opening a GPU would have paid";
    log_.verbose("backend=auto ran on the CPU: " + backend_.fallback);
  }
  if (!opening_) return;
  opening_->wait_for_search();
  const std::optional<Status> outcome = opening_->outcome();
  opening_.reset();
  if (outcome && !outcome->ok()) return (void)give_up_device(request_.backend, *outcome, backend_, log_);
  backend_.fallback = "the stream ended before the GPU was open";
  log_.verbose("backend=auto ran on the CPU: " + backend_.fallback);
}

}  // namespace vmafx
