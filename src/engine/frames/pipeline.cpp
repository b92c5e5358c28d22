#include "engine/frames/pipeline.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace vmafx {
namespace {

/* Most encodes in one task: the work that a task does once for all of them is then a small part of it. */
constexpr size_t kMostEncodesPerTask = 8;
constexpr size_t kFewestEncodesPerTask = 2;

/* Frames that a GPU which joined may finish, and nobody takes, while the CPU still has earlier ones; their sums take at
 * most so much memory. */
constexpr size_t kMostBehindCpu = 256, kMostBytesBehindCpu = 32 << 20;

/* How often take() checks that the GPU's thread is alive. */
constexpr std::chrono::milliseconds kQueueCheck{500};

}  // namespace

double largest_difference(const std::byte* a, const std::byte* b, size_t bytes) {
  double largest = 0;
  for (size_t at = 0; at < bytes; at += sizeof(int64_t)) {
    int64_t x, y;
    std::memcpy(&x, a + at, sizeof x);
    std::memcpy(&y, b + at, sizeof y);
    if (x == y) continue;
    /* Subtracts words: as doubles, words near 2^53 and above that differ by one would be equal. */
    const double apart =
        static_cast<double>(static_cast<uint64_t>(std::max(x, y)) - static_cast<uint64_t>(std::min(x, y)));
    largest = std::max(largest, apart / std::max(std::abs(static_cast<double>(x)), std::abs(static_cast<double>(y))));
  }
  return largest;
}

Pipeline::~Pipeline() {
  hold_cpu(false);
  FinishedFrame finished;
  while (take(true, &finished)) continue;
  if (queue_ && queue_->is_abandoned()) [[maybe_unused]]
    const DeviceQueue* kept_by_its_thread = queue_.release();
}

Status Pipeline::start(std::vector<const Extractor*> extractors, int threads, int frames_ahead, int encodes) {
  extractors_ = std::move(extractors);
  encodes_ = static_cast<size_t>(encodes);
  /* Many threads share the encodes of a picture, so that fewer pictures are in flight. */
  const size_t tasks_wanted = std::max<size_t>(1, static_cast<size_t>(threads) / kMostEncodesPerTask);
  encodes_per_task_ = std::clamp(encodes_ / tasks_wanted, kFewestEncodesPerTask, kMostEncodesPerTask);
  const size_t tasks = (encodes_ + encodes_per_task_ - 1) / encodes_per_task_;
  const int together = static_cast<int>(std::min(encodes_, encodes_per_task_));

  size_t scratch_bytes = 0;
  for (const Extractor* extractor : extractors_) {
    sums_offset_.push_back(sums_bytes_);
    sums_bytes_ += round_to_lines(extractor->sums_bytes());
    scratch_bytes = std::max(scratch_bytes, extractor->encodes_scratch_bytes(together));
  }
  history_.start(extractors_, encodes_);
  frames_ahead_ = frames_ahead;
  /* Frames come out in order: with many workers, some need other frames while the oldest one is scored. */
  const size_t in_hand = (static_cast<size_t>(threads) + tasks - 1) / tasks;
  make_ring(in_hand + in_hand / 4 + static_cast<size_t>(frames_ahead));
  for (int i = 0; i < threads; i++) scratch_.push_back(allocate_aligned(scratch_bytes));
  return workers_.start(threads);
}

Status Pipeline::add_device_queue(const hip::OpenedDevice& device, const VideoFormat& format,
                                  std::optional<uint64_t> spare_pictures, int verify, const Recolorers& recolorers) {
  std::vector<const Extractor*> with_kernels;
  std::ranges::copy_if(extractors_, std::back_inserter(with_kernels), &Extractor::device_twin);
  VMAFX_ASSIGN(auto queue, DeviceQueue::create(device, with_kernels, format, spare_pictures, static_cast<int>(encodes_),
                                               recolorers));
  return add_device_queue(std::move(queue), extractors_, verify);
}

Status Pipeline::add_device_queue(std::unique_ptr<DeviceQueue> queue, std::vector<const Extractor*> extractors,
                                  int verify) {
  VMAFX_TRY(queue->start(workers_));
  std::vector<const Extractor*> joined = extractors_;
  for (size_t i = 0; i < joined.size(); i++)
    if (extractors[i]) joined[i] = extractors[i];
  queue_ = std::move(queue);
  verify_ = verify;
  first_extractors_ = std::exchange(extractors_, std::move(joined));
  Status status = guarded([&]() -> Status {
    make_ring_of_device();
    return give_waiting_to_device();
  });
  if (status.ok()) return status;
  queue_.reset();
  verify_ = 0;
  extractors_ = std::exchange(first_extractors_, {});
  return status;
}

void Pipeline::make_ring_of_device() {
  const bool queue_alone = !verify_ && std::ranges::all_of(extractors_, &Extractor::device_twin);
  const size_t in_device_queue = (static_cast<size_t>(queue_->frames_in_flight()) + encodes_ - 1) / encodes_;
  const size_t count =
      in_device_queue + static_cast<size_t>(frames_ahead_) + (queue_alone ? 0 : static_cast<size_t>(threads()));
  keep_device_busy_ = count;
  most_unfinished_ = count + in_flight();
  make_ring(next_ == 0 ? count : most_unfinished_ + room_behind_cpu());
}

size_t Pipeline::room_behind_cpu() const {
  return std::min(kMostBehindCpu, kMostBytesBehindCpu / std::max<size_t>(1, sums_bytes_ * encodes_));
}

/* Makes the ring anew, with this many frames or more, around those that are in flight. Nothing has changed if there is
 * no memory. */
void Pipeline::make_ring(size_t count) {
  const size_t before = ring_.size();
  count = std::max(count, before);
  std::vector<std::unique_ptr<InFlight>> ring(count), idle;
  idle.reserve(count);
  for (size_t place = before; place < count; place++) idle.push_back(make_in_flight(place));
  if (queue_)
    for (const auto* all : {&ring_, &idle})
      for (const auto& in_flight : *all) prepare_for_device(*in_flight);
  {
    const MutexLock lock(mutex_);
    pending_.resize(count, 0);
  }
  for (size_t i = next_; i < oldest_ + before; i++) idle.push_back(std::move(ring_[i % before]));
  for (size_t i = oldest_; i < next_; i++) ring[i % count] = std::move(ring_[i % before]);
  for (size_t i = next_; i < oldest_ + count; i++) {
    ring[i % count] = std::move(idle.back());
    idle.pop_back();
  }
  ring_ = std::move(ring);
}

std::unique_ptr<InFlight> Pipeline::make_in_flight(size_t place) {
  auto made = std::make_unique<InFlight>();
  InFlight& in_flight = *made;
  in_flight.place = place;
  in_flight.on_device.resize(extractors_.size());
  in_flight.waiting.resize(extractors_.size());
  in_flight.memory = sums_.lend(allocate_aligned(sums_bytes_ * encodes_));
  for (std::vector<FrameSet>& frames : in_flight.frames) frames.resize(encodes_);
  in_flight.tasks = make_tasks(in_flight, false);
  in_flight.parts = std::vector<Part>(encodes_);
  for (size_t i = 0; i < encodes_; i++) {
    Part& part = in_flight.parts[i];
    part.sums.resize(extractors_.size());
    part.converted = history_.empty();
    part.queued.done = [this, &in_flight, i](const Status& status) { device_done(in_flight, i, status); };
  }
  return made;
}

void Pipeline::prepare_for_device(InFlight& in_flight) {
  for (Part& part : in_flight.parts)
    part.device_sums.assign(std::ranges::count_if(extractors_, &Extractor::device_twin), nullptr);
  if (!verify_) return;
  in_flight.check = allocate_aligned(sums_bytes_ * encodes_);
  in_flight.checks = make_tasks(in_flight, true);
}

std::vector<InFlight::Task> Pipeline::make_tasks(InFlight& in_flight, bool checks) {
  std::vector<Task> tasks(extractors_.size() * encodes_);
  for (size_t i = 0; i < tasks.size(); i++) {
    tasks[i].pipeline = this;
    tasks[i].in_flight = &in_flight;
    tasks[i].extractor = i / encodes_;
    tasks[i].checks = checks;
  }
  return tasks;
}

/* -- Jobs ---------------------------------------------------------------------------------------------------------- */

/* A metric that reads earlier frames finds them on the device only if this frame goes on with the pictures of those
 * before it. */
bool Pipeline::goes_to_device(size_t extractor, const InFlight& in_flight) const {
  if (!on_device(extractor) || in_flight.beside) return false;
  const Reads reads = extractors_[extractor]->reads();
  return (in_flight.goes_on || !reads.history) && (in_flight.conversions_go_on || !reads.converted);
}

/* Takes memory that nobody has any more for the sums of a frame whose own memory was lent. */
Status Pipeline::renew_memory(InFlight& in_flight) {
  return guarded([&]() -> Status {
    in_flight.memory = nullptr;
    std::optional<AlignedBytes> rests = sums_.take();
    in_flight.memory = sums_.lend(rests ? std::move(*rests) : allocate_aligned(sums_bytes_ * encodes_));
    return {};
  });
}

/* Begins the sums to which CPU twins add; the queue writes all of those that the GPU computes. */
void Pipeline::clear_sums(InFlight& in_flight) {
  if (in_flight.verified) std::memset(in_flight.check.get(), 0, sums_bytes_ * in_flight.count);
  for (size_t part = 0; part < in_flight.count; part++)
    for (size_t i = 0; i < extractors_.size(); i++) {
      std::byte* const sums = sums_at(*in_flight.memory, i, part);
      if (!in_flight.on_device[i]) std::memset(sums, 0, extractors_[i]->sums_bytes());
      in_flight.parts[part].sums[i] = runs(i, in_flight.parts[part].scored) ? sums : nullptr;
    }
}

/* Says where the queue is to leave the sums that the GPU computes. */
void Pipeline::show_sums_to_device(InFlight& in_flight) {
  for (size_t part = 0; part < in_flight.count; part++) {
    auto device_sums = in_flight.parts[part].device_sums.begin();
    for (size_t i = 0; i < extractors_.size(); i++) {
      if (!on_device(i)) continue;
      const bool computes = in_flight.on_device[i] && runs(i, in_flight.parts[part].scored);
      *device_sums++ = computes ? sums_at(*in_flight.memory, i, part) : nullptr;
    }
  }
}

/* Whether CPU twins read pictures of this frame now, those of kernels or of metrics that have none. */
bool Pipeline::is_read_in_host(const InFlight& in_flight) const {
  if (in_flight.verified) return true;
  return std::ranges::any_of(in_flight.on_device, [](char on_device) { return !on_device; });
}

Status Pipeline::add(Held ref, std::span<EncodeFrame> encodes) {
  InFlight& in_flight = in_ring(next_);
  in_flight.number = static_cast<int64_t>(next_);
  if (lends_sums_) VMAFX_TRY(renew_memory(in_flight));
  VMAFX_TRY(guarded([&]() -> Status {
    history_.start_conversions(ref, encodes);
    return {};
  }));
  history_.hold(in_flight, std::move(ref), encodes);
  in_flight.verified = verify_ && in_flight.scored && in_flight.number % verify_ == 0;
  in_flight.extractors = extractors_;
  in_flight.beside = for_cpu_;
  for (size_t i = 0; i < extractors_.size(); i++) in_flight.on_device[i] = goes_to_device(i, in_flight);
  clear_sums(in_flight);
  if (queue_) show_sums_to_device(in_flight);
  in_flight.in_host = is_read_in_host(in_flight);
  if (in_flight.in_host) {
    const Status status = guarded([&]() -> Status {
      for (size_t part = 0; part < in_flight.count; part++) VMAFX_TRY(in_flight.bring_to_host(part));
      return {};
    });
    if (!status.ok()) {
      in_flight.let_go();
      return status;
    }
  }

  next_++;
  {
    const MutexLock lock(mutex_);
    pending(in_flight) = 1;  // this function: the frame cannot end before all its jobs were started
    unfinished_++;
    if (in_flight.beside) on_cpu_++;
  }
  if (in_flight.beside) for_cpu_--, beside_gpu_++;
  start_twins(in_flight);
  start_device_queue(in_flight, false);
  job_done(in_flight);
  return {};
}

void Pipeline::start_twins(InFlight& in_flight) {
  for (size_t i = 0; i < extractors_.size(); i++) {
    if (in_flight.on_device[i]) {
      if (in_flight.verified) start_tasks(in_flight, in_flight.checks, i);
    } else if (!take_kept_sums(in_flight, i)) {
      start_tasks(in_flight, in_flight.tasks, i);
    }
  }
}

KeptSums::Pictures Pipeline::kept_pictures(const InFlight& in_flight, size_t part, size_t extractor) const {
  KeptSums::Pictures pictures{.ref = in_flight.ref.get()};
  for (int back = 0; back < in_flight.extractors[extractor]->reads().history; back++)
    pictures.earlier[back] = in_flight.parts[part].earlier_ref[back].get();
  return pictures;
}

/* Takes the sums of all parts, or of none: then they stay zero, as extractors expect. */
bool Pipeline::take_kept_sums(InFlight& in_flight, size_t extractor) const {
  const KeptSums* kept = kept_sums(extractor);
  if (!kept) return false;
  const size_t parts = parts_of(extractor, in_flight);
  size_t taken = 0;
  while (taken < parts &&
         kept->get(kept_pictures(in_flight, taken, extractor), sums_at(*in_flight.memory, extractor, taken)))
    taken++;
  if (taken == parts) return true;
  while (taken--) std::memset(sums_at(*in_flight.memory, extractor, taken), 0, extractors_[extractor]->sums_bytes());
  return false;
}

void Pipeline::keep_sums_of(const Task& task) const {
  KeptSums* kept = task.checks ? nullptr : kept_sums(task.extractor);
  for (size_t part = task.first; kept && part < task.end; part++)
    kept->put(kept_pictures(*task.in_flight, part, task.extractor),
              sums_at(*task.in_flight->memory, task.extractor, part));
}

void Pipeline::start_tasks(InFlight& in_flight, std::vector<Task>& tasks, size_t extractor) noexcept {
  const size_t parts = parts_of(extractor, in_flight);
  for (size_t first = 0, n = 0; first < parts; first += encodes_per_task_, n++)
    start_task(tasks[extractor * encodes_ + n], first, std::min(first + encodes_per_task_, parts));
}

void Pipeline::start_task(Task& task, size_t first, size_t end) noexcept {
  task.first = first;
  task.end = end;
  {
    const MutexLock lock(mutex_);
    pending(*task.in_flight)++;
  }
  workers_.add(task);
}

/* Gives the queue also frames of which it makes no sums, if later frames may look back on them: those that the CPU
 * scores beside it, too. */
void Pipeline::start_device_queue(InFlight& in_flight, bool even_without_sums) {
  if (!queue_ || in_flight.beside > history_.pairs_needed(extractors_)) return;
  Fifo<QueuedFrame> frames;
  int count = 0;
  for (size_t i = 0; i < in_flight.count; i++) {
    Part& part = in_flight.parts[i];
    const bool has_sums = std::ranges::any_of(part.device_sums, [](const std::byte* sums) { return sums; });
    if (in_flight.goes_on && in_flight.conversions_go_on && !has_sums && !even_without_sums && !in_flight.beside)
      continue;
    part.queued.leads = in_flight.beside;
    part.queued.encode = part.encode;
    part.queued.number = part.number;
    part.queued.scored = part.scored;
    part.queued.ref = in_flight.ref.get();
    part.queued.dist = part.dist[0].get();
    part.queued.sums = part.device_sums;
    part.queued.place = count++;
    frames.push_back(part.queued);
  }
  if (!count) return;
  if (!std::exchange(device_queue_began_, true)) start_leading_pairs();
  for (QueuedFrame* frame = frames.first(); frame; frame = frame->next) frame->of = count;
  {
    const MutexLock lock(mutex_);
    pending(in_flight) += count;
    in_device_queue_ += static_cast<size_t>(count);
  }
  queue_->add(frames);
}

void InFlight::Task::run(int worker) noexcept { pipeline->run(*this, worker); }

void Pipeline::run(Task& task, int worker) noexcept {
  Status status = guarded([&]() -> Status {
    extract(task, worker);
    keep_sums_of(task);
    return {};
  });
  if (!status.ok()) fail(std::move(status));
  job_done(*task.in_flight);
}

/* Extracts encodes together if the extractor sees the same pictures of the reference in all of them. */
void Pipeline::extract(const Task& task, int worker) const {
  const InFlight& in_flight = *task.in_flight;
  const Extractor& extractor = *in_flight.extractors[task.extractor];
  std::byte* const scratch = scratch_[static_cast<size_t>(worker)].get();
  const AlignedBytes& memory = task.checks ? in_flight.check : *in_flight.memory;
  void* sums[kMostEncodes] = {};
  for (size_t i = task.first; i < task.end; i++) sums[i - task.first] = sums_at(memory, task.extractor, i);
  if (const auto converting = history_.converting(task.extractor))
    return extract_converted(task, *converting, scratch, {sums, task.end - task.first});
  const Reads reads = extractor.reads();
  const std::span frames = std::span(in_flight.frames[reads.whole_chroma]).subspan(task.first, task.end - task.first);
  if (in_flight.one_history || !reads.history) return extractor.extract_encodes(frames, scratch, {sums, frames.size()});
  for (size_t i = 0; i < frames.size(); i++) extractor.extract(frames[i], scratch, sums[i]);
}

void Pipeline::extract_converted(const Task& task, size_t converting, std::byte* scratch,
                                 std::span<void* const> sums) const {
  const InFlight& in_flight = *task.in_flight;
  const Extractor& extractor = *in_flight.extractors[task.extractor];
  std::vector<FrameSet> frames;
  std::vector<std::vector<const std::byte*>> pictures;
  for (size_t i = task.first; i < task.end; i++) {
    const ConvertedHistory& converted = in_flight.parts[i].converted[converting];
    pictures.push_back(converted.ref.get());
    pictures.push_back(converted.dist.get());
    FrameSet& frame = frames.emplace_back(in_flight.frames[extractor.reads().whole_chroma][i]);
    frame.converted_ref = pictures[pictures.size() - 2];
    frame.converted_dist = pictures.back();
  }
  if (in_flight.one_conversion) return extractor.extract_encodes(frames, scratch, sums);
  for (size_t i = 0; i < frames.size(); i++) extractor.extract(frames[i], scratch, sums[i]);
}

void Pipeline::fail(Status status) noexcept {
  const MutexLock lock(mutex_);
  if (failure_.ok()) failure_ = std::move(status);
}

void Pipeline::job_done(InFlight& in_flight) noexcept {
  {
    const MutexLock lock(mutex_);
    if (pending(in_flight) > 1) {
      pending(in_flight)--;
      return;
    }
  }
  in_flight.let_go();  // outside the lock, since that calls the application; nobody else uses the frame any more
  {
    const MutexLock lock(mutex_);
    pending(in_flight) = 0;  // from here on its place in the ring may be used again
    unfinished_--;
    if (in_flight.beside) on_cpu_--;
    done_.notify_one();
  }
}

void Pipeline::device_done(InFlight& in_flight, size_t index, const Status& status) noexcept {
  {
    const MutexLock lock(mutex_);
    in_device_queue_--;
  }
  if (!status.ok()) {
    const Part& part = in_flight.parts[index];
    Status handed_over = guarded([&] {
      {
        const MutexLock lock(mutex_);
        if (!handover_) handover_ = {part.index, status, part.encode};
        in_flight.verified = false;
      }
      return in_flight.in_host ? Status() : in_flight.bring_to_host(index);
    });
    const bool can_be_scored = handed_over.ok();
    if (!can_be_scored) fail(std::move(handed_over));
    for (size_t i = 0; i < extractors_.size() && can_be_scored; i++) {
      if (!in_flight.on_device[i] || !runs(i, part.scored)) continue;
      std::memset(sums_at(*in_flight.memory, i, index), 0, extractors_[i]->sums_bytes());
      start_task(in_flight.tasks[i * encodes_ + index], index, index + 1);
    }
  }
  job_done(in_flight);
}

bool Pipeline::full() const {
  const MutexLock lock(mutex_);
  return !has_room();
}

bool Pipeline::has_room() const {
  if (next_ - oldest_ == ring_.size()) return false;
  return !queue_ || for_cpu_ || unfinished_ - on_cpu_ < most_unfinished_;
}

bool Pipeline::cpu_could_help() const {
  const MutexLock lock(mutex_);
  return queue_ && !handover_ && !verify_ && encodes_ == 1 && on_cpu_ == 0 && in_device_queue_ >= keep_device_busy_ &&
         next_ - oldest_ < ring_.size() && !has_room();
}

void Pipeline::wait(bool for_room, std::chrono::milliseconds most) {
  if (empty()) return;
  {
    const auto end = std::chrono::steady_clock::now() + most;
    const MutexLock lock(mutex_);
    while (pending(in_ring(oldest_)) > 0 && !(for_room && has_room())) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      if (left.count() <= 0) break;
      done_.wait_for(mutex_, left);
    }
  }
  if (queue_) (void)queue_->is_abandoned();
}

bool Pipeline::take(bool wait_for_it, FinishedFrame* finished) {
  if (empty()) return false;
  InFlight& in_flight = in_ring(oldest_);
  const auto is_done = [&] {
    const MutexLock lock(mutex_);
    return pending(in_flight) == 0;
  };
  while (!is_done()) {
    if (!wait_for_it) return false;
    wait(false, kQueueCheck);
  }
  if (taken_ == 0 && in_flight.verified) compare(in_flight);
  const Part& part = in_flight.parts[taken_++];
  *finished = {part.encode, part.index, part.scored, part.sums, lends_sums_ ? in_flight.memory : nullptr};
  if (taken_ < in_flight.count) return true;
  taken_ = 0;
  oldest_++;
  return true;
}

void Pipeline::compare(const InFlight& in_flight) {
  verification_.frames += static_cast<int64_t>(in_flight.scored);
  for (size_t part = 0; part < in_flight.count; part++)
    for (size_t i = 0; i < extractors_.size(); i++)
      if (in_flight.on_device[i] && in_flight.parts[part].sums[i])
        verification_.largest_difference =
            std::max(verification_.largest_difference,
                     largest_difference(in_flight.parts[part].sums[i], sums_at(in_flight.check, i, part),
                                        extractors_[i]->sums_bytes()));
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
