#include "engine/pipeline.h"

#include <algorithm>
#include <cstring>

namespace vmafx {

Pipeline::~Pipeline() {
  FinishedFrame finished;
  while (take(true, &finished)) continue;
}

Status Pipeline::start(std::vector<const Extractor*> extractors, std::vector<bool> runs_always, int history, int threads,
                       int max_in_flight) {
  extractors_ = std::move(extractors);
  runs_always_ = std::move(runs_always);
  history_ = history;
  size_t scratch_bytes = 0;
  for (const Extractor* extractor : extractors_) {
    sums_offset_.push_back(sums_bytes_);
    sums_bytes_ += round_to_lines(extractor->sums_bytes());
    scratch_bytes = std::max(scratch_bytes, extractor->scratch_bytes());
  }
  slots_ = std::vector<Slot>(max_in_flight);
  for (Slot& slot : slots_) {
    slot.memory = allocate_aligned(sums_bytes_);
    slot.sums.resize(extractors_.size());
  }
  for (int i = 0; i < threads; i++) scratch_.push_back(allocate_aligned(scratch_bytes));
  return workers_.start(threads);
}

void Pipeline::add(bool scored, Held ref, Held dist) {
  Slot& slot = slots_[next_ % slots_.size()];
  slot.index = static_cast<int64_t>(next_++);
  slot.scored = scored;
  slot.frames = {};
  slot.frames.index = slot.index;
  slot.frames.ref = ref->planes();
  slot.frames.dist = dist->planes();
  for (int i = 0; i < history_; i++) {
    if (earlier_[i]) slot.frames.earlier_ref[i] = earlier_[i]->planes();
    slot.held[2 + i] = earlier_[i];
  }
  if (history_ > 1) earlier_[1] = earlier_[0];
  if (history_ > 0) earlier_[0] = ref;
  slot.held[0] = std::move(ref);
  slot.held[1] = std::move(dist);

  std::memset(slot.memory.get(), 0, sums_bytes_);
  int jobs = 0;
  for (size_t i = 0; i < extractors_.size(); i++) {
    slot.sums[i] = runs(i, scored) ? slot.memory.get() + sums_offset_[i] : nullptr;
    jobs += runs(i, scored);
  }
  {
    const std::lock_guard lock(mutex_);
    slot.pending = jobs;
  }
  if (jobs == 0) std::ranges::fill(slot.held, nullptr);
  for (size_t i = 0; i < extractors_.size(); i++)
    if (runs(i, scored)) workers_.add([this, &slot, i](int worker) { run(slot, i, worker); });
}

void Pipeline::run(Slot& slot, size_t extractor, int worker) {
  extractors_[extractor]->extract(slot.frames, scratch_[worker].get(), slot.memory.get() + sums_offset_[extractor]);
  Held let_go[4];  // released outside the lock, since that calls the application
  {
    const std::lock_guard lock(mutex_);
    if (slot.pending > 1) {
      slot.pending--;
      return;
    }
    std::ranges::move(slot.held, let_go);
  }
  std::ranges::fill(let_go, nullptr);
  {
    const std::lock_guard lock(mutex_);
    slot.pending = 0;  // from here on the slot may be used again
    done_.notify_one();
  }
}

bool Pipeline::take(bool wait, FinishedFrame* finished) {
  if (empty()) return false;
  Slot& slot = slots_[oldest_ % slots_.size()];
  {
    std::unique_lock lock(mutex_);
    if (wait) done_.wait(lock, [&] { return slot.pending == 0; });
    if (slot.pending > 0) return false;
  }
  oldest_++;
  *finished = {slot.index, slot.scored, slot.sums};
  return true;
}

}  // namespace vmafx
