/* A metric's kernels on the emulator, frame by frame or in batches, against its CPU twin. */
#ifndef VMAFX_TESTS_SUPPORT_DEVICE_H
#define VMAFX_TESTS_SUPPORT_DEVICE_H

#include "hip/device.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "hip/frame_pool.h"
#include "kernels/device_conversions.h"
#include "kernels/device_twin.h"
#include "kernels/extractor.h"
#include "tests/support/check_main.h"
#include "tests/support/converted.h"
#include "tests/support/paths.h"

namespace vmafx::test {

struct PicturePair {
  Picture ref, dist;

  bool shares_reference(const PicturePair& other) const { return ref.plane[0].data == other.ref.plane[0].data; }
};

template <class T>
T take(StatusOr<T> made) {
  ck_assert_msg(made.ok(), "%s", made.status().message().c_str());
  return std::move(made.value());
}

inline void assert_ok(const Status& status) { ck_assert_msg(status.ok(), "%s", status.message().c_str()); }

/* Has the engine load the emulator, or the runtime that VMAFX_HIP_RUNTIME names, if it is empty the one that is
 * installed: such tests are as good on hardware. On a busy machine the emulator takes longer than any GPU. */
inline void use_emulator() {
  setenv("VMAFX_HIP_RUNTIME", HIP_EMULATOR, 0);
  setenv("VMAFX_HIP_DEADLINE", "120000", 0);
}

inline bool on_hardware() {
  const char* named = std::getenv("VMAFX_HIP_RUNTIME");
  return named && std::string(named) != HIP_EMULATOR;
}

/* The one that VMAFX_TEST_DEVICE names, of several. */
inline hip::OpenedDevice open_test_device() {
  use_emulator();
  const char* named = std::getenv("VMAFX_TEST_DEVICE");
  hip::ContextOptions options;
  options.deadline = std::chrono::milliseconds(std::atoi(std::getenv("VMAFX_HIP_DEADLINE")));
  return take(hip::open_device(named ? named : "auto", std::move(options)));
}

/* Raw sums of each frame of a stream. */
using StreamSums = std::vector<std::vector<std::byte>>;

/* Runs the kernels of `extractor` on frames, `batch` of them in each launch. Neighbors with one picture as their
 * reference share it, like the encodes of a session. */
class DeviceRun {
 public:
  DeviceRun(const Extractor& extractor, const VideoFormat& format, int batch)
      : extractor_(extractor), twin_(*extractor.device_twin()), reads_(extractor.reads()),
        sums_bytes_(extractor.sums_bytes()), device_(open_test_device()), conversions_(reads_.converted, batch, 1),
        pool_(take(hip::FramePool::create(device_.context, layout(format, batch)))) {
    assert_ok(twin_.load(*device_.kernels));
  }

  StreamSums operator()(const std::vector<PicturePair>& frames) {
    for (size_t i = 0; i < frames.size(); i++) {
      while (pool_->full()) collect();
      const bool shares = pool_->room() < pool_->batch_size() && frames[i].shares_reference(frames[i - 1]);
      hip::PoolFrame& pool_frame = pool_->next();
      if (shares) pool_frame.share_reference();
      fill(pool_frame, frames[i]);
      if (pool_->batch_full()) launch();
    }
    if (sums_.size() + in_flight_ < frames.size()) launch();
    while (!pool_->empty()) collect();
    return std::move(sums_);
  }

 private:
  hip::PoolLayout layout(const VideoFormat& format, int batch) const {
    hip::PoolLayout layout;
    add_reads(reads_, format, layout);
    layout.batch = batch;
    add_memory(extractor_, layout);
    return layout;
  }

  static void fill(hip::PoolFrame& pool_frame, const PicturePair& frame) {
    for (const hip::Side side : {hip::Side::kRef, hip::Side::kDist})
      for (int p = 0; p < 3; p++) {
        const auto& staging = pool_frame.staging(side, p);
        const SamplePlane& plane = (side == hip::Side::kRef ? frame.ref : frame.dist).plane[p];
        for (size_t y = 0; staging.data && y < staging.rows; y++)
          std::memcpy(staging.data + y * staging.stride,
                      static_cast<const std::byte*>(plane.data) + static_cast<ptrdiff_t>(y) * plane.stride,
                      staging.row_bytes);
      }
  }

  void launch() {
    DeviceBatch batch = device_batch(take(pool_->upload()), {});
    for (int i = 0; i < batch.count; i++) batch.numbers[i] = batch.first + i;
    batch.enough_blocks = 1;  // frames that share their reference do so in every kernel, however small they are
    if (reads_.converted) convert(batch);
    assert_ok(twin_.launch(batch));
    assert_ok(pool_->read_back());
    in_flight_ += batch.count;
  }

  /* Each frame is the next one of one stream, whatever its reference. */
  void convert(DeviceBatch& batch) {
    const std::vector<DeviceConversions::Frame> frames(static_cast<size_t>(batch.count));
    std::vector<int> numbers(frames.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    assert_ok(conversions_.convert(twin_, batch, frames));
    batch.places = conversions_.seen_by(numbers);
  }

  void collect() {
    const auto batch = take(pool_->collect(true));
    for (int i = 0; i < batch->count; i++) {
      const std::byte* sums = batch->sums + i * batch->sums_stride;
      sums_.emplace_back(sums, sums + sums_bytes_);
    }
    in_flight_ -= batch->count;
    pool_->release();
  }

  const Extractor& extractor_;
  DeviceTwin& twin_;
  const Reads reads_;
  const size_t sums_bytes_;
  const hip::OpenedDevice device_;
  DeviceConversions conversions_;
  const std::unique_ptr<hip::FramePool> pool_;
  StreamSums sums_;
  size_t in_flight_ = 0;
};

/* Frame `frame` of a stream, with the pictures before it. */
inline FrameSet frame_of(const std::vector<PicturePair>& pairs, size_t frame) {
  FrameSet set;
  set.index = set.number = static_cast<int64_t>(frame);
  set.ref = pairs[frame].ref;
  set.dist = pairs[frame].dist;
  for (size_t back = 1; back <= 2 && back <= frame; back++) {
    set.earlier_ref[back - 1] = pairs[frame - back].ref;
    set.earlier_dist[back - 1] = pairs[frame - back].dist;
  }
  return set;
}

/* The sums of extract(), the CPU twin. */
inline StreamSums cpu_sums(const Extractor& extractor, const std::vector<PicturePair>& frames) {
  const AlignedBytes scratch = allocate_aligned(extractor.scratch_bytes());
  const AlignedBytes sums = allocate_aligned(extractor.sums_bytes());
  StreamSums all;
  std::vector<Picture> refs, dists;
  for (size_t i = 0; i < frames.size(); i++) {
    FrameSet set = frame_of(frames, i);
    refs.push_back(frames[i].ref);
    dists.push_back(frames[i].dist);
    const ConvertedFrame converted(extractor, refs, dists);
    converted.show(set);
    std::memset(sums.get(), 0, extractor.sums_bytes());
    extractor.extract(set, scratch.get(), sums.get());
    all.emplace_back(sums.get(), sums.get() + extractor.sums_bytes());
  }
  return all;
}

inline std::string describe(const VideoFormat& format, int batch) {
  return std::to_string(format.w) + "x" + std::to_string(format.h) + " " + std::to_string(format.bpc) +
         " bit, batches of " + std::to_string(batch);
}

/* Kernels and CPU twin give equal raw sums for every frame. Sums are 64-bit words. */
inline void assert_device_agrees(const Extractor& extractor, const VideoFormat& format,
                                 const std::vector<PicturePair>& frames, int batch, const std::string& what) {
  const StreamSums got = DeviceRun(extractor, format, batch)(frames), want = cpu_sums(extractor, frames);
  ck_assert_uint_eq(got.size(), want.size());
  for (size_t i = 0; i < want.size(); i++)
    for (size_t word = 0; word < want[i].size() / 8; word++) {
      long long a, b;
      std::memcpy(&a, &got[i][word * 8], 8);
      std::memcpy(&b, &want[i][word * 8], 8);
      ck_assert_msg(a == b, "%s, %s: frame %zu, sum %zu is %lld on the device, %lld on the CPU", what.c_str(),
                    describe(format, batch).c_str(), i, word, a, b);
    }
}

/* run_suite() with waves of so many lanes, each in a process of its own, as the emulator is set up once per process.
 * Hardware has the ones it has. */
inline int run_suite_with_lanes(const char* name, const std::vector<NamedTest>& tests,
                                const std::vector<const char*>& lane_counts) {
  if (on_hardware()) return run_suite(name, tests);
  std::fflush(stdout);
  std::vector<pid_t> children;
  for (const char* lanes : lane_counts) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    setenv("VMAFX_HIP_EMULATOR_LANES", lanes, 1);
    std::exit(run_suite((std::string(name) + ", " + lanes + " lanes").c_str(), tests));
  }
  int failed = 0;
  for (const pid_t child : children) {
    int status = 1;
    failed |= child < 0 || waitpid(child, &status, 0) != child || status != 0;
  }
  return failed;
}

/* Tests of kernels. */
inline int run_suite_on_device(const char* name, const std::vector<NamedTest>& tests) {
  return run_suite_with_lanes(name, tests, {"32", "64"});
}

/* Tests of what the host does around them, where pictures come from and go to: waves of 64 lanes with VMAFX_TEST_ALL
 * only. */
inline int run_host_suite_on_device(const char* name, const std::vector<NamedTest>& tests) {
  if (test_all()) return run_suite_on_device(name, tests);
  return run_suite_with_lanes(name, tests, {"32"});
}

/* Faults that only the emulator can have. */
inline int run_suite_on_emulator(const char* name, const std::vector<NamedTest>& tests) {
  if (!on_hardware()) return run_suite(name, tests);
  std::printf("not on hardware: %s\n", name);
  return 0;
}

}  // namespace vmafx::test

#endif
