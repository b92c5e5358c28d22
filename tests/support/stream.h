/* A stream of frame pairs through the C API, with what a test wants to know about it. */
#ifndef VMAFX_TESTS_SUPPORT_STREAM_H
#define VMAFX_TESTS_SUPPORT_STREAM_H

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tests/support/params.h"
#include "vmafx/vmafx.h"

namespace vmafx::test {

/* One frame of samples in 16-bit words, luma then two chroma planes of the format's size. */
using Samples = std::vector<uint16_t>;

inline int chroma_w(const VmafxFormat& f) { return f.chroma == VMAFX_CHROMA_444 ? f.width : (f.width + 1) / 2; }
inline int chroma_h(const VmafxFormat& f) { return f.chroma == VMAFX_CHROMA_420 ? (f.height + 1) / 2 : f.height; }
inline size_t luma_size(const VmafxFormat& f) { return static_cast<size_t>(f.width) * f.height; }
inline size_t chroma_size(const VmafxFormat& f) { return static_cast<size_t>(chroma_w(f)) * chroma_h(f); }

/* Textured frame `n`; the distorted one is coarser. */
inline Samples make_samples(const VmafxFormat& f, int n, bool distorted) {
  const bool gray = f.chroma == VMAFX_CHROMA_400;
  Samples samples(luma_size(f) + (gray ? 0 : 2 * chroma_size(f)));
  const uint32_t max = (1u << f.bits) - 1;
  for (size_t i = 0; i < samples.size(); i++) {
    const uint32_t x = static_cast<uint32_t>(i % f.width), y = static_cast<uint32_t>(i / f.width);
    uint32_t value = (x * 7 + y * 5 + n * 11 + ((x * x + y * n) >> 3)) * 2654435761u >> 24;
    value = (value + (x + y) * 2) % 256;
    if (distorted) value = value / 80 * 80;
    samples[i] = static_cast<uint16_t>(value * max / 255);
  }
  return samples;
}

/* A picture in the memory layout of `format`, and the count of pictures alive. */
class TestPicture {
 public:
  static inline std::atomic<int> alive = 0;
  static inline std::atomic<int> most_alive = 0;

  /* Ownership goes to the release callback. `upside_down`: rows lie bottom up, with a negative stride. */
  static VmafxPicture make(const VmafxFormat& f, const Samples& samples, bool upside_down = false) {
    auto* picture = new TestPicture;
    const int now = ++alive;
    for (int seen = most_alive; now > seen && !most_alive.compare_exchange_weak(seen, now);) continue;
    VmafxPicture out{};
    out.opaque = picture;
    out.release = [](void* opaque) {
      delete static_cast<TestPicture*>(opaque);
      --alive;
    };
    picture->add_plane(f, &samples[0], f.width, f.height, 1, nullptr, upside_down, &out, 0);
    if (f.chroma == VMAFX_CHROMA_400) return out;
    const uint16_t* cb = &samples[luma_size(f)];
    const uint16_t* cr = cb + chroma_size(f);
    if (f.layout == VMAFX_LAYOUT_SEMIPLANAR) {
      picture->add_plane(f, cb, chroma_w(f), chroma_h(f), 2, cr, upside_down, &out, 1);
    } else {
      picture->add_plane(f, cb, chroma_w(f), chroma_h(f), 1, nullptr, upside_down, &out, 1);
      picture->add_plane(f, cr, chroma_w(f), chroma_h(f), 1, nullptr, upside_down, &out, 2);
    }
    return out;
  }

 private:
  /* Rows of `w` samples, `step` words apart with `second` between them. */
  void add_plane(const VmafxFormat& f, const uint16_t* first, int w, int h, int step, const uint16_t* second,
                 bool upside_down, VmafxPicture* out, int p) {
    const int bytes = f.bits > 8 ? 2 : 1, pitch = (w * step + 5) * bytes;
    planes_[p].assign(static_cast<size_t>(pitch) * h, 0xEE);
    for (int y = 0; y < h; y++) {
      uint8_t* row = &planes_[p][static_cast<size_t>(upside_down ? h - 1 - y : y) * pitch];
      for (int x = 0; x < w; x++) {
        store(f, row, x * step, first[y * w + x]);
        if (second) store(f, row, x * step + 1, second[y * w + x]);
      }
    }
    out->data[p] = &planes_[p][upside_down ? static_cast<size_t>(h - 1) * pitch : 0];
    out->stride[p] = upside_down ? -pitch : pitch;
  }
  static void store(const VmafxFormat& f, uint8_t* row, int i, uint16_t value) {
    if (f.bits == 8) row[i] = static_cast<uint8_t>(value);
    else reinterpret_cast<uint16_t*>(row)[i] = static_cast<uint16_t>(value << f.shift);
  }

  std::vector<uint8_t> planes_[3];
};

using FrameScores = std::map<std::string, double>;

struct ReceivedWindow {
  int64_t number, first, last;
  double time;
  FrameScores scores;

  bool operator==(const ReceivedWindow&) const = default;
};

/* The results of a stream. */
struct Outcome {
  int error = 0;                    // the first failure, a negative errno value
  std::vector<FrameScores> frames;  // as received, in order
  std::vector<ReceivedWindow> windows;
  std::vector<double> models;  // pooled
  FrameScores features;        // main scores, pooled
  std::string log;             // all messages, a line each
};

/* Makes a picture of some samples. */
using PictureMaker = std::function<VmafxPicture(const VmafxFormat&, const Samples&)>;

struct StreamOptions {
  VmafxFormat ref{96, 64, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
  VmafxFormat dist = ref;
  int frames = 6;
  int first = 0;          // the first one that is submitted, as after a seek
  double frame_rate = 0;  // 0: pictures come without times
  int key_distance = 0;   // frames from one key frame to the next; 0: there are none
  bool finish = true;
  bool upside_down = false;
  PictureMaker make_ref{}, make_dist{};  // empty: TestPicture
};

inline VmafxPicture make_picture(const StreamOptions& options, int n, bool distorted) {
  const VmafxFormat& format = distorted ? options.dist : options.ref;
  const PictureMaker& make = distorted ? options.make_dist : options.make_ref;
  const Samples samples = make_samples(format, n, distorted);
  VmafxPicture picture = make ? make(format, samples) : TestPicture::make(format, samples, options.upside_down);
  picture.has_time = options.frame_rate != 0;
  if (picture.has_time) picture.time = n / options.frame_rate;
  picture.keyframe = options.key_distance && n % options.key_distance == 0;
  return picture;
}

/* To be read when no thread of the library is left that may call it. */
inline void append_log(void* log, enum VmafxLogLevel, const char* message) {
  *static_cast<std::string*>(log) += std::string(message) + "\n";
}

/* A log that may be read while a session runs: the thread that opens a GPU says that it is done after the session may
 * go on. */
class SessionLog {
 public:
  void take(Params& params) {
    params.log = [](void* log, VmafxLogLevel level, const char* message) {
      SessionLog& to = *static_cast<SessionLog*>(log);
      const MutexLock lock(to.mutex_);
      append_log(&to.text_, level, message);
    };
    params.log_cookie = this;
  }
  std::string text() const {
    const MutexLock lock(mutex_);
    return text_;
  }

 private:
  mutable Mutex mutex_;
  std::string text_ VMAFX_GUARDED_BY(mutex_);
};

/* Runs a stream from open to close. `params.log` is taken over. */
inline Outcome run_stream(Params params, const StreamOptions& options = {}) {
  Outcome outcome;
  params.log = append_log;
  params.log_cookie = &outcome.log;
  VmafxContext* ctx = nullptr;
  auto failed = [&](int ret) {
    if (ret < 0 && ret != -EAGAIN && !outcome.error) outcome.error = ret;
    return ret < 0;
  };
  auto receive_all = [&] {
    VmafxFrameResult result;
    const auto scores_of = [](const VmafxScore* scores, size_t n) {
      FrameScores of_key;
      for (size_t i = 0; i < n; i++) of_key[scores[i].key] = scores[i].value;
      return of_key;
    };
    while (!failed(vmafx_receive(ctx, &result))) {
      outcome.frames.push_back(scores_of(result.scores, result.n_scores));
      if (const VmafxPoolWindow* w = result.window)
        outcome.windows.push_back(
            {w->number, w->first_frame, w->last_frame, w->time, scores_of(w->scores, w->n_scores)});
    }
  };
  if (failed(open_context(&ctx, params))) return outcome;
  failed(vmafx_configure(ctx, &options.ref, &options.dist));
  for (int n = options.first; n < options.frames && !outcome.error; n++) {
    const VmafxPicture ref = make_picture(options, n, false), dist = make_picture(options, n, true);
    failed(vmafx_submit(ctx, &ref, &dist));
    receive_all();
  }
  if (options.finish && !outcome.error) failed(vmafx_finish(ctx));
  if (vmafx_finished(ctx)) {
    receive_all();
    double score = 0;
    for (int i = 0; i < vmafx_model_count(ctx); i++) {
      failed(vmafx_model_score(ctx, i, nullptr, &score));
      outcome.models.push_back(score);
    }
    for (int i = 0; i < vmafx_feature_count(ctx); i++) {
      const char* key = nullptr;
      failed(vmafx_feature_score(ctx, i, &key, &score));
      outcome.features[key] = score;
    }
  }
  vmafx_close(&ctx);
  return outcome;
}

inline Params cpu_params(const char* model = nullptr, const char* feature = nullptr) {
  Params params;
  params.backend = "cpu";
  params.model = model;
  params.feature = feature;
  return params;
}

inline Params params_for(const char* backend, const char* model = nullptr, const char* feature = nullptr) {
  Params params = cpu_params(model, feature);
  params.backend = backend;
  params.n_threads = 2;
  return params;
}

}  // namespace vmafx::test

#endif
