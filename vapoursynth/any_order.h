/* AnyOrder: scores of the frames of two clips, asked for by any number of threads, in any order.
 *
 * A session of the library scores pairs in the order in which they come. One thread feeds it: frames that follow the
 * last one continue its part of the clip, as they do when a clip is played, and each of them is scored once. A frame
 * elsewhere begins another part, with the pairs before it that its scores depend on. So a score does not depend on what
 * was asked for before, and equals that of the whole clip, to the last bit. Scores stay until the clip goes. */
#ifndef VMAFX_VAPOURSYNTH_ANY_ORDER_H
#define VMAFX_VAPOURSYNTH_ANY_ORDER_H

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "vapoursynth/context.h"
#include "vmafx/vmafx.h"

namespace vapoursynth {

/* A picture, which is released unless the library takes it. */
class Picture {
 public:
  explicit Picture(const VmafxPicture& picture) : picture_(picture) {}
  Picture(Picture&& other) noexcept : picture_(std::exchange(other.picture_, {})) {}
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
  ~Picture() {
    if (picture_.release) picture_.release(picture_.opaque);
  }

  VmafxPicture give() { return std::exchange(picture_, {}); }

 private:
  VmafxPicture picture_;
};

struct Pair {
  Picture ref, dist;
};

class AnyOrder {
 public:
  /* The scores of a frame, under their keys in reports. The keys live as long as the AnyOrder. */
  using Scores = std::vector<std::pair<const std::string*, double>>;

  /* Opens the session. On failure returns null, with the library's message. */
  static std::unique_ptr<AnyOrder> open(Settings settings, int64_t frames, std::string* message);
  ~AnyOrder();

  /* The frames whose pictures score() needs. */
  int64_t first_for(int64_t frame) const { return std::max<int64_t>(frame - before_, 0); }
  int64_t last_for(int64_t frame) const { return std::min<int64_t>(frame + after_, frames_ - 1); }
  bool is_spatial() const { return before_ == 0 && after_ == 0; }

  /* How many pairs were submitted to the library, over all of its sessions. */
  int64_t pairs_submitted() const { return submitted_; }

  /* The scores of a frame, if they are known. */
  const Scores* known(int64_t frame) const;

  /* Scores a frame; `pairs` are those of first_for(frame) to last_for(frame). Any thread; waits. On failure returns
   * null, with a message. The scores live as long as this. */
  const Scores* score(int64_t frame, std::vector<Pair> pairs, std::string* message);

 private:
  struct Request {
    int64_t frame = 0, first = 0;
    std::vector<std::optional<Pair>> pairs;  // the first one is that of frame `first`
    bool submitted = false, answered = false;
    std::string message;
    std::condition_variable changed;

    int64_t last() const { return first + static_cast<int64_t>(pairs.size()) - 1; }
  };

  /* Frames that follow one another, in the clip and in the session. */
  struct Part {
    int64_t first_frame = 0, last_frame = -1;
    int64_t first_number = 0;  // of the pair in the session

    bool has(int64_t number) const { return number - first_number <= last_frame - first_frame; }
    int64_t frame_of(int64_t number) const { return first_frame + number - first_number; }
  };

  AnyOrder(Settings settings, int64_t frames) : settings_(std::move(settings)), frames_(frames) {}

  void work();
  void take_step();
  void begin_or_continue(Request& request);
  void begin_part(Request& request);
  void submit(Request& request);
  bool leads_to(const Part& part, int64_t frame) const;
  bool covers(const Request& request) const;
  bool continues(const Request& request) const;
  void receive();
  void keep(const VmafxFrameResult& result);
  void finish();
  void end_context();
  void fail(const std::string& message);
  static void answer(Request& request, const std::string& message);
  void answer_known();
  void answer_with_failure();

  const Settings settings_;
  const int64_t frames_;  // that the clips have
  int before_ = 0, after_ = 0;

  mutable std::mutex mutex_;  // guards what follows, and Request::answered and message
  std::condition_variable asked_;
  std::vector<Request*> queue_;
  std::map<int64_t, Scores> known_;
  bool ends_ = false;

  /* Only the thread uses these. */
  Context context_;  // null once it has come to its end
  std::vector<Request*> waiting_;
  std::deque<Part> parts_;  // of the context; those whose results were all received are dropped
  int64_t pairs_ = 0;       // submitted to the context
  std::set<std::string> keys_;
  std::atomic<int64_t> submitted_ = 0;
  std::string failure_;  // that those who wait are told
  std::thread thread_;
};

}  // namespace vapoursynth

#endif
