#include "engine/pipeline.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace vmafx {
namespace {

/* Encodes that one task takes at most: what it does once for all of them is then a small part of its work. */
constexpr size_t kMostEncodesPerTask = 8;
constexpr size_t kFewestEncodesPerTask = 2;

/* How often who waits for a frame sees whether the queue still lives. */
constexpr std::chrono::milliseconds kQueueCheck{500};

Picture planes_of(const Pipeline::Held& held, bool whole_chroma) {
  const HostPicture* host = held ? held->in_host() : nullptr;
  if (!host) return {};
  return whole_chroma ? host->planes : host->cropped;
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
  if (queue_ && queue_->is_abandoned()) [[maybe_unused]]
    const DeviceQueue* kept_by_its_thread = queue_.release();
}

Status Pipeline::start(std::vector<Extractor*> extractors, int threads, int frames_ahead, int encodes) {
  extractors_ = std::move(extractors);
  encodes_ = static_cast<size_t>(encodes);
  /* With many threads several share the encodes of a picture, so that fewer pictures are in flight. */
  const size_t tasks_wanted = std::max<size_t>(1, static_cast<size_t>(threads) / kMostEncodesPerTask);
  encodes_per_task_ = std::clamp(encodes_ / tasks_wanted, kFewestEncodesPerTask, kMostEncodesPerTask);
  const size_t tasks = (encodes_ + encodes_per_task_ - 1) / encodes_per_task_;
  const int together = static_cast<int>(std::min(encodes_, encodes_per_task_));

  size_t scratch_bytes = 0;
  for (const Extractor* extractor : extractors_) {
    sums_offset_.push_back(sums_bytes_);
    sums_bytes_ += round_to_lines(extractor->sums_bytes());
    scratch_bytes = std::max(scratch_bytes, extractor->encodes_scratch_bytes(together));
    const Reads reads = extractor->reads();
    if (reads.ref) history_[0] = std::max(history_[0], reads.history);
    if (reads.dist) history_[1] = std::max(history_[1], reads.history);
    if (extractor->converted_bytes())
      converting_.push_back({.extractor = sums_offset_.size() - 1,
                             .memory = std::make_unique<Reuse<AlignedBytes>>(),
                             .ref = nullptr,
                             .dists = std::vector<SharedConversion>(encodes_)});
  }
  history_[0] = std::max(history_[0], history_[1]);  // they tell whether two encodes have the same history
  earlier_ = std::vector<Earlier>(encodes_);
  for (Earlier& earlier : earlier_) earlier.converted = empty_histories();
  for (const ConvertedHistory& none : empty_histories()) last_conversions_.push_back(none.ref);
  frames_ahead_ = frames_ahead;
  /* Frames come out in order: where there are many workers, some need others while the oldest is scored. */
  const size_t in_hand = (static_cast<size_t>(threads) + tasks - 1) / tasks;
  make_ring(in_hand + in_hand / 4 + static_cast<size_t>(frames_ahead));
  for (int i = 0; i < threads; i++) scratch_.push_back(allocate_aligned(scratch_bytes));
  return workers_.start(threads);
}

Status Pipeline::add_device_queue(const hip::OpenedDevice& device, const VideoFormat& format,
                                  std::optional<uint64_t> spare_pictures, int verify) {
  std::vector<Extractor*> with_kernels;
  std::ranges::copy_if(extractors_, std::back_inserter(with_kernels), &Extractor::device_twin);
  VMAFX_ASSIGN(auto queue,
               DeviceQueue::create(device, with_kernels, format, spare_pictures, static_cast<int>(encodes_)));
  return add_device_queue(std::move(queue), extractors_, verify);
}

Status Pipeline::add_device_queue(std::unique_ptr<DeviceQueue> queue, std::vector<Extractor*> extractors, int verify) {
  VMAFX_TRY(queue->start(workers_));
  queue_ = std::move(queue);
  for (size_t i = 0; i < extractors_.size(); i++)
    if (extractors[i]) extractors_[i] = extractors[i];
  verify_ = verify;
  const bool queue_alone = !verify && std::ranges::all_of(extractors_, &Extractor::device_twin);
  const size_t in_device_queue = (static_cast<size_t>(queue_->frames_in_flight()) + encodes_ - 1) / encodes_;
  make_ring(in_device_queue + static_cast<size_t>(frames_ahead_) + (queue_alone ? 0 : static_cast<size_t>(threads())));
  gather_leading_pairs();
  return {};
}

/* How many there are at most. */
int Pipeline::leading_pairs() const {
  int most = history_[0];
  for (const Converting& converting : converting_)
    if (extractors_[converting.extractor]->device_twin())
      most = std::max(most, extractors_[converting.extractor]->reads().converted);
  return most;
}

/* The pair of so many before the next one; none where the encode lacked that picture of the reference. */
Pipeline::LeadingPair Pipeline::leading_pair(size_t encode, size_t back) const {
  const Earlier& earlier = earlier_[encode];
  for (size_t i = 0; i < converting_.size(); i++) {
    const SharedConversion ref = earlier.converted[i].ref.at(back), dist = earlier.converted[i].dist.at(back);
    if (!ref || ref != last_conversions_[i].at(back)) continue;
    LeadingPair pair{ref->picture(), dist->picture(), {}};
    if (pair.ref) return pair;
  }
  if (back >= static_cast<size_t>(history_[0]) || earlier.ref[back] != last_refs_[back]) return {};
  return {earlier.ref[back], earlier.dist[back], {}};
}

/* Those of the encodes that had all of these pictures: others are the CPU's until they have (see in_device_queue()). */
void Pipeline::gather_leading_pairs() {
  for (int back = leading_pairs() - 1; back >= 0; back--) {
    std::vector<LeadingPair> pairs;
    for (size_t encode = 0; encode < encodes_; encode++) {
      LeadingPair pair = leading_pair(encode, static_cast<size_t>(back));
      if (!pair.ref) continue;
      pair.queued.encode = static_cast<int>(encode);
      pair.queued.leads = back + 1;
      pair.queued.ref = pair.ref.get();
      pair.queued.dist = pair.dist.get();
      pairs.push_back(std::move(pair));
    }
    if (!pairs.empty()) leading_pairs_.push_back(std::move(pairs));
  }
}

void Pipeline::make_ring(size_t count) {
  ring_ = std::vector<InFlight>(count);
  for (InFlight& in_flight : ring_) {
    in_flight.memory = allocate_aligned(sums_bytes_ * encodes_);
    if (verify_) in_flight.check = allocate_aligned(sums_bytes_ * encodes_);
    for (std::vector<FrameSet>& frames : in_flight.frames) frames.resize(encodes_);
    in_flight.tasks = make_tasks(in_flight, false);
    if (verify_) in_flight.checks = make_tasks(in_flight, true);
    in_flight.parts = std::vector<Part>(encodes_);
    for (size_t i = 0; i < encodes_; i++) {
      Part& part = in_flight.parts[i];
      part.sums.resize(extractors_.size());
      part.converted = empty_histories();
      if (queue_) part.device_sums.resize(std::ranges::count_if(extractors_, &Extractor::device_twin));
      part.queued.done = [this, &in_flight, i](const Status& status) { device_done(in_flight, i, status); };
    }
  }
  const MutexLock lock(mutex_);
  pending_.assign(count, 0);
}

std::vector<Pipeline::Task> Pipeline::make_tasks(InFlight& in_flight, bool checks) {
  std::vector<Task> tasks(extractors_.size() * encodes_);
  for (size_t i = 0; i < tasks.size(); i++) {
    tasks[i].pipeline = this;
    tasks[i].in_flight = &in_flight;
    tasks[i].extractor = i / encodes_;
    tasks[i].checks = checks;
  }
  return tasks;
}

/* -- Pictures ------------------------------------------------------------------------------------------------------ */

std::vector<ConvertedHistory> Pipeline::empty_histories() const {
  std::vector<ConvertedHistory> histories;
  for (const Converting& converting : converting_) {
    const ConvertedPictures none(static_cast<size_t>(extractors_[converting.extractor]->reads().converted) + 1);
    histories.push_back({none, none});
  }
  return histories;
}

/* Of the frames to be added; nothing else has changed yet. */
void Pipeline::start_conversions(const Held& ref, std::span<const EncodeFrame> encodes) {
  for (Converting& converting : converting_) {
    const auto start = [&](const Held& picture) {
      return std::make_shared<Conversion>(*extractors_[converting.extractor], picture, *converting.memory,
                                          expects_device_queue_);
    };
    converting.ref = start(ref);
    for (const EncodeFrame& encode : encodes) converting.dists[static_cast<size_t>(encode.encode)] = start(encode.dist);
  }
}

void Pipeline::hold_conversions(Part& part) {
  for (size_t i = 0; i < converting_.size(); i++) {
    ConvertedHistory& history = earlier_[static_cast<size_t>(part.encode)].converted[i];
    history.ref.add(converting_[i].ref);
    history.dist.add(std::move(converting_[i].dists[static_cast<size_t>(part.encode)]));
    part.converted[i].ref = history.ref;
    part.converted[i].dist = history.dist;
  }
}

void Pipeline::hold_pictures(InFlight& in_flight, Held ref, std::span<EncodeFrame> encodes) {
  in_flight.ref = std::move(ref);
  in_flight.count = in_flight.scored = 0;
  for (const bool scored : {true, false}) {
    for (EncodeFrame& encode : encodes)
      if (encode.scored == scored) hold_part(in_flight, in_flight.parts[in_flight.count++], encode);
    if (scored) in_flight.scored = in_flight.count;
  }
  compare_histories(in_flight);
  for (size_t i = 0; i < in_flight.count; i++) show_part(in_flight, i);
}

void Pipeline::hold_part(InFlight& in_flight, Part& part, EncodeFrame& encode) {
  Earlier& earlier = earlier_[static_cast<size_t>(encode.encode)];
  part.encode = encode.encode;
  part.index = encode.index;
  part.scored = encode.scored;
  part.dist[0] = std::move(encode.dist);
  std::copy_n(earlier.ref, history_[0], part.earlier_ref);
  std::copy_n(earlier.dist, history_[1], part.dist + 1);
  if (history_[0]) {
    std::move_backward(earlier.ref, earlier.ref + history_[0] - 1, earlier.ref + history_[0]);
    earlier.ref[0] = in_flight.ref;
  }
  std::copy_n(part.dist, history_[1], earlier.dist);
  hold_conversions(part);
}

void Pipeline::compare_histories(InFlight& in_flight) {
  const auto same = [&](const Held* a, const Held* b) { return std::equal(a, a + history_[0], b); };
  in_flight.one_history = in_flight.goes_on = in_flight.one_conversion = in_flight.conversions_go_on = true;
  for (size_t k = 0; k < converting_.size(); k++) last_conversions_[k].add(converting_[k].ref);
  for (size_t i = 0; i < in_flight.count; i++) {
    in_flight.one_history &= same(in_flight.parts[i].earlier_ref, in_flight.parts[0].earlier_ref);
    in_flight.goes_on &= same(in_flight.parts[i].earlier_ref, last_refs_);
    for (size_t k = 0; k < converting_.size(); k++) {
      in_flight.one_conversion &= in_flight.parts[i].converted[k].ref == in_flight.parts[0].converted[k].ref;
      in_flight.conversions_go_on &= in_flight.parts[i].converted[k].ref == last_conversions_[k];
    }
  }
  if (!history_[0]) return;
  std::move_backward(last_refs_, last_refs_ + history_[0] - 1, last_refs_ + history_[0]);
  last_refs_[0] = in_flight.ref;
}

/* To the CPU twins. Pictures that were left on the device show nothing. */
void Pipeline::show_part(InFlight& in_flight, size_t index) {
  const Part& part = in_flight.parts[index];
  for (const bool whole_chroma : {false, true}) {
    FrameSet& frames = in_flight.frames[whole_chroma][index];
    frames = {};
    frames.index = part.index;
    frames.ref = planes_of(in_flight.ref, whole_chroma);
    frames.dist = planes_of(part.dist[0], whole_chroma);
    for (int back = 0; back < kMostHistory; back++) {
      frames.earlier_ref[back] = planes_of(part.earlier_ref[back], whole_chroma);
      frames.earlier_dist[back] = planes_of(part.dist[1 + back], whole_chroma);
    }
  }
}

/* No job reads the part's frame yet when some of its pictures were left on the device: then all metrics run there. */
Status Pipeline::bring_to_host(InFlight& in_flight, size_t index) {
  const Part& part = in_flight.parts[index];
  bool was_on_device = false;
  const auto bring = [&](const Held& held) -> Status {
    if (!held || !held->on_device()) return {};
    was_on_device = true;
    return held->bring_to_host();
  };
  VMAFX_TRY(bring(in_flight.ref));
  for (const Held& held : part.dist) VMAFX_TRY(bring(held));
  for (const Held& held : part.earlier_ref) VMAFX_TRY(bring(held));
  if (was_on_device) show_part(in_flight, index);
  return {};
}

void Pipeline::let_go(InFlight& in_flight) {
  in_flight.ref = nullptr;
  for (Part& part : in_flight.parts) {
    std::ranges::fill(part.dist, nullptr);
    std::ranges::fill(part.earlier_ref, nullptr);
    for (ConvertedHistory& converted : part.converted) {
      converted.ref.clear();
      converted.dist.clear();
    }
  }
}

/* -- Jobs ---------------------------------------------------------------------------------------------------------- */

/* Metrics that read earlier frames find them on the device where the frame goes on with what those before it had. */
bool Pipeline::in_device_queue(size_t extractor, const InFlight& in_flight) const {
  if (!on_device(extractor)) return false;
  const Reads reads = extractors_[extractor]->reads();
  return (in_flight.goes_on || !reads.history) && (in_flight.conversions_go_on || !reads.converted);
}

void Pipeline::clear_sums(InFlight& in_flight) {
  std::memset(in_flight.memory.get(), 0, sums_bytes_ * in_flight.count);
  if (in_flight.verified) std::memset(in_flight.check.get(), 0, sums_bytes_ * in_flight.count);
  for (size_t part = 0; part < in_flight.count; part++) {
    auto device_sums = in_flight.parts[part].device_sums.begin();
    for (size_t i = 0; i < extractors_.size(); i++) {
      std::byte* sums = runs(i, in_flight.parts[part].scored) ? sums_at(in_flight.memory, i, part) : nullptr;
      in_flight.parts[part].sums[i] = sums;
      if (on_device(i)) *device_sums++ = in_device_queue(i, in_flight) ? sums : nullptr;
    }
  }
}

Status Pipeline::add(Held ref, std::span<EncodeFrame> encodes) {
  InFlight& in_flight = ring_[next_ % ring_.size()];
  in_flight.number = static_cast<int64_t>(next_);
  VMAFX_TRY(guarded([&]() -> Status {
    start_conversions(ref, encodes);
    return {};
  }));
  hold_pictures(in_flight, std::move(ref), encodes);
  in_flight.verified = verify_ && in_flight.scored && in_flight.number % verify_ == 0;
  clear_sums(in_flight);
  const bool read_in_host =
      in_flight.verified || (queue_ && !in_flight.goes_on && std::ranges::any_of(extractors_, [](Extractor* extractor) {
                               return extractor->device_twin() && extractor->reads().history;
                             }));
  if (read_in_host) {
    const Status status = guarded([&]() -> Status {
      for (size_t part = 0; part < in_flight.count; part++) VMAFX_TRY(bring_to_host(in_flight, part));
      return {};
    });
    if (!status.ok()) {
      let_go(in_flight);
      return status;
    }
  }

  next_++;
  {
    const MutexLock lock(mutex_);
    pending(in_flight) = 1;  // this function: nothing ends before all is on its way
  }
  start_twins(in_flight);
  start_device_queue(in_flight);
  job_done(in_flight);
  return {};
}

void Pipeline::start_twins(InFlight& in_flight) {
  for (size_t i = 0; i < extractors_.size(); i++) {
    if (in_device_queue(i, in_flight)) {
      if (in_flight.verified) start_tasks(in_flight, in_flight.checks, i);
    } else if (!take_kept_sums(in_flight, i)) {
      start_tasks(in_flight, in_flight.tasks, i);
    }
  }
}

KeptSums::Pictures Pipeline::kept_pictures(const InFlight& in_flight, size_t part, size_t extractor) const {
  KeptSums::Pictures pictures{.ref = in_flight.ref.get()};
  for (int back = 0; back < extractors_[extractor]->reads().history; back++)
    pictures.earlier[back] = in_flight.parts[part].earlier_ref[back].get();
  return pictures;
}

/* For all parts, or for none: their sums are then zero, as extractors want them. */
bool Pipeline::take_kept_sums(InFlight& in_flight, size_t extractor) const {
  const KeptSums* kept = kept_sums(extractor);
  if (!kept) return false;
  const size_t parts = parts_of(extractor, in_flight);
  size_t taken = 0;
  while (taken < parts &&
         kept->get(kept_pictures(in_flight, taken, extractor), sums_at(in_flight.memory, extractor, taken)))
    taken++;
  if (taken == parts) return true;
  while (taken--) std::memset(sums_at(in_flight.memory, extractor, taken), 0, extractors_[extractor]->sums_bytes());
  return false;
}

void Pipeline::keep_sums_of(const Task& task) const {
  KeptSums* kept = task.checks ? nullptr : kept_sums(task.extractor);
  for (size_t part = task.first; kept && part < task.end; part++)
    kept->put(kept_pictures(*task.in_flight, part, task.extractor),
              sums_at(task.in_flight->memory, task.extractor, part));
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

void Pipeline::start_leading_pairs() {
  for (std::vector<LeadingPair>& pairs : leading_pairs_) {
    Fifo<QueuedFrame> frames;
    for (LeadingPair& pair : pairs) {
      pair.queued.place = static_cast<int>(&pair - pairs.data());
      pair.queued.of = static_cast<int>(pairs.size());
      /* If it failed, so do those that follow. */
      pair.queued.done = [&pair](const Status&) { pair.ref = pair.dist = nullptr; };
      frames.push_back(pair.queued);
    }
    queue_->add(frames);
  }
}

/* The queue gets frames that it has no sums to make of, too, where they may be the earlier ones of those to come. */
void Pipeline::start_device_queue(InFlight& in_flight) {
  if (!queue_) return;
  Fifo<QueuedFrame> frames;
  int count = 0;
  for (size_t i = 0; i < in_flight.count; i++) {
    Part& part = in_flight.parts[i];
    const bool has_sums = std::ranges::any_of(part.device_sums, [](const std::byte* sums) { return sums; });
    if (in_flight.goes_on && in_flight.conversions_go_on && !has_sums) continue;
    part.queued.encode = part.encode;
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
  }
  queue_->add(frames);
}

void Pipeline::run(Task& task, int worker) noexcept {
  Status status = guarded([&]() -> Status {
    extract(task, worker);
    keep_sums_of(task);
    return {};
  });
  if (!status.ok()) fail(std::move(status));
  job_done(*task.in_flight);
}

/* Together where an extractor sees the same of the reference in all of them. */
void Pipeline::extract(const Task& task, int worker) const {
  const InFlight& in_flight = *task.in_flight;
  const Extractor& extractor = *extractors_[task.extractor];
  std::byte* const scratch = scratch_[static_cast<size_t>(worker)].get();
  const AlignedBytes& memory = task.checks ? in_flight.check : in_flight.memory;
  void* sums[kMostEncodes] = {};
  for (size_t i = task.first; i < task.end; i++) sums[i - task.first] = sums_at(memory, task.extractor, i);
  for (size_t i = 0; i < converting_.size(); i++)
    if (converting_[i].extractor == task.extractor)
      return extract_converted(task, i, scratch, {sums, task.end - task.first});
  const Reads reads = extractor.reads();
  const std::span frames = std::span(in_flight.frames[reads.whole_chroma]).subspan(task.first, task.end - task.first);
  if (in_flight.one_history || !reads.history) return extractor.extract_encodes(frames, scratch, {sums, frames.size()});
  for (size_t i = 0; i < frames.size(); i++) extractor.extract(frames[i], scratch, sums[i]);
}

void Pipeline::extract_converted(const Task& task, size_t converting, std::byte* scratch,
                                 std::span<void* const> sums) const {
  const InFlight& in_flight = *task.in_flight;
  const Extractor& extractor = *extractors_[task.extractor];
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
  let_go(in_flight);  // outside the lock, since that calls the application; nobody else looks at it any more
  {
    const MutexLock lock(mutex_);
    pending(in_flight) = 0;  // from here on its place in the ring may be used again
    done_.notify_one();
  }
}

void Pipeline::device_done(InFlight& in_flight, size_t index, const Status& status) noexcept {
  if (!status.ok()) {
    const Part& part = in_flight.parts[index];
    const bool in_host = in_flight.verified || !in_flight.goes_on;  // and being read there
    Status handed_over = guarded([&] {
      {
        const MutexLock lock(mutex_);
        if (!handover_) handover_ = {part.index, status, part.encode};
        in_flight.verified = false;
      }
      return in_host ? Status() : bring_to_host(in_flight, index);
    });
    const bool can_be_scored = handed_over.ok();
    if (!can_be_scored) fail(std::move(handed_over));
    for (size_t i = 0; i < extractors_.size() && can_be_scored; i++)
      if (in_device_queue(i, in_flight) && runs(i, part.scored))
        start_task(in_flight.tasks[i * encodes_ + index], index, index + 1);
  }
  job_done(in_flight);
}

bool Pipeline::is_done(const InFlight& in_flight, bool wait) {
  const MutexLock lock(mutex_);
  if (wait && pending(in_flight) > 0) done_.wait_for(mutex_, kQueueCheck);
  return pending(in_flight) == 0;
}

bool Pipeline::take(bool wait, FinishedFrame* finished) {
  if (empty()) return false;
  InFlight& in_flight = ring_[oldest_ % ring_.size()];
  while (!is_done(in_flight, wait)) {
    if (!wait) return false;
    if (queue_) (void)queue_->is_abandoned();
  }
  if (taken_ == 0 && in_flight.verified) compare(in_flight);
  const Part& part = in_flight.parts[taken_++];
  *finished = {part.encode, part.index, part.scored, part.sums};
  if (taken_ < in_flight.count) return true;
  taken_ = 0;
  oldest_++;
  return true;
}

void Pipeline::compare(const InFlight& in_flight) {
  verification_.frames += static_cast<int64_t>(in_flight.scored);
  for (size_t part = 0; part < in_flight.count; part++)
    for (size_t i = 0; i < extractors_.size(); i++)
      if (in_device_queue(i, in_flight) && in_flight.parts[part].sums[i])
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
