#include "compat/vship/handlers.h"

#include <algorithm>
#include <cerrno>

#include "compat/vship/colors.h"
#include "compat/vship/devices.h"

namespace vship {

Vship_Exception Handler::fail(Vship_Exception kind, const std::string& message) {
  message_ = message;
  return kind;
}

Vship_Exception Handler::fail_by(int code, const std::string& message) {
  switch (-code) {
    case ENOMEM: return fail(Vship_OutOfRAM, message);
    case EINVAL: return fail(Vship_DifferingInputType, message);
    case ENOENT:
    case EACCES: return fail(Vship_BadPath, message);
    default: return fail(Vship_HIPError, message);
  }
}

/* A handler scores one frame at a time, and a program that wants more threads has more handlers. */
Vship_Exception Handler::open(const Choice& choice) {
  std::string message;
  settings_.ref = format_of(ref_, &message);
  if (message.empty()) settings_.dist = format_of(dist_, &message);
  if (!message.empty()) return fail(Vship_DifferingInputType, message);
  settings_.ref.fps = settings_.dist.fps = choice.fps;
  settings_.options = {{"model", ""}, {"feature", choice.features}, {"check", "off"}, {"n_threads", "1"}};
  settings_.options.emplace_back("pooled_only", choice.pooled_only ? "1" : "0");
  for (auto& option : device_options(choice.gpu_id)) settings_.options.push_back(std::move(option));
  int code = 0;
  context_ = open_context(settings_, &message, &code);
  return context_ ? Vship_NoError : fail_by(code, message);
}

Vship_Exception Handler::submit(VmafxContext* context, const Pictures& pictures) {
  const VmafxPicture ref = copy_of(ref_, pictures.ref, pictures.ref_strides);
  VmafxPicture dist;
  try {
    dist = copy_of(dist_, pictures.dist, pictures.dist_strides);
  } catch (...) {
    ref.release(ref.opaque);
    throw;
  }
  const int ret = vmafx_submit(context, &ref, &dist);
  return ret ? fail_by(ret, vmafx_last_error(context)) : Vship_NoError;
}

Vship_Exception Stills::compute(const Pictures& pictures,
                                const std::function<void(const std::string& key, double score)>& take) {
  if (const auto failure = submit(context_.get(), pictures)) return failure;
  VmafxFrameResult result;
  if (const int ret = vmafx_receive_wait(context_.get(), &result))
    return fail_by(ret, vmafx_last_error(context_.get()));
  for (size_t i = 0; i < result.n_scores; i++) take(result.scores[i].key, result.scores[i].value);
  return Vship_NoError;
}

/* -- CVVDP --------------------------------------------------------------------------------------------------------- */

Vship_Exception Sequence::add(const Pictures& pictures, bool counts) {
  if (const auto failure = submit(context_.get(), pictures)) return failure;
  pairs_++;
  counts_.push_back(counts);
  return receive();
}

/* The first pair has no score before the second one comes. */
Vship_Exception Sequence::receive() {
  VmafxFrameResult result;
  while (!counts_.empty()) {
    const int ret = vmafx_receive_wait(context_.get(), &result);
    if (ret == -EAGAIN) break;
    if (ret) return fail_by(ret, vmafx_last_error(context_.get()));
    key_ = result.scores[0].key;
    if (counts_.front()) scores_.push_back(result.scores[0].value);
    counts_.pop_front();
  }
  return Vship_NoError;
}

Vship_Exception Sequence::score_alone(const Pictures& pictures, double* score) {
  std::string message;
  int code = 0;
  const vapoursynth::Context context = open_context(settings_, &message, &code);
  if (!context) return fail_by(code, message);
  if (const auto failure = submit(context.get(), pictures)) return failure;
  code = vmafx_finish(context.get());
  VmafxFrameResult result;
  if (!code) code = vmafx_receive(context.get(), &result);
  if (code) return fail_by(code, vmafx_last_error(context.get()));
  *score = result.scores[0].value;
  return Vship_NoError;
}

Vship_Exception Sequence::compute(const Pictures& pictures, double* score) {
  if (const auto failure = add(pictures, true)) return failure;
  if (scores_.empty()) return score_alone(pictures, score);
  vmafx_pool_key(key_.c_str(), "mean", scores_.data(), scores_.size(), score);
  return Vship_NoError;
}

Vship_Exception Sequence::reset() {
  reset_score();
  counts_.clear();
  if (pairs_ == 0) return Vship_NoError;
  pairs_ = 0;
  std::string message;
  int code = 0;
  context_ = open_context(settings_, &message, &code);
  return context_ ? Vship_NoError : fail_by(code, message);
}

void Sequence::reset_score() {
  scores_.clear();
  std::ranges::fill(counts_, false);
}

}  // namespace vship
