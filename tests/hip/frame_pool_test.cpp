/* The frame pool on a real order of events: "kernels" are copies from the planes into the sums, on the stream that
 * the pool gives, so that whatever it orders wrongly shows as a wrong byte. Run on the emulator, where work is done
 * late. */
#include "hip/frame_pool.h"

#include <check.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/hip/fake.h"
#include "tests/support/check_main.h"
#include "tests/support/paths.h"

using namespace vmafx;
using namespace vmafx::hip;

namespace {

constexpr size_t kRowBytes = 70, kRows = 5;  // padded to 128 bytes a row
constexpr size_t kSums = 8;                  // bytes: see add_sums()

template <class T>
T take(StatusOr<T> made) {
  ck_assert_msg(made.ok(), "%s", made.status().message().c_str());
  return std::move(made.value());
}

uint8_t sample(Side side, int plane, int64_t frame, size_t y) {
  return static_cast<uint8_t>(1 + frame * 7 + plane * 31 + (side == Side::kDist ? 97 : 0) + y * 3);
}

/* The emulator, or the runtime that VMAFX_HIP_RUNTIME names: the test is as good on hardware. */
ContextPtr open_context() {
  const char* named = std::getenv("VMAFX_HIP_RUNTIME");
  return take(Context::open(take(list_devices(*take(Runtime::load({{named ? named : HIP_EMULATOR}}))))[0]));
}

PoolLayout layout(int batch, int history) {
  PoolLayout l;
  l.ref[0] = l.dist[0] = {kRowBytes, kRows};
  l.dist[2] = {kRowBytes / 2, kRows};
  l.sums_bytes = kSums;
  l.scratch_bytes = 1000;
  l.history = history;
  l.batch = batch;
  return l;
}

enum class Source { kStaging, kPinned, kDevice, kFilledLater, kMixed };

/* Feeds frames through a pool and checks what comes back. */
class Feed {
 public:
  Feed(int batch, int history, Source source = Source::kStaging)
      : history_(history), source_(source), context_(open_context()),
        pool_(take(FramePool::create(context_, layout(batch, history)))) {
    own_ = take(PinnedBuffer<uint8_t>::create(context_, kOwnFrames * kRowBytes * kRows));
    on_device_ = take(DeviceBuffer<uint8_t>::create(context_, kOwnFrames * kRowBytes * kRows));
    stream_ = std::make_unique<Stream>(take(Stream::create(context_)));
    std::memset(own_.data(), 0, own_.size());
  }

  FramePool& pool() { return *pool_; }
  const ContextPtr& context() const { return context_; }
  int64_t collected() const { return collected_; }

  void run(int frames) {
    for (int i = 0; i < frames; i++) {
      while (pool_->full()) collect(true);
      add();
      if (pool_->batch_full() || i % 5 == 4) send();  // now and then a batch that is not full
      collect(false);
    }
    send();
    while (pool_->oldest_needed() < number_ - history_ || collected_ < number_) collect(true);
    ck_assert(pool_->empty());
  }

  void add() {
    PoolFrame& frame = pool_->next();
    ck_assert_int_eq(frame.number(), number_);
    fill(frame, Side::kRef, 0);
    for (const int p : {0, 2}) {
      if (scored(number_)) fill(frame, Side::kDist, p);
      else frame.skip(Side::kDist, p);
    }
    number_++;
  }

  void send() {
    if (sent_ == number_) return;
    const Batch batch = take(pool_->upload());
    ck_assert_int_eq(batch.first, sent_);
    ck_assert_int_eq(batch.first + batch.count, number_);
    for (int i = 0; i < batch.count; i++)
      if (source_of(batch.first + i) == Source::kFilledLater) fill_on_device(batch, i);
    for (int i = 0; i < batch.count; i++) add_sums(batch, i);
    const Status status = pool_->read_back();
    ck_assert_msg(status.ok(), "%s", status.message().c_str());
    sent_ = number_;
    /* Now and then a batch is wanted before those before it, whose pictures it reads. */
    if (++batches_ % 3 == 0) ck_assert(batch.stream->drain().ok());
  }

  void collect(bool wait) {
    const auto collected = take(pool_->collect(wait));
    if (!collected) return;
    const CollectedBatch& batch = *collected;
    ck_assert_int_eq(batch.first, collected_);
    for (int i = 0; i < batch.count; i++) check(batch.first + i, batch.sums + i * batch.sums_stride);
    collected_ += batch.count;
    pool_->release();
  }

 private:
  static constexpr int kOwnFrames = 64;

  static bool scored(int64_t frame) { return frame % 4 != 3; }

  Source source_of(int64_t frame) const { return source_ == Source::kMixed ? static_cast<Source>(frame % 4) : source_; }

  static size_t place_of(int64_t frame) { return frame % kOwnFrames * kRowBytes * kRows; }

  void fill_on_device(const Batch& batch, int i) {
    const DevicePlane& plane = batch.planes[0].ref[ref_index(i)];
    const auto to = DevicePtr<std::byte>::from_address(plane.data.address());
    const uint8_t* const from = own_.data() + place_of(batch.first + i);
    ck_assert(batch.stream->upload_rows(to, static_cast<size_t>(plane.stride), from, kRowBytes, kRowBytes, kRows).ok());
  }

  void fill(PoolFrame& frame, Side side, int plane) {
    const auto& staging = frame.staging(side, plane);
    ck_assert_ptr_nonnull(staging.data);
    ck_assert_uint_eq(staging.stride, plane ? 64 : 128);
    const bool own = side == Side::kRef && source_of(frame.number()) != Source::kStaging;
    const size_t place = place_of(frame.number());
    auto* out = own ? own_.data() + place : reinterpret_cast<uint8_t*>(staging.data);
    const size_t stride = own ? kRowBytes : staging.stride;
    for (size_t y = 0; y < staging.rows; y++)
      std::memset(out + y * stride, sample(side, plane, frame.number(), y), staging.row_bytes);
    if (!own) return;
    if (source_of(frame.number()) == Source::kPinned) return frame.use_pinned(side, plane, out, stride);
    if (source_of(frame.number()) == Source::kFilledLater) return frame.fill_on_device(side, plane);
    const auto rows = on_device_.ptr() + static_cast<ptrdiff_t>(place);
    ck_assert(stream_->upload(rows, static_cast<const uint8_t*>(out), kRowBytes * kRows).ok());
    Event event = take(Event::create(context_));
    ck_assert(event.record(*stream_).ok() && pool_->wait_for(event).ok());
    frame.use_device(side, plane, {rows, kRowBytes});
  }

  /* Byte 0: the reference's last row; 1, 2: of one and two frames before; 3: distorted luma, 4: its V; 5, 6: of one and
   * two frames before; 7 stays zero. */
  void add_sums(const Batch& batch, int i) {
    const DevicePtr<std::byte> sums = batch.sums + static_cast<ptrdiff_t>(i * batch.sums_stride);
    for (int back = 0; back <= history_; back++) add_byte(batch, sums + back, batch.planes[0].ref[ref_index(i, back)]);
    add_byte(batch, sums + 3, batch.planes[0].dist[i]);
    add_byte(batch, sums + 4, batch.planes[2].dist[i]);
    for (int back = 1; back <= history_; back++) add_byte(batch, sums + 4 + back, dist_plane(batch.planes[2], i, back));
    ck_assert(!batch.planes[1].ref[ref_index(i)].data && !batch.planes[1].dist[i].data);
  }

  static void add_byte(const Batch& batch, DevicePtr<std::byte> to, const DevicePlane& plane) {
    if (!plane.data) return;
    const auto from = plane.data.as<const std::byte>(static_cast<ptrdiff_t>(plane.stride) * (kRows - 1));
    ck_assert(batch.stream->copy_rows(to, 1, from, 1, 1, 1).ok());
  }

  void check(int64_t frame, const std::byte* sums) const {
    uint8_t want[kSums] = {};
    for (int back = 0; back <= history_ && back <= frame; back++)
      want[back] = sample(Side::kRef, 0, frame - back, kRows - 1);
    for (int back = 1; back <= history_ && back <= frame; back++)
      if (scored(frame - back)) want[4 + back] = sample(Side::kDist, 2, frame - back, kRows - 1);
    if (scored(frame)) {
      want[3] = sample(Side::kDist, 0, frame, kRows - 1);
      want[4] = sample(Side::kDist, 2, frame, kRows - 1);
    }
    for (size_t i = 0; i < kSums; i++)
      ck_assert_msg(static_cast<uint8_t>(sums[i]) == want[i], "frame %d: byte %zu is %u, not %u",
                    static_cast<int>(frame), i, static_cast<unsigned>(sums[i]), want[i]);
  }

  int history_;
  Source source_;
  ContextPtr context_;
  PinnedBuffer<uint8_t> own_;
  DeviceBuffer<uint8_t> on_device_;
  std::unique_ptr<FramePool> pool_;
  std::unique_ptr<Stream> stream_;
  int64_t number_ = 0, sent_ = 0, collected_ = 0, batches_ = 0;
};

}  // namespace

START_TEST(frames_come_back_in_order) {
  for (const int batch : {1, 2, 3, 8})
    for (const int history : {0, 1, 2}) Feed(batch, history).run(41);
}
END_TEST

START_TEST(frames_may_lie_elsewhere) {
  for (const Source source : {Source::kPinned, Source::kDevice, Source::kFilledLater, Source::kMixed})
    for (const int batch : {1, 4}) Feed(batch, 2, source).run(41);
}
END_TEST

START_TEST(three_batches_are_in_flight) {
  Feed feed(2, 1);
  for (int batch = 0; batch < 3; batch++) {
    ck_assert(!feed.pool().full());
    feed.add();
    feed.add();
    ck_assert(feed.pool().batch_full());
    feed.send();
  }
  ck_assert(feed.pool().full());
  ck_assert_int_eq(feed.pool().oldest_needed(), 0);
  feed.collect(true);
  ck_assert(!feed.pool().full());
  ck_assert_int_eq(feed.pool().oldest_needed(), 1);
  feed.collect(true);
  feed.collect(true);
  ck_assert_int_eq(feed.pool().oldest_needed(), 5);
}
END_TEST

/* Batches whose kernels leave memory for the next batch share one stream. */
START_TEST(kernels_of_two_batches_overlap) {
  for (const size_t kept : {0, 1000}) {
    PoolLayout l = layout(1, 1);
    l.kept_bytes = kept;
    const auto pool = take(FramePool::create(open_context(), l));
    Batch batches[3];
    for (Batch& batch : batches) {
      (void)pool->next();
      batch = take(pool->upload());
      ck_assert(pool->read_back().ok());
    }
    const bool same_stream = batches[0].stream == batches[1].stream;
    ck_assert_int_eq(same_stream, kept > 0);
    ck_assert_ptr_eq(batches[0].stream, batches[2].stream);
    const auto apart = static_cast<int64_t>(batches[1].scratch.address() - batches[0].scratch.address());
    ck_assert_msg(same_stream ? apart == 0 : apart >= static_cast<int64_t>(l.scratch_bytes), "%d bytes apart",
                  static_cast<int>(apart));
    ck_assert(batches[0].scratch.address() == batches[2].scratch.address());
    while (!pool->empty()) {
      ck_assert(take(pool->collect(true)).has_value());
      pool->release();
    }
  }
}
END_TEST

START_TEST(the_frame_loop_allocates_nothing) {
  vmafx::test::FakeState& state = vmafx::test::fake_state();
  const ContextPtr context = vmafx::test::fake_context();
  auto pool = FramePool::create(context, layout(1, 2));
  ck_assert(pool.ok());
  const int live = state.live;
  state.calls = 0;
  constexpr int kFrames = 50;
  for (int i = 0; i < kFrames; i++) {
    (void)pool.value()->next();
    ck_assert(pool.value()->upload().ok() && pool.value()->read_back().ok());
    ck_assert(pool.value()->collect(true).ok());
    pool.value()->release();
  }
  ck_assert_int_eq(state.live, live);
  /* A frame: two copies up, a clear, a copy back, three records, two waits, a query; and what binds the thread. */
  ck_assert_int_le(state.calls, kFrames * 18);
}
END_TEST

START_TEST(failures_are_told) {
  vmafx::test::FakeState& state = vmafx::test::fake_state();
  const ContextPtr context = vmafx::test::fake_context();
  PoolLayout large = layout(8, 2);
  large.ref[1] = {4096, 2160};
  const auto refused = FramePool::create(context, large);
  ck_assert_int_eq(refused.status().code(), ENOMEM);
  assert_contains(refused.status().message(), "MiB of device memory: hipMalloc failed");
  ck_assert_int_eq(state.live, 0);
  PoolLayout wrong = layout(kMostBatch + 1, 0);
  ck_assert_int_eq(FramePool::create(context, wrong).status().code(), EINVAL);

  for (int k = 1;; k++) {
    vmafx::test::fake_state();
    const ContextPtr again = vmafx::test::fake_context();
    state.calls = 0;
    state.fail_at = k;
    {
      auto pool = FramePool::create(again, layout(2, 1));
      if (pool.ok()) {
        (void)pool.value()->next();
        auto batch = pool.value()->upload();
        Status status = batch.status();
        if (status.ok()) status = pool.value()->read_back();
        if (status.ok()) status = pool.value()->collect(true).status();
      }
    }
    ck_assert_msg(state.live == 0, "call %d: %d left", k, state.live);
    if (state.calls < k) break;
  }
}
END_TEST

int main() {
  return vmafx::test::run_suite("frame_pool", {{"order", frames_come_back_in_order},
                                               {"elsewhere", frames_may_lie_elsewhere},
                                               {"in_flight", three_batches_are_in_flight},
                                               {"overlap", kernels_of_two_batches_overlap},
                                               {"no_allocation", the_frame_loop_allocates_nothing},
                                               {"failures", failures_are_told}});
}
