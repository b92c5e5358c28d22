/* The pipeline with a device queue, around a metric whose kernels are wrong: what verification sees, and that a picture
 * is given back exactly when nobody reads it any more. */
#include "tests/support/device.h"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "tests/support/stream.h"

#include "base/mutex.h"
#include "engine/frames/pipeline.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr VideoFormat kFormat = {.w = 32, .h = 16, .bpc = 8, .chroma = Chroma::k400};
constexpr VmafxFormat kPictures = {32, 16, VMAFX_CHROMA_400, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};

InputFormat luma_read() {
  InputFormat format = InputFormat::make(kPictures, "tested").value();
  format.planes_read = 1;
  return format;
}

struct Sums {
  int64_t right;  // the same on both sides
  int64_t wrong;  // 100 on the CPU, 0 on the device, which leaves it as it is
};

/* Its "kernels" are none at all. */
class Idle : public DeviceTwin {
 public:
  Status launch(const DeviceBatch&) const override { return fails ? error(EIO, "the launch failed") : Status(); }
  bool fails = false;
};

class Metric : public Extractor {
 public:
  std::span<const FeatureInfo> features() const override { return {}; }
  size_t sums_bytes() const override { return sizeof(Sums); }
  size_t scratch_bytes() const override { return 0; }
  void extract(const FrameSet&, std::byte*, void* sums) const override { static_cast<Sums*>(sums)->wrong = wrong; }
  std::unique_ptr<StreamScorer> make_scorer() const override { return nullptr; }
  DeviceTwin* device_twin() const override { return &twin; }

  int64_t wrong = 100;
  mutable Idle twin;
};

constexpr int kMostBack = 5;

/* The pictures that a frame's job saw: the first sample of each, 0 for none. */
struct Seen {
  int64_t ref[1 + kMostBack] = {}, dist[1 + kMostBack] = {};  // of the frame, and of those before it
  bool operator==(const Seen&) const = default;
};

/* Its "kernels" are copies of those samples, which are what it converts pictures to. */
class Looks : public DeviceTwin {
 public:
  explicit Looks(const Reads& reads) : reads_(reads) {}
  size_t converted_bytes() const override { return kPlaceBytes; }
  Status convert(const DeviceBatch& batch, std::span<const PictureToConvert> pictures) const override {
    for (const PictureToConvert& picture : pictures)
      VMAFX_TRY(copy(batch, picture.plane[0].data.as<const std::byte>(), place(batch, picture.place)));
    return {};
  }
  Status launch(const DeviceBatch& batch) const override {
    for (int i = 0; i < batch.count; i++)
      for (int back = 0; back <= std::max(reads_.history, reads_.converted); back++) {
        const hip::DevicePtr<std::byte> seen = batch.sums + static_cast<ptrdiff_t>(i * batch.sums_stride) + 8 * back;
        VMAFX_TRY(copy(batch, ref(batch, i, back), seen + offsetof(Seen, ref)));
        VMAFX_TRY(copy(batch, dist(batch, i, back), seen + offsetof(Seen, dist)));
      }
    return fails ? error(EIO, "the launch failed") : Status();
  }
  bool fails = false;

 private:
  using Sample = hip::DevicePtr<const std::byte>;
  static constexpr size_t kPlaceBytes = 256;

  static hip::DevicePtr<std::byte> place(const DeviceBatch& batch, int number) {
    return batch.converted + static_cast<ptrdiff_t>(kPlaceBytes) * number;
  }
  Sample ref(const DeviceBatch& batch, int i, int back) const {
    if (!reads_.converted) return batch.planes[0].ref[hip::ref_index(i, back)].data.as<const std::byte>();
    const int at = batch.places.earlier + i - back;
    return at < 0 ? Sample() : Sample(place(batch, batch.places.ref[at]));
  }
  Sample dist(const DeviceBatch& batch, int i, int back) const {
    if (!reads_.converted) return hip::dist_plane(batch.planes[0], i, back).data.as<const std::byte>();
    const int at = batch.places.earlier + i - back;
    return at < 0 ? Sample() : Sample(place(batch, batch.places.dist[at]));
  }
  static Status copy(const DeviceBatch& batch, Sample from, hip::DevicePtr<std::byte> to) {
    return from ? batch.stream->copy_rows(to, 1, from, 1, 1, 1) : Status();
  }
  const Reads reads_;
};

int64_t first_of(const Picture& picture) {
  return picture.plane[0].data ? *static_cast<const uint8_t*>(picture.plane[0].data) : 0;
}

class Watcher : public Extractor {
 public:
  explicit Watcher(const Reads& reads) : twin(reads), reads_(reads) {}
  std::span<const FeatureInfo> features() const override { return {}; }
  Reads reads() const override { return reads_; }
  size_t sums_bytes() const override { return sizeof(Seen); }
  size_t scratch_bytes() const override { return 0; }
  size_t converted_bytes() const override { return reads_.converted ? 64 : 0; }
  void convert(const Picture& picture, std::byte* converted) const override {
    *converted = static_cast<std::byte>(first_of(picture));
  }
  void extract(const FrameSet& frames, std::byte*, void* sums) const override {
    {
      const MutexLock lock(mutex_);
      extracted_++;
      while (held_) changed_.wait(mutex_);
    }
    auto& seen = *static_cast<Seen*>(sums);
    for (size_t i = 0; i < frames.converted_ref.size(); i++)
      seen.ref[i] = std::to_integer<int64_t>(*frames.converted_ref[i]);
    for (size_t i = 0; i < frames.converted_dist.size(); i++)
      seen.dist[i] = std::to_integer<int64_t>(*frames.converted_dist[i]);
    if (reads_.converted) return;
    seen.ref[0] = first_of(frames.ref);
    if (reads_.dist) seen.dist[0] = first_of(frames.dist);
    for (int i = 0; i < 2; i++) {
      seen.ref[1 + i] = first_of(frames.earlier_ref[i]);
      seen.dist[1 + i] = first_of(frames.earlier_dist[i]);
    }
  }
  std::unique_ptr<StreamScorer> make_scorer() const override { return nullptr; }
  DeviceTwin* device_twin() const override { return &twin; }

  /* The CPU's jobs wait as long as it is held. */
  void hold(bool held) {
    const MutexLock lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  int extracted() const {
    const MutexLock lock(mutex_);
    return extracted_;
  }

  mutable Looks twin;

 private:
  const Reads reads_;
  mutable Mutex mutex_;
  mutable Condition changed_;
  bool held_ VMAFX_GUARDED_BY(mutex_) = false;
  mutable int extracted_ VMAFX_GUARDED_BY(mutex_) = 0;  // frames that the CPU saw
};

/* The next pair of a stream with one encode. */
void add(Pipeline& pipeline, int64_t index, bool scored, Pipeline::Held ref, Pipeline::Held dist) {
  Pipeline::EncodeFrame encode[] = {{.index = index, .scored = scored, .dist = std::move(dist)}};
  assert_ok(pipeline.add(std::move(ref), encode));
}

constexpr int kNever = -1, kFrames = 20, kThreads = 2, kAhead = 5, kWaiting = kAhead - 1;

/* The CPU has as many of the frames before `begins` as it can, and begins none but those of its two threads. After that
 * it has `shares` frames of each eight. */
struct Together {
  bool in_flight = false;
  int shares = 0;
  bool lends_sums = false;  // the pipeline does, and somebody keeps them all
};

/* Sends 20 frames by, and expects each to be seen with those before it: from frame `begins` on by the device, from
 * `fails_at` on again by the CPU. */
void watch(const Reads& reads, int begins, int fails_at = kNever, const Together& together = {}) {
  const auto first_sample = [](int n, bool distorted) -> int64_t { return make_samples(kPictures, n, distorted)[0]; };
  Watcher watcher(reads);
  Pipeline pipeline;
  assert_ok(pipeline.start({&watcher}, kThreads, together.in_flight ? kAhead : 1));
  pipeline.expect_device_queue(begins > 0);
  if (together.lends_sums) pipeline.lend_sums();
  struct Kept {
    std::shared_ptr<const AlignedBytes> memory;
    const Seen* sums;
    Seen want;
  };
  std::vector<Kept> kept;
  int taken = 0;
  const int earlier = std::max(reads.history, reads.converted);
  const auto take_one = [&] {
    FinishedFrame finished;
    if (!pipeline.take(true, &finished)) return false;
    Seen want;
    for (int back = 0; back <= earlier && back <= taken; back++) {
      want.ref[back] = first_sample(taken - back, false);
      if (reads.dist) want.dist[back] = first_sample(taken - back, true);
    }
    ck_assert_int_eq(finished.index, taken);
    const auto* const sums = reinterpret_cast<const Seen*>(finished.sums[0]);
    ck_assert_msg(*sums == want, "frame %d", taken);
    ck_assert(!together.lends_sums == !finished.memory);
    if (finished.memory) kept.push_back({finished.memory, sums, want});
    taken++;
    return true;
  };

  Log log;
  PictureReader reader;
  reader.start(luma_read(), log);
  for (int n = 0; n < kFrames; n++) {
    while (pipeline.full()) take_one();
    if (together.in_flight && n == begins - kThreads - kWaiting) {
      while (take_one()) continue;
      watcher.hold(true);
    }
    if (n == begins) {
      while (!together.in_flight && take_one()) continue;
      assert_ok(pipeline.add_device_queue(open_test_device(), kFormat, std::nullopt, 0));
      pipeline.expect_device_queue(false);
      watcher.hold(false);
    }
    if (together.shares && n > begins && n % 8 == 0) pipeline.give_cpu(together.shares);
    if (n == fails_at) {
      while (take_one()) continue;
      watcher.twin.fails = true;
    }
    auto ref = reader.read(OwnedPicture(TestPicture::make(kPictures, make_samples(kPictures, n, false))));
    auto dist = reader.read(OwnedPicture(TestPicture::make(kPictures, make_samples(kPictures, n, true))));
    add(pipeline, n, n % 3 == 0, std::move(ref.value()), std::move(dist.value()));
  }
  while (take_one()) continue;
  ck_assert_int_eq(taken, kFrames);
  for (const Kept& frame : kept) ck_assert(*frame.sums == frame.want);
  if (together.in_flight && fails_at == kNever)
    ck_assert_int_le(watcher.extracted(), begins - kWaiting + 2 * together.shares);
  ck_assert_int_ge(watcher.extracted(), std::min(together.shares, kFrames - 16));
  if (reads.converted && together.shares) return;  // how many pictures the CPU had not converted is a matter of time
  if (reads.converted)                             // what the CPU would need if the device failed
    ck_assert_int_eq(TestPicture::alive, begins != kNever && fails_at == kNever ? 2 * (reads.converted + 1) : 0);
  else
    ck_assert_int_eq(TestPicture::alive,
                     reads.history * (reads.dist ? 2 : 1));  // nobody holds a side for another's sake
}

/* A stream of 8 frames through the metric; how many finished with each value of `wrong`. */
struct Counts {
  int from_device = 0, from_cpu = 0;
};

class Stream {
 public:
  Stream(Metric& metric, int verify) : metric_(metric), device_(open_test_device()) {
    assert_ok(pipeline.start({&metric_}, 2, 1));
    assert_ok(pipeline.add_device_queue(device_, kFormat, std::nullopt, verify));
  }

  Counts run(int fails_at = -1) {
    Log log;
    PictureReader reader;
    reader.start(luma_read(), log);
    for (int n = 0; n < 8; n++) {
      while (pipeline.full()) take(true);
      if (n == fails_at) {
        while (take(true)) continue;
        metric_.twin.fails = true;
      }
      auto ref = reader.read(OwnedPicture(TestPicture::make(kPictures, make_samples(kPictures, n, false))));
      auto dist = reader.read(OwnedPicture(TestPicture::make(kPictures, make_samples(kPictures, n, true))));
      add(pipeline, n, true, std::move(ref.value()), std::move(dist.value()));
    }
    while (take(true)) continue;
    ck_assert_int_eq(next_, 8);
    return counts_;
  }

  Pipeline pipeline;

 private:
  bool take(bool wait) {
    FinishedFrame finished;
    if (!pipeline.take(wait, &finished)) return false;
    ck_assert_int_eq(finished.index, next_++);
    const auto& sums = *reinterpret_cast<const Sums*>(finished.sums[0]);
    (sums.wrong ? counts_.from_cpu : counts_.from_device)++;
    return true;
  }

  Metric& metric_;
  const hip::OpenedDevice device_;
  Counts counts_;
  int next_ = 0;
};

/* -- Chroma of some frames ----------------------------------------------------------------------------------------- */

constexpr VideoFormat kColor = {.w = 32, .h = 16, .bpc = 8, .chroma = Chroma::k420};
constexpr VmafxFormat kColorPictures = {32, 16, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
constexpr int kChromaPeriod = 3;

/* The first samples of Cb; 0 in frames without chroma. */
struct SeenChroma {
  int64_t ref, dist;
  bool operator==(const SeenChroma&) const = default;
};

/* Its "kernels" are copies of them. */
class ChromaCopies : public DeviceTwin {
 public:
  Status launch(const DeviceBatch& batch) const override {
    for (int i = 0; i < batch.count; i++) {
      const bool detail = batch.numbers[i] % kChromaPeriod == 0;
      const hip::DevicePlane &ref = batch.planes[1].ref[hip::ref_index(i)], &dist = batch.planes[1].dist[i];
      uploads_for_nothing += !detail && dist.data;
      if (!detail) continue;
      const hip::DevicePtr<std::byte> to = batch.sums + static_cast<ptrdiff_t>(i * batch.sums_stride);
      VMAFX_TRY(batch.stream->copy_rows(to + offsetof(SeenChroma, ref), 1, ref.data.as<const std::byte>(), 1, 1, 1));
      VMAFX_TRY(batch.stream->copy_rows(to + offsetof(SeenChroma, dist), 1, dist.data.as<const std::byte>(), 1, 1, 1));
    }
    return {};
  }
  mutable int uploads_for_nothing = 0;
};

class ChromaWatcher : public Extractor {
 public:
  std::span<const FeatureInfo> features() const override { return {}; }
  Reads reads() const override { return {.ref = 7, .dist = 7, .every_frame = true, .chroma_period = kChromaPeriod}; }
  size_t sums_bytes() const override { return sizeof(SeenChroma); }
  size_t scratch_bytes() const override { return 0; }
  void extract(const FrameSet& frames, std::byte*, void* sums) const override {
    if (frames.number % kChromaPeriod) return;
    const auto first = [](const Picture& picture) { return *static_cast<const uint8_t*>(picture.plane[1].data); };
    *static_cast<SeenChroma*>(sums) = {first(frames.ref), first(frames.dist)};
  }
  std::unique_ptr<StreamScorer> make_scorer() const override { return nullptr; }
  DeviceTwin* device_twin() const override { return &twin; }

  mutable ChromaCopies twin;
};

/* Sends 20 frames by, the first of which has the number 40. Each picture of the reference is that of two frames, as
 * when a reference that stays has half the frame rate. */
void watch_chroma(bool on_device) {
  const auto first_of_cb = [](int n, bool distorted) {
    return static_cast<int64_t>(make_samples(kColorPictures, n, distorted)[luma_size(kColorPictures)]);
  };
  InputFormat format = InputFormat::make(kColorPictures, "tested").value();
  format.planes_read = 7;
  ChromaWatcher watcher;
  Pipeline pipeline;
  assert_ok(pipeline.start({&watcher}, 2, 1));
  if (on_device) assert_ok(pipeline.add_device_queue(open_test_device(), kColor, std::nullopt, 0));
  constexpr int64_t kFirst = 40;
  int taken = 0;
  const auto take_one = [&] {
    FinishedFrame finished;
    if (!pipeline.take(true, &finished)) return false;
    SeenChroma want = {};
    if ((kFirst + taken) % kChromaPeriod == 0) want = {first_of_cb(taken / 2, false), first_of_cb(taken, true)};
    ck_assert_msg(*reinterpret_cast<const SeenChroma*>(finished.sums[0]) == want, "frame %d", taken);
    taken++;
    return true;
  };
  Log log;
  PictureReader reader;
  reader.start(format, log);
  Pipeline::Held ref;
  for (int n = 0; n < kFrames; n++) {
    while (pipeline.full()) take_one();
    const auto read = [&](int number, bool distorted) {
      return take(reader.read(
          OwnedPicture(TestPicture::make(kColorPictures, make_samples(kColorPictures, number, distorted)))));
    };
    if (n % 2 == 0) ref = read(n / 2, false);
    Pipeline::EncodeFrame encode[] = {{.index = n, .number = kFirst + n, .dist = read(n, true)}};
    assert_ok(pipeline.add(ref, encode));
  }
  while (take_one()) continue;
  ck_assert_int_eq(taken, kFrames);
  ck_assert_int_eq(watcher.twin.uploads_for_nothing, 0);
}

}  // namespace

START_TEST(verification_sees_a_wrong_device) {
  Metric metric;
  Stream stream(metric, 3);
  ck_assert_int_eq(stream.run().from_device, 8);
  ck_assert_int_eq(stream.pipeline.verification().frames, 3);
  ck_assert_double_eq(stream.pipeline.verification().largest_difference, 1.0);
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(verification_sees_a_right_device) {
  Metric metric;
  metric.wrong = 0;
  Stream stream(metric, 2);
  stream.run();
  ck_assert_int_eq(stream.pipeline.verification().frames, 4);
  ck_assert_double_eq(stream.pipeline.verification().largest_difference, 0.0);
}
END_TEST

START_TEST(the_lowest_bit_of_a_large_sum_is_a_difference) {
  const int64_t sums[] = {(int64_t{1} << 60) + 1, int64_t{1} << 60};
  const auto* bytes = reinterpret_cast<const std::byte*>(sums);
  ck_assert_double_eq(largest_difference(bytes, bytes + sizeof(int64_t), sizeof(int64_t)), 0x1p-60);
  ck_assert_double_eq(largest_difference(bytes, bytes, sizeof sums), 0);
}
END_TEST

START_TEST(the_cpu_takes_over_at_the_frame_that_failed) {
  Metric metric;
  Stream stream(metric, 1);
  const Counts counts = stream.run(5);
  ck_assert_int_eq(counts.from_device, 5);
  ck_assert_int_eq(counts.from_cpu, 3);
  const auto handover = stream.pipeline.handover();
  ck_assert(handover.has_value());
  ck_assert_int_eq(handover->frame, 5);
  assert_text_eq(handover->reason.message(), "the launch failed");
  ck_assert_int_eq(stream.pipeline.verification().frames, 5);
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(earlier_frames_of_the_sides_that_are_read) {
  for (const unsigned dist : {0u, 1u})
    for (const int history : {0, 1, 2}) {
      const Reads reads{.ref = 1, .dist = dist, .history = history, .every_frame = true};
      watch(reads, kNever);
      watch(reads, 0);
      watch(reads, 0, 11);
      watch(reads, 7, 15);
    }
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(earlier_frames_as_they_are_converted) {
  for (const int converted : {1, kMostBack}) {
    const Reads reads{.ref = 1, .dist = 1, .converted = converted, .every_frame = true};
    watch(reads, kNever);
    for (const int begins : {0, 1, converted, 9}) {
      watch(reads, begins);
      for (const int fails_at : {begins, begins + 1, begins + 8}) watch(reads, begins, fails_at);
    }
  }
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(both_at_once) {
  for (const Reads& reads : {Reads{.ref = 1, .every_frame = true}, Reads{.ref = 1, .history = 2, .every_frame = true},
                             Reads{.ref = 1, .dist = 1, .history = 1, .every_frame = true},
                             Reads{.ref = 1, .dist = 1, .converted = kMostBack, .every_frame = true}})
    for (const int shares : {0, 1, 2, 6, 7})
      for (const int fails_at : {kNever, 13})
        for (const int begins : {6, 7, 9}) watch(reads, begins, fails_at, {.in_flight = true, .shares = shares});
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

/* Sums of all frames are kept, which a pipeline has memory for that lends them. */
START_TEST(lent_sums_stay) {
  const Reads reads{.ref = 1, .dist = 1, .history = 1, .every_frame = true};
  for (const int begins : {kNever, 0, 7}) watch(reads, begins, kNever, {.lends_sums = true});
  watch(reads, 0, 11, {.lends_sums = true});
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(chroma_of_the_frames_that_read_it) {
  watch_chroma(false);
  watch_chroma(true);
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

int main() {
  return run_suite("pipeline", {{"wrong", verification_sees_a_wrong_device},
                                {"right", verification_sees_a_right_device},
                                {"lowest_bit", the_lowest_bit_of_a_large_sum_is_a_difference},
                                {"handover", the_cpu_takes_over_at_the_frame_that_failed},
                                {"history", earlier_frames_of_the_sides_that_are_read},
                                {"converted", earlier_frames_as_they_are_converted},
                                {"both", both_at_once},
                                {"lent_sums", lent_sums_stay},
                                {"chroma", chroma_of_the_frames_that_read_it}});
}
