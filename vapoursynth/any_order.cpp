#include "vapoursynth/any_order.h"

#include <cerrno>

namespace vapoursynth {

std::unique_ptr<AnyOrder> AnyOrder::open(Settings settings, int64_t frames, std::string* message) {
  std::unique_ptr<AnyOrder> opened(new AnyOrder(std::move(settings), frames));
  opened->context_ = open_context(opened->settings_, message);
  if (!opened->context_) return nullptr;
  vmafx_pairs_around(opened->context_.get(), &opened->before_, &opened->after_);
  opened->thread_ = std::thread(&AnyOrder::work, opened.get());
  return opened;
}

AnyOrder::~AnyOrder() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  asked_.notify_one();
  if (thread_.joinable()) thread_.join();
}

const AnyOrder::Scores* AnyOrder::known(int64_t frame) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(frame);
  return found == known_.end() ? nullptr : &found->second;
}

const AnyOrder::Scores* AnyOrder::score(int64_t frame, std::vector<Pair> pairs, std::string* message) {
  Request request;
  request.frame = frame;
  request.first = first_for(frame);
  for (Pair& pair : pairs) request.pairs.emplace_back(std::move(pair));
  std::unique_lock lock(mutex_);
  queue_.push_back(&request);
  asked_.notify_one();
  request.changed.wait(lock, [&] { return request.answered; });
  *message = request.message;
  const auto found = known_.find(frame);
  return found == known_.end() ? nullptr : &found->second;
}

/* -- The thread ---------------------------------------------------------------------------------------------------- */

void AnyOrder::work() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      asked_.wait(lock, [&] { return ends_ || !queue_.empty() || !waiting_.empty(); });
      if (ends_) break;  // nobody asks when the clip goes
      waiting_.insert(waiting_.end(), queue_.begin(), queue_.end());
      queue_.clear();
    }
    std::ranges::sort(waiting_, {}, &Request::frame);
    answer_known();
    if (!waiting_.empty()) take_step();
  }
  context_.reset();
}

/* Submits what can be, and waits for one result at most, so that new requests join those in flight. */
void AnyOrder::take_step() {
  for (Request* const request : waiting_)
    if (!request->submitted && failure_.empty() && (is_spatial() || covers(*request) || continues(*request)))
      begin_or_continue(*request);
  if (failure_.empty() && std::ranges::none_of(waiting_, &Request::submitted)) begin_or_continue(*waiting_.front());
  if (failure_.empty()) receive();
  answer_known();
  if (!failure_.empty()) answer_with_failure();
}

void AnyOrder::begin_or_continue(Request& request) {
  if (!covers(request) && !continues(request)) begin_part(request);
  if (failure_.empty()) submit(request);
}

/* Whether the part has the pairs before the frame that its scores depend on. */
bool AnyOrder::leads_to(const Part& part, int64_t frame) const {
  const bool from_start = part.first_frame == 0 && part.first_number == 0;
  return frame >= part.first_frame && (from_start || frame - before_ >= part.first_frame);
}

/* Whether the last part has all that the request needs. */
bool AnyOrder::covers(const Request& request) const {
  return !parts_.empty() && leads_to(parts_.back(), request.frame) && request.last() <= parts_.back().last_frame;
}

/* Whether the request's pictures continue the last part without a gap. */
bool AnyOrder::continues(const Request& request) const {
  return !parts_.empty() && leads_to(parts_.back(), request.frame) && request.first <= parts_.back().last_frame + 1;
}

/* Begins a part with the request's pictures. Where a clip begins, metrics know it: this takes a new context. */
void AnyOrder::begin_part(Request& request) {
  if (before_ > 0 && request.first == 0 && pairs_ > 0) end_context();
  if (!context_) {
    std::string message;
    context_ = open_context(settings_, &message);
    if (!context_) return fail(message);
  }
  parts_.push_back({request.first, request.first - 1, pairs_});
}

void AnyOrder::submit(Request& request) {
  for (int64_t frame = parts_.back().last_frame + 1; frame <= request.last(); frame++) {
    std::optional<Pair>& pair = request.pairs[static_cast<size_t>(frame - request.first)];
    const VmafxPicture ref = pair->ref.give(), dist = pair->dist.give();
    if (vmafx_submit(context_.get(), &ref, &dist)) return fail(vmafx_last_error(context_.get()));
    parts_.back().last_frame++;
    pairs_++;
    submitted_++;
  }
  request.submitted = true;
}

/* Waits for the next result. Only the end of the clip can make one that needs later frames ready. */
void AnyOrder::receive() {
  VmafxFrameResult result;
  int ret = vmafx_receive_wait(context_.get(), &result);
  if (ret == -EAGAIN) return finish();
  if (ret) return fail(vmafx_last_error(context_.get()));
  do keep(result);
  while (!(ret = vmafx_receive(context_.get(), &result)));
}

/* The last frames of a part that another one follows saw pictures of that one, and do not count. */
void AnyOrder::keep(const VmafxFrameResult& result) {
  while (!parts_.front().has(result.frame)) parts_.pop_front();
  const Part& part = parts_.front();
  const int64_t frame = part.frame_of(result.frame);
  if (!leads_to(part, frame) || (parts_.size() > 1 && frame + after_ > part.last_frame)) return;
  Scores scores;
  for (size_t i = 0; i < result.n_scores; i++)
    scores.emplace_back(&*keys_.insert(result.scores[i].key).first, result.scores[i].value);
  const std::lock_guard lock(mutex_);
  known_.emplace(frame, std::move(scores));
}

void AnyOrder::finish() {
  VmafxFrameResult result;
  if (vmafx_finish(context_.get()) && !vmafx_finished(context_.get())) return fail(vmafx_last_error(context_.get()));
  while (vmafx_receive(context_.get(), &result) == 0) keep(result);
  end_context();
}

void AnyOrder::end_context() {
  context_.reset();
  parts_.clear();
  pairs_ = 0;
}

/* A context that failed is of no more use. The next request opens another one. */
void AnyOrder::fail(const std::string& message) {
  failure_ = message;
  end_context();
}

void AnyOrder::answer(Request& request, const std::string& message) {
  request.message = message;
  request.answered = true;
  request.changed.notify_one();
}

/* Answers those whose scores came, in whatever way. */
void AnyOrder::answer_known() {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](Request* request) {
    const bool is_known = known_.contains(request->frame);
    if (is_known) answer(*request, "");
    return is_known;
  });
}

void AnyOrder::answer_with_failure() {
  const std::lock_guard lock(mutex_);
  for (Request* const request : waiting_) answer(*request, failure_);
  waiting_.clear();
  failure_.clear();
}

}  // namespace vapoursynth
