/* Session: taking over by a GPU in mid-stream, and by the CPU where the GPU fails. */
#include <algorithm>
#include <cerrno>

#include "engine/session.h"

namespace vmafx {

/* Frames in a GPU's memory need the GPU, so it must be open, or known not to open, before the first one. */
Status Session::start_gpu() {
  const std::optional<uint64_t> spare = spare_pictures();
  VMAFX_TRY(gpu_.start(plan_, format_, spare, recoloring_.recolorers(), pipeline_));
  if (spare) {
    gpu_.wait();
    VMAFX_TRY(look_at_gpu());
  }
  if (takeover_.empty()) log_beginning(run_facts(), log_);
  return {};
}

/* The pairs of the whole stream, if anybody knows. */
std::optional<int64_t> Session::expected_pairs() const {
  if (params_.expected_frames > 0) return params_.expected_frames;
  if (reference_) return reference_->frames();
  return range_.pairs();
}

StreamState Session::stream_state() const {
  const int64_t seen = clock_.pairs_submitted();
  auto expected = expected_pairs();
  if (expected) *expected = std::max<int64_t>(0, *expected - submitted_to_cpu_);
  return {.seen = seen,
          .finished = std::max<int64_t>(0, seen - static_cast<int64_t>(pipeline_.in_flight())),
          .before = submitted_to_cpu_,
          .expected = expected,
          .elapsed = clock_.elapsed(),
          .source_pair = clock_.source_pair(),
          .worker_seconds = pipeline_.worker_seconds(),
          .busy = clock_.busy(processors_),
          .threads = pipeline_.threads(),
          .processors = processors_};
}

/* Has the GPU opened beside the stream once that pays, and take over once it is open; says so once if it does not
 * open. At the end of the stream it takes over only what the CPU has not begun. */
Status Session::look_at_gpu() {
  if (!gpu_.comes_later()) return {};
  if (!ends_) VMAFX_TRY(gpu_.consider(stream_state(), pipeline_));
  gpu_.let_wait(stream_state(), ends_, pipeline_);
  if (ends_ && !pipeline_.has_waiting()) return {};
  const std::optional<Status> outcome = gpu_.outcome();
  if (!outcome) return {};
  if (!outcome->ok()) return gpu_.give_up(*outcome, pipeline_);
  VMAFX_ASSIGN(const bool took_over, gpu_.take_over(stream_state(), pipeline_));
  if (!took_over) return {};
  submitted_to_cpu_ = clock_.pairs_submitted();
  clock_.restart();
  for (const auto& encode : encodes_) takeover_.push_back(encode->number_of(encode->submitted()));
  log_beginning(run_facts(), log_);
  return {};
}

/* Says once that the GPU failed; without `fallback` that ends the session. */
Status Session::check_device() {
  VMAFX_TRY(pipeline_.failure());
  if (handover_) return {};
  handover_ = pipeline_.handover();
  if (!handover_) return {};
  handover_->frame = encodes_[static_cast<size_t>(handover_->encode)]->number_of(handover_->frame);
  const std::string what = format_text("the GPU failed at frame %lld: %s", static_cast<long long>(handover_->frame),
                                       handover_->reason.message().c_str());
  if (!params_.fallback) return error(EIO, "%s (with fallback=1 the CPU would take over)", what.c_str());
  log_.warning(what + "; the CPU scores from there on");
  if (ref_reader_.is_importing()) VMAFX_TRY(ref_reader_.stop_importing("the CPU scores", true));
  for (PictureReader& reader : dist_readers_)
    if (reader.is_importing()) VMAFX_TRY(reader.stop_importing("the CPU scores", true));
  return {};
}

/* The first frame scored on the GPU, if the CPU scored some before; without an encode, the latest of all. */
std::optional<int64_t> Session::takeover(const Encode* encode) const {
  if (takeover_.empty()) return std::nullopt;
  const int64_t frame = encode ? takeover_[static_cast<size_t>(encode->number())] : std::ranges::max(takeover_);
  return frame > 0 ? std::optional(frame) : std::nullopt;
}

}  // namespace vmafx
