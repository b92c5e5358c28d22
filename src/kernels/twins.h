/* The twins of a metric: functions that make the same raw sums of the same frames, to the last bit, on another processor. */
#ifndef VMAFX_KERNELS_TWINS_H
#define VMAFX_KERNELS_TWINS_H

#include <cstddef>
#include <memory>

#include "base/picture.h"
#include "base/status.h"

namespace vmafx {

class DeviceTwin;      // kernels/device_twin.h
struct ExtractorInfo;  // kernels/extractor.h
struct FrameSet;
class Options;  // kernels/options.h

template <class Params, class Sums>
struct CpuTwin {
  size_t (*scratch_bytes)(const Params& params);  // working memory of run(), 64-byte aligned; nullptr: none
  /* Fills `sums`, which are zero, from a frame. Thread-safe. */
  void (*run)(const Params& params, const FrameSet& frames, std::byte* scratch, Sums& sums);
};

template <class Params, class Sums>
struct Twins {
  CpuTwin<Params, Sums> ref, simd;
  std::unique_ptr<DeviceTwin> (*device)(const Params& params);
};

}  // namespace vmafx

#endif
