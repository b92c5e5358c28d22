/* Handlers: what a program gets from an Init function, each with a context of the library. One thread at a time
 * computes with a handler; different handlers are independent. */
#ifndef COMPAT_VSHIP_HANDLERS_H
#define COMPAT_VSHIP_HANDLERS_H

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compat/vship/abi.h"
#include "vapoursynth/context.h"

namespace vship {

/* Both pictures, as the Compute functions are given them. */
struct Pictures {
  const uint8_t* const* ref;
  const uint8_t* const* dist;
  const int64_t* ref_strides;
  const int64_t* dist_strides;
};

/* A metric with its settings: all that it is given beside pictures. */
struct Choice {
  std::string features;
  float fps = 0;
  int gpu_id = 0;
  bool pooled_only = true;  // no scores of earlier frames stay in the context
};

class Handler {
 public:
  using Take = std::function<void(const VmafxFrameResult&)>;

  Handler(const Vship_Colorspace_t& ref, const Vship_Colorspace_t& dist) : ref_(ref), dist_(dist) {}
  virtual ~Handler() = default;

  Vship_Exception open(const Choice& choice);
  const std::string& message() const { return message_; }
  Vship_Exception fail(Vship_Exception kind, const std::string& message);

 protected:
  Vship_Exception submit(VmafxContext* context, const Pictures& pictures);
  Vship_Exception fail_by(int code, const std::string& message);

  const Vship_Colorspace_t ref_, dist_;
  vapoursynth::Settings settings_;
  vapoursynth::Context context_;

 private:
  std::string message_;  // of the last failure
};

/* A metric that looks at one pair at a time. */
class Stills final : public Handler {
 public:
  using Handler::Handler;

  /* Calls take(key, score) for each score. */
  Vship_Exception compute(const Pictures& pictures,
                          const std::function<void(const std::string& key, double score)>& take);
};

/* CVVDP: the score is that of all pairs since the last reset. */
class Sequence final : public Handler {
 public:
  using Handler::Handler;

  Vship_Exception load(const Pictures& pictures) { return add(pictures, false); }
  Vship_Exception compute(const Pictures& pictures, double* score);
  Vship_Exception reset();
  void reset_score();

  int width() const { return settings_.ref.width; }
  int height() const { return settings_.ref.height; }

 private:
  Vship_Exception add(const Pictures& pictures, bool counts);
  Vship_Exception receive();
  Vship_Exception score_alone(const Pictures& pictures, double* score);

  std::deque<bool> counts_;  // of the pairs that were submitted and not received
  std::vector<double> scores_;
  std::string key_ = "cvvdp";
  int64_t pairs_ = 0;
};

/* The handlers of a kind, by their numbers. */
template <class T>
class Handlers {
 public:
  unsigned add(std::shared_ptr<T> handler) {
    const std::lock_guard lock(mutex_);
    all_.emplace(next_, std::move(handler));
    return next_++;
  }
  std::shared_ptr<T> find(unsigned id) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(id);
    return found == all_.end() ? nullptr : found->second;
  }
  std::shared_ptr<T> remove(unsigned id) {
    const std::lock_guard lock(mutex_);
    auto node = all_.extract(id);
    return node ? std::move(node.mapped()) : nullptr;
  }

 private:
  std::mutex mutex_;
  std::map<unsigned, std::shared_ptr<T>> all_;
  unsigned next_ = 0;
};

}  // namespace vship

#endif
