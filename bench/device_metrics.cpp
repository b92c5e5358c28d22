#include "bench/device_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>

#include "base/aligned.h"
#include "bench/die.h"
#include "hip/memory.h"

namespace bench {

using namespace vmafx;

DeviceMetrics::DeviceMetrics(const hip::OpenedDevice& device, std::vector<DeviceMetric> metrics,
                             const DeviceFrames& frames, int batch, int encodes)
    : context_(device.context), frames_(frames), encodes_(encodes) {
  layout_.batch = batch;
  for (DeviceMetric& metric : metrics) add(std::move(metric), *device.kernels);
}

void DeviceMetrics::add(DeviceMetric metric, const hip::Module& kernels) {
  const Extractor& extractor = *metric.extractor;
  check(extractor.device_twin()->load(kernels));
  add_reads(extractor.reads(), frames_.format(), layout_);
  const PoolMemory memory = add_memory(extractor, layout_);
  metrics_.push_back({std::move(metric), memory, extractor.reads().converted});
}

bool DeviceMetrics::reads_earlier_frames() const {
  return layout_.history > 0 || std::ranges::any_of(metrics_, [](const Metric& metric) { return metric.earlier > 0; });
}

/* Begins a stream. */
DeviceMetrics::Conversions DeviceMetrics::begin() const {
  Conversions conversions(metrics_.size());
  for (size_t i = 0; i < metrics_.size(); i++)
    if (metrics_[i].earlier) conversions[i].emplace(metrics_[i].earlier, layout_.batch, 1);
  return conversions;
}

/* `batch` has the memory of all metrics. */
void DeviceMetrics::launch(const hip::Batch& batch, Conversions& conversions) const {
  const DeviceConversions::Frame frames[hip::kMostBatch];
  int numbers[hip::kMostBatch];
  std::iota(std::begin(numbers), std::end(numbers), 0);
  const auto count = static_cast<size_t>(batch.count);
  for (size_t i = 0; i < metrics_.size(); i++) {
    const DeviceTwin& twin = *metrics_[i].extractor->device_twin();
    DeviceBatch own = device_batch(batch, metrics_[i].memory);
    for (size_t k = 0; k < count; k++) own.numbers[k] = batch.first + static_cast<int64_t>(k);
    if (conversions[i]) {
      check(conversions[i]->convert(twin, own, {frames, count}));
      own.places = conversions[i]->seen_by({numbers, count});
    }
    check(twin.launch(own));
  }
}

/* -- Through the pool ---------------------------------------------------------------------------------------------- */

/* Keeps the pool's batches in flight. */
class DeviceMetrics::Feed {
 public:
  using Seen = std::function<void(int64_t frame, const std::byte* sums)>;

  Feed(const DeviceMetrics& metrics, Source source, Seen seen)
      : metrics_(metrics), source_(source), seen_(std::move(seen)), conversions_(metrics.begin()),
        pool_(take(hip::FramePool::create(metrics.context_, metrics.layout_))) {}

  void send_batch() {
    while (pool_->full()) collect();
    for (int i = 0; !pool_->batch_full(); i++) {
      hip::PoolFrame& pool_frame = pool_->next();
      if (i % metrics_.encodes_) pool_frame.share_reference();
      if (source_ == Source::kDevice) metrics_.frames_.use_device(pool_frame, pool_frame.number());
      else metrics_.frames_.use_pinned(pool_frame, pool_frame.number());
    }
    const hip::Batch sent = take(pool_->upload());
    if (source_ != Source::kPinnedUploadOnly) metrics_.launch(sent, conversions_);
    check(pool_->read_back());
    frames_ += sent.count;
  }

  void drain() {
    while (!pool_->empty()) collect();
  }

  int64_t frames() const { return frames_; }  // sent so far

 private:
  void collect() {
    const auto batch = take(pool_->collect(true));
    for (int i = 0; i < batch->count; i++) seen_(batch->first + i, batch->sums + i * batch->sums_stride);
    pool_->release();
  }

  const DeviceMetrics& metrics_;
  const Source source_;
  const Seen seen_;
  Conversions conversions_;
  const std::unique_ptr<hip::FramePool> pool_;
  int64_t frames_ = 0;
};

Pace DeviceMetrics::pace(Source source, double milliseconds) const {
  constexpr int kWarmUp = 8;  // batches
  Feed feed(*this, source, [](int64_t, const std::byte*) {});
  for (int i = 0; i < kWarmUp; i++) feed.send_batch();
  feed.drain();
  const int64_t before = feed.frames();
  const Stopwatch wall(false), cpu(true);
  while (wall.elapsed() < milliseconds) feed.send_batch();
  feed.drain();
  const double frames = static_cast<double>(feed.frames() - before);
  return {wall.elapsed() * 1e3 / frames, cpu.elapsed() * 1e3 / frames};
}

/* -- Checked against the CPU twins --------------------------------------------------------------------------------- */

void DeviceMetrics::check_sums(Source source) const {
  const int64_t frames = std::max(4, encodes_);
  Feed feed(*this, source, [&](int64_t frame, const std::byte* sums) {
    if (frame < frames) check_frame(frame, sums);
  });
  while (feed.frames() < frames) feed.send_batch();
  feed.drain();
}

FrameSet DeviceMetrics::frame_set(int64_t frame) const {
  FrameSet set;
  set.index = set.number = frame;
  const int in_batch = static_cast<int>(frame % layout_.batch);
  set.ref = frames_.picture(hip::Side::kRef, ref_of(frame - in_batch, in_batch));
  set.dist = frames_.picture(hip::Side::kDist, frame);
  for (int64_t back = 1; back <= 2 && back <= frame; back++) {
    set.earlier_ref[back - 1] = frames_.picture(hip::Side::kRef, frame - back);
    set.earlier_dist[back - 1] = frames_.picture(hip::Side::kDist, frame - back);
  }
  return set;
}

/* The pictures that the CPU twin reads, the last one first. */
std::vector<AlignedBytes> DeviceMetrics::convert(const Metric& metric, hip::Side side, int64_t frame) const {
  std::vector<AlignedBytes> converted;
  for (int64_t back = 0; metric.earlier && back <= std::min<int64_t>(frame, metric.earlier); back++) {
    converted.push_back(allocate_aligned(metric.extractor->converted_bytes()));
    metric.extractor->convert(frames_.picture(side, frame - back), converted.back().get());
  }
  return converted;
}

void DeviceMetrics::check_frame(int64_t frame, const std::byte* sums) const {
  for (const Metric& metric : metrics_) {
    const size_t bytes = metric.extractor->sums_bytes();
    const AlignedBytes scratch = allocate_aligned(metric.extractor->scratch_bytes());
    const AlignedBytes want = allocate_aligned(bytes);
    std::memset(want.get(), 0, bytes);
    const auto refs = convert(metric, hip::Side::kRef, frame), dists = convert(metric, hip::Side::kDist, frame);
    std::vector<const std::byte*> ref, dist;
    for (const AlignedBytes& picture : refs) ref.push_back(picture.get());
    for (const AlignedBytes& picture : dists) dist.push_back(picture.get());
    FrameSet set = frame_set(frame);
    set.converted_ref = ref;
    set.converted_dist = dist;
    metric.extractor->extract(set, scratch.get(), want.get());
    if (std::memcmp(want.get(), sums + metric.memory.sums, bytes) != 0)
      die(std::string(metric.name) + ": the sums of frame " + std::to_string(frame) + " are not the CPU twin's");
  }
}

/* -- The kernels alone --------------------------------------------------------------------------------------------- */

void DeviceMetrics::place_resident(int64_t first, hip::Batch* batch) const {
  for (int p = 0; p < frames_.format().planes(); p++) {
    for (int back = 1; back <= layout_.history && back <= first; back++) {
      batch->planes[p].ref[hip::ref_index(0, back)] = frames_.device_plane(hip::Side::kRef, first - back, p);
      batch->planes[p].earlier_dist[hip::kMostHistory - back] = frames_.device_plane(hip::Side::kDist, first - back, p);
    }
    for (int i = 0; i < layout_.batch; i++) {
      batch->planes[p].ref[hip::ref_index(i)] = frames_.device_plane(hip::Side::kRef, ref_of(first, i), p);
      batch->planes[p].dist[i] = frames_.device_plane(hip::Side::kDist, first + i, p);
    }
  }
}

double DeviceMetrics::kernel_time() const {
  constexpr int kLaunches = 32, kRuns = 5;
  constexpr size_t kDelayBytes = 64 << 20;
  const auto delay = take(hip::DeviceBuffer<std::byte>::create(context_, kDelayBytes));
  const auto sums = take(hip::DeviceBuffer<std::byte>::create(context_, layout_.sums_bytes * layout_.batch));
  const auto scratch = take(hip::DeviceBuffer<std::byte>::create(context_, layout_.scratch_bytes));
  const auto kept = take(hip::DeviceBuffer<std::byte>::create(context_, layout_.kept_bytes));
  hip::Event begin = take(hip::Event::create(context_, hip::Timing::kOn));
  hip::Event end = take(hip::Event::create(context_, hip::Timing::kOn));
  hip::Stream stream = take(hip::Stream::create(context_));
  check(stream.clear(sums.ptr(), layout_.sums_bytes * layout_.batch));
  hip::Batch batch;
  batch.count = layout_.batch;
  batch.stream = &stream;
  batch.sums = sums.ptr();
  batch.sums_stride = layout_.sums_bytes;
  batch.scratch = scratch.ptr();
  batch.kept = kept.ptr();
  Conversions conversions = this->begin();

  int64_t first = layout_.history;
  int delays = 0;
  const auto run = [&] { /* the device works on the delays while the launches queue up behind them */
                         for (int i = 0; i < delays; i++) check(stream.clear(delay.ptr(), kDelayBytes));
                         check(begin.record(stream));
                         const Stopwatch stopwatch(false);
                         for (int i = 0; i < kLaunches; i++, first += layout_.batch) {
                           batch.first = first;
                           place_resident(first, &batch);
                           launch(batch, conversions);
                         }
                         const double launching = stopwatch.elapsed() * 1e3;
                         check(end.record(stream));
                         check(stream.drain());
                         return launching;
  };
  run();
  const double launching = run();
  check(begin.record(stream));
  check(stream.clear(delay.ptr(), kDelayBytes));
  check(end.record(stream));
  check(stream.drain());
  delays = static_cast<int>(std::ceil(1.5 * launching / take(end.microseconds_since(begin)))) + 1;

  double times[kRuns];
  for (double& time : times) {
    run();
    time = take(end.microseconds_since(begin)) / (kLaunches * layout_.batch);
  }
  std::ranges::sort(times);
  return times[kRuns / 2];
}

}  // namespace bench
