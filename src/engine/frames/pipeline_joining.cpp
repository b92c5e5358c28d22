/* Pipeline: a GPU joins in mid-stream. It gets the pictures that its metrics look back on, and the tasks of frames in
 * flight that no worker has begun. */
#include <algorithm>
#include <utility>

#include "engine/frames/pipeline.h"

namespace vmafx {

/* Gathers the pairs that the queue's metrics look back on from its first frame, which is one in flight or, for null,
 * the next one. There an encode that lacked one of the pictures of the reference stays on the CPU until it has had
 * enough (see goes_to_device()). */
void Pipeline::gather_leading_pairs(const InFlight* first) {
  for (int back = history_.pairs_needed(extractors_) - 1; back >= 0; back--) {
    std::vector<LeadingPair> pairs;
    const auto add = [&](int encode, Held ref, Held dist) {
      if (!ref) return;
      LeadingPair& pair = pairs.emplace_back(std::move(ref), std::move(dist));
      pair.queued.encode = encode;
      pair.queued.leads = back + 1;
    };
    for (size_t i = 0; i < encodes_; i++) {
      auto [ref, dist] =
          first ? first->earlier(i, static_cast<size_t>(back)) : history_.before(i, static_cast<size_t>(back));
      add(first ? first->parts[i].encode : static_cast<int>(i), std::move(ref), std::move(dist));
    }
    if (!pairs.empty()) leading_pairs_.push_back(std::move(pairs));
  }
}

void Pipeline::start_leading_pairs() {
  for (std::vector<LeadingPair>& pairs : leading_pairs_) {
    Fifo<QueuedFrame> frames;
    for (LeadingPair& pair : pairs) {
      pair.queued.ref = pair.ref.get();
      pair.queued.dist = pair.dist.get();
      pair.queued.place = static_cast<int>(&pair - pairs.data());
      pair.queued.of = static_cast<int>(pairs.size());
      /* A failure needs no answer here: the frames that follow fail, too. */
      pair.queued.done = [&pair](const Status&) { pair.ref = pair.dist = nullptr; };
      frames.push_back(pair.queued);
    }
    queue_->add(frames);
  }
}

/* -- Tasks that no worker has begun -------------------------------------------------------------------------------- */

void Pipeline::count_waiting(const Fifo<Job>& tasks) {
  for (size_t i = oldest_; i < next_; i++) std::ranges::fill(in_ring(i).waiting, 0);
  for (const Job* job = tasks.first(); job; job = job->next) {
    const auto& task = static_cast<const Task&>(*job);
    task.in_flight->waiting[task.extractor]++;
  }
}

bool Pipeline::is_waiting(size_t extractor, const InFlight& in_flight) const {
  return on_device(extractor) && in_flight.waiting[extractor] > 0 &&
         in_flight.waiting[extractor] == tasks_of(extractor, in_flight);
}

/* The count of the first frame that has a whole extractor waiting; next_: none has, or the GPU would not see the
 * pictures of each encode before the later ones. */
size_t Pipeline::find_first_to_give() const {
  size_t first = oldest_;
  const auto has_waiting = [&](const InFlight& in_flight) {
    for (size_t i = 0; i < extractors_.size(); i++)
      if (is_waiting(i, in_flight)) return true;
    return false;
  };
  while (first < next_ && !has_waiting(in_ring(first))) first++;
  for (size_t i = first; i < next_; i++) {
    const InFlight& in_flight = in_ring(i);
    if (in_flight.count != encodes_ || !in_flight.goes_on || !in_flight.conversions_go_on) return next_;
  }
  return first;
}

/* Gives the queue a frame, in the place of the tasks that nobody has any more. */
void Pipeline::give_to_device(InFlight& in_flight) {
  show_sums_to_device(in_flight);
  start_device_queue(in_flight, true);
  for (size_t i = 0; i < extractors_.size(); i++)
    for (size_t n = 0; in_flight.on_device[i] && n < in_flight.waiting[i]; n++) job_done(in_flight);
}

/* Gives the queue the frames from the first one on of which a whole extractor waits. The workers keep the rest. */
Status Pipeline::give_waiting_to_device() {
  Fifo<Job> tasks = workers_.take_waiting();
  count_waiting(tasks);
  const size_t first = find_first_to_give();
  const Status gathered = guarded([&]() -> Status {
    gather_leading_pairs(first < next_ ? &in_ring(first) : nullptr);
    return {};
  });
  for (size_t i = first; i < next_ && gathered.ok(); i++) {
    InFlight& in_flight = in_ring(i);
    for (size_t k = 0; k < extractors_.size(); k++) in_flight.on_device[k] = is_waiting(k, in_flight);
  }
  while (!tasks.empty()) {
    Task& task = static_cast<Task&>(tasks.pop_front());
    if (!task.in_flight->on_device[task.extractor]) workers_.add(task);
  }
  for (size_t i = first; i < next_ && gathered.ok(); i++) give_to_device(in_ring(i));
  if (gathered.ok()) given_to_device_ = next_ - first;
  return gathered;
}

}  // namespace vmafx
