#include "engine/pipeline.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace vmafx {
namespace {

/* How often who waits for a frame sees whether the lane still lives. */
constexpr std::chrono::milliseconds kLaneCheck{500};

Picture planes_of(const Pipeline::Held& held) {
  const HostPicture* host = held ? held->in_host() : nullptr;
  return host ? host->planes : Picture();
}

}  // namespace

double largest_difference(const std::byte* a, const std::byte* b, size_t bytes) {
  double largest = 0;
  for (size_t at = 0; at < bytes; at += sizeof(int64_t)) {
    int64_t x, y;
    std::memcpy(&x, a + at, sizeof x);
    std::memcpy(&y, b + at, sizeof y);
    if (x == y) continue;
    /* As a word: doubles near 2^53 and above would be equal that are one apart. */
    const double apart =
        static_cast<double>(static_cast<uint64_t>(std::max(x, y)) - static_cast<uint64_t>(std::min(x, y)));
    largest = std::max(largest, apart / std::max(std::abs(static_cast<double>(x)), std::abs(static_cast<double>(y))));
  }
  return largest;
}

Pipeline::~Pipeline() {
  FinishedFrame finished;
  while (take(true, &finished)) continue;
  if (lane_ && lane_->is_abandoned()) [[maybe_unused]]
    const HipLane* kept_by_its_thread = lane_.release();
}

Status Pipeline::start(std::vector<Extractor*> extractors, int threads, int frames_ahead) {
  extractors_ = std::move(extractors);
  size_t scratch_bytes = 0;
  for (const Extractor* extractor : extractors_) {
    sums_offset_.push_back(sums_bytes_);
    sums_bytes_ += round_to_lines(extractor->sums_bytes());
    scratch_bytes = std::max(scratch_bytes, extractor->scratch_bytes());
    const Reads reads = extractor->reads();
    if (reads.ref) history_[0] = std::max(history_[0], reads.history);
    if (reads.dist) history_[1] = std::max(history_[1], reads.history);
  }
  frames_ahead_ = frames_ahead;
  make_slots(threads + frames_ahead);
  for (int i = 0; i < threads; i++) scratch_.push_back(allocate_aligned(scratch_bytes));
  return workers_.start(threads);
}

Status Pipeline::add_lane(const hip::OpenedDevice& device, const VideoFormat& format, bool surfaces, int verify) {
  std::vector<Extractor*> with_kernels;
  std::ranges::copy_if(extractors_, std::back_inserter(with_kernels), &Extractor::device_twin);
  VMAFX_ASSIGN(lane_, HipLane::start(device, with_kernels, format, surfaces, workers_));
  verify_ = verify;
  const bool lane_alone = with_kernels.size() == extractors_.size() && !verify;
  make_slots(lane_->frames_in_flight() + frames_ahead_ + (lane_alone ? 0 : threads()));
  return {};
}

void Pipeline::make_slots(size_t count) {
  slots_ = std::vector<Slot>(count);
  for (Slot& slot : slots_) {
    slot.memory = allocate_aligned(sums_bytes_);
    if (verify_) slot.check = allocate_aligned(sums_bytes_);
    slot.sums.resize(extractors_.size());
    slot.tasks = make_tasks(slot, slot.memory.get());
    if (verify_) slot.checks = make_tasks(slot, slot.check.get());
    if (lane_) slot.lane_sums.resize(std::ranges::count_if(extractors_, &Extractor::device_twin));
    slot.lane.done = [this, &slot](const Status& status) { lane_done(slot, status); };
  }
  const MutexLock lock(mutex_);
  pending_.assign(count, 0);
}

std::vector<Pipeline::Task> Pipeline::make_tasks(Slot& slot, std::byte* memory) {
  std::vector<Task> tasks(extractors_.size());
  for (size_t i = 0; i < tasks.size(); i++) {
    tasks[i].pipeline = this;
    tasks[i].slot = &slot;
    tasks[i].extractor = i;
    tasks[i].sums = memory + sums_offset_[i];
  }
  return tasks;
}

void Pipeline::hold_pictures(Slot& slot, Held ref, Held dist) {
  slot.held[0][0] = std::move(ref);
  slot.held[1][0] = std::move(dist);
  for (int side = 0; side < 2; side++) {
    std::copy_n(earlier_[side], history_[side], slot.held[side] + 1);
    std::copy_n(slot.held[side], history_[side], earlier_[side]);
  }
  show_pictures(slot);
}

/* To the CPU twins. Pictures that were left on the device show nothing. */
void Pipeline::show_pictures(Slot& slot) {
  const auto& [ref, dist] = slot.held;
  slot.frames = {};
  slot.frames.index = slot.index;
  slot.frames.ref = planes_of(ref[0]);
  slot.frames.dist = planes_of(dist[0]);
  for (int i = 0; i < kMostHistory; i++) {
    slot.frames.earlier_ref[i] = planes_of(ref[1 + i]);
    slot.frames.earlier_dist[i] = planes_of(dist[1 + i]);
  }
}

/* No job reads a frame yet when some of its pictures were left on the device: then all metrics run there. */
Status Pipeline::bring_to_host(Slot& slot) {
  bool was_on_device = false;
  for (const auto& side : slot.held)
    for (const Held& held : side) {
      if (!held || !held->on_device()) continue;
      VMAFX_TRY(held->bring_to_host());
      was_on_device = true;
    }
  if (was_on_device) show_pictures(slot);
  return {};
}

void Pipeline::clear_sums(Slot& slot) {
  std::memset(slot.memory.get(), 0, sums_bytes_);
  if (slot.verified) std::memset(slot.check.get(), 0, sums_bytes_);
  auto lane_sums = slot.lane_sums.begin();
  for (size_t i = 0; i < extractors_.size(); i++) {
    std::byte* sums = runs(i, slot.scored) ? slot.tasks[i].sums : nullptr;
    slot.sums[i] = sums;
    if (on_device(i)) *lane_sums++ = sums;
  }
}

Status Pipeline::add(bool scored, Held ref, Held dist) {
  Slot& slot = slots_[next_ % slots_.size()];
  slot.index = static_cast<int64_t>(next_);
  slot.scored = scored;
  slot.verified = verify_ && scored && slot.index % verify_ == 0;
  hold_pictures(slot, std::move(ref), std::move(dist));
  clear_sums(slot);
  if (slot.verified) {
    if (Status status = guarded([&] { return bring_to_host(slot); }); !status.ok()) {
      let_go(slot);
      return status;
    }
  }

  next_++;
  {
    const MutexLock lock(mutex_);
    pending(slot) = 1;  // this function: nothing ends before all is on its way
  }
  for (size_t i = 0; i < extractors_.size(); i++) {
    if (!runs(i, scored)) continue;
    if (!on_device(i)) start_task(slot.tasks[i]);
    else if (slot.verified) start_task(slot.checks[i]);
  }
  if (std::ranges::any_of(slot.lane_sums, [](const std::byte* sums) { return sums; })) {
    {
      const MutexLock lock(mutex_);
      pending(slot)++;
    }
    slot.lane.scored = scored;
    slot.lane.ref = slot.held[0][0].get();
    slot.lane.dist = slot.held[1][0].get();
    slot.lane.sums = slot.lane_sums;
    lane_->add(slot.lane);
  }
  job_done(slot);
  return {};
}

void Pipeline::start_task(Task& task) noexcept {
  {
    const MutexLock lock(mutex_);
    pending(*task.slot)++;
  }
  workers_.add(task);
}

void Pipeline::run(Task& task, int worker) noexcept {
  Status status = guarded([&]() -> Status {
    extractors_[task.extractor]->extract(task.slot->frames, scratch_[worker].get(), task.sums);
    return {};
  });
  if (!status.ok()) fail(std::move(status));
  job_done(*task.slot);
}

void Pipeline::fail(Status status) noexcept {
  const MutexLock lock(mutex_);
  if (failure_.ok()) failure_ = std::move(status);
}

void Pipeline::let_go(Slot& slot) {
  for (auto& side : slot.held) std::ranges::fill(side, nullptr);
}

void Pipeline::job_done(Slot& slot) noexcept {
  {
    const MutexLock lock(mutex_);
    if (pending(slot) > 1) {
      pending(slot)--;
      return;
    }
  }
  let_go(slot);  // outside the lock, since that calls the application; nobody else looks at the slot any more
  {
    const MutexLock lock(mutex_);
    pending(slot) = 0;  // from here on the slot may be used again
    done_.notify_one();
  }
}

void Pipeline::lane_done(Slot& slot, const Status& status) noexcept {
  if (!status.ok()) {
    const bool in_host = slot.verified;  // and being read there
    Status handed_over = guarded([&] {
      {
        const MutexLock lock(mutex_);
        if (!handover_) handover_ = {slot.index, status};
        slot.verified = false;
      }
      return in_host ? Status() : bring_to_host(slot);
    });
    const bool can_be_scored = handed_over.ok();
    if (!can_be_scored) fail(std::move(handed_over));
    for (size_t i = 0; i < extractors_.size() && can_be_scored; i++)
      if (on_device(i) && runs(i, slot.scored)) start_task(slot.tasks[i]);
  }
  job_done(slot);
}

bool Pipeline::is_done(const Slot& slot, bool wait) {
  const MutexLock lock(mutex_);
  if (wait && pending(slot) > 0) done_.wait_for(mutex_, kLaneCheck);
  return pending(slot) == 0;
}

bool Pipeline::take(bool wait, FinishedFrame* finished) {
  if (empty()) return false;
  Slot& slot = slots_[oldest_ % slots_.size()];
  while (!is_done(slot, wait)) {
    if (!wait) return false;
    if (lane_) (void)lane_->is_abandoned();
  }
  if (slot.verified) compare(slot);
  oldest_++;
  *finished = {slot.index, slot.scored, slot.sums};
  return true;
}

void Pipeline::compare(const Slot& slot) {
  verification_.frames++;
  for (size_t i = 0; i < extractors_.size(); i++)
    if (on_device(i) && slot.sums[i])
      verification_.largest_difference =
          std::max(verification_.largest_difference,
                   largest_difference(slot.sums[i], slot.check.get() + sums_offset_[i], extractors_[i]->sums_bytes()));
}

Status Pipeline::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

std::optional<Handover> Pipeline::handover() const {
  const MutexLock lock(mutex_);
  return handover_;
}

}  // namespace vmafx
