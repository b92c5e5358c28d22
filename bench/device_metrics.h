/* Metrics that run on the GPU together, as the engine runs them: checked against their CPU twins, and timed. */
#ifndef VMAFX_BENCH_DEVICE_METRICS_H
#define VMAFX_BENCH_DEVICE_METRICS_H

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "bench/device_frames.h"
#include "bench/timing.h"
#include "engine/plan.h"
#include "hip/device.h"
#include "hip/frame_pool.h"
#include "kernels/device_conversions.h"
#include "kernels/device_twin.h"
#include "kernels/extractor.h"

namespace bench {

/* The memory that frames come from; with the last one no kernel runs. */
enum class Source { kDevice, kPinned, kPinnedUploadOnly };

/* A metric whose extractor has kernels. */
struct DeviceMetric {
  const char* name;
  std::unique_ptr<const vmafx::Extractor> extractor;
};

class DeviceMetrics {
 public:
  /* So many `encodes` in turn have the reference of the first of them. */
  DeviceMetrics(const vmafx::hip::OpenedDevice& device, std::vector<DeviceMetric> metrics, const DeviceFrames& frames,
                int batch, int encodes = 1);

  /* Metrics that read earlier frames take several encodes one by one. */
  bool reads_earlier_frames() const;

  /* Dies when a sum of one of the first frames differs from the CPU twin's. */
  void check_sums(Source source) const;

  /* The pace of frames in a row through the pool, from upload to sums, over at least that long. */
  Pace pace(Source source, double milliseconds) const;

  /* The time of the kernels alone, launched back to back: microseconds per frame, the median of some runs. */
  double kernel_time() const;

 private:
  struct Metric : DeviceMetric {
    vmafx::PoolMemory memory;
    int earlier;  // pictures that it reads as it converts them
  };
  using Conversions = std::vector<std::optional<vmafx::DeviceConversions>>;  // by metric
  class Feed;

  void add(DeviceMetric metric, const vmafx::hip::Module& kernels);
  Conversions begin() const;
  void launch(const vmafx::hip::Batch& batch, Conversions& conversions) const;
  std::vector<vmafx::AlignedBytes> convert(const Metric& metric, vmafx::hip::Side side, int64_t frame) const;
  void check_frame(int64_t frame, const std::byte* sums) const;
  vmafx::FrameSet frame_set(int64_t frame) const;
  /* The frame whose reference frame number `i` of the batch has that begins with `first`. */
  int64_t ref_of(int64_t first, int i) const { return first + i - i % encodes_; }
  void place_resident(int64_t first, vmafx::hip::Batch* batch) const;

  const vmafx::hip::ContextPtr context_;
  const DeviceFrames& frames_;
  const int encodes_;
  vmafx::hip::PoolLayout layout_;
  std::vector<Metric> metrics_;
};

}  // namespace bench

#endif
