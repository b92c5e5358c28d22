#include "engine/look/timing.h"

#include <algorithm>
#include <optional>

#include "engine/look/course.h"
#include "engine/look/far_offset.h"
#include "engine/look/neighbors.h"
#include "engine/look/path.h"
#include "engine/look/rhythm.h"

namespace vmafx::look {

/* Pairs become evidence, evidence a path, and its steps become findings. */
class Timing::Registration {
 public:
  explicit Registration(const VideoFormat& format) : neighbors_(format) {}

  void add(int64_t frame, const SignatureSums& sums) {
    if (frame != next_) {
      while (neighbors_.rest(&evidence_)) take();
      neighbors_.restart();
      far_.end();
    }
    next_ = frame + 1;
    if (neighbors_.add(frame, sums, &evidence_)) take();
  }

  void finish(std::vector<Finding>* findings) {
    while (neighbors_.rest(&evidence_)) take();
    follow(true);
    if (const std::optional<Finding> offset = far_.finish()) {
      findings->push_back(*offset);  // whatever neighbors seemed to fit, they are others
      return;
    }
    std::vector<Finding> patterns, events;
    rhythm_.finish(&patterns);
    course_.finish(&events);
    /* Frames that are swapped again and again repeat others, but are no cadence: where they are told one by one, no
     * pattern is. Frames of a pattern are not events of their own. */
    std::erase_if(patterns, [&](const Finding& pattern) {
      const auto swaps = [&](const Finding& event) { return event.kind == Kind::kSwapped && explains(pattern, event); };
      const bool repeats = pattern.kind == Kind::kCadence || pattern.kind == Kind::kSwapped;
      return repeats && std::count_if(events.begin(), events.end(), swaps) >= kManySwaps;
    });
    for (const Finding& event : events)
      if (std::none_of(patterns.begin(), patterns.end(),
                       [&](const Finding& pattern) { return explains(pattern, event); }))
        findings->push_back(event);
    findings->insert(findings->end(), patterns.begin(), patterns.end());
  }

 private:
  static constexpr int kManySwaps = 3;

  static bool explains(const Finding& pattern, const Finding& event) {
    return event.from >= pattern.from && event.from < pattern.end;
  }

  void take() {
    far_.add(evidence_);
    path_.add(evidence_);
    path_of_pictures_.add(evidence_);
    follow(false);
  }

  void follow(bool all) {
    Step step;
    while (path_.next(all, &step)) course_.add(step);
    while (path_of_pictures_.next(all, &step)) rhythm_.add(step);
  }

  Neighbors neighbors_;
  Path path_{true}, path_of_pictures_{false};  // repeated frames change nothing: rhythms show in pictures alone
  Course course_;
  Rhythm rhythm_;
  FarOffset far_;
  FrameEvidence evidence_;
  int64_t next_ = 0;
};

Timing::Timing(const VideoFormat& format) : registration_(std::make_unique<Registration>(format)) {}

Timing::Timing(const Timing& other) : registration_(std::make_unique<Registration>(*other.registration_)) {}

Timing::~Timing() = default;

void Timing::add(int64_t frame, const SignatureSums& sums) { registration_->add(frame, sums); }

void Timing::finish(std::vector<Finding>* findings) { registration_->finish(findings); }

}  // namespace vmafx::look
