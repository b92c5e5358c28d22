/* The planes of a batch of frames in device memory, as kernels take them: by value, as an argument. */
#ifndef VMAFX_HIP_FRAME_PLANES_H
#define VMAFX_HIP_FRAME_PLANES_H

#include <stdint.h>

#include "hip/device_ptr.h"

namespace vmafx::hip {

inline constexpr int kMostBatch = 16;   // frames that one launch works on
inline constexpr int kMostHistory = 2;  // earlier frames that a metric may read

struct DevicePlane {
  DevicePtr<const uint8_t> data;  // 8 bit: a byte per sample; above: two. Null if there is no such frame
  int64_t stride = 0;             // bytes
};

/* One plane (Y, U or V) of the frames of a batch. */
struct BatchPlanes {
  DevicePlane ref[kMostHistory + kMostBatch];  // see ref_index(); null before the start of the stream
  DevicePlane dist[kMostBatch];
  DevicePlane earlier_dist[kMostHistory];  // distorted frames before the batch, the last one last: see dist_plane()
};

/* The index of the reference of frame `frame` of the batch, or of the one `back` frames before. */
constexpr int ref_index(int frame, int back = 0) { return kMostHistory + frame - back; }

/* The distorted frame `frame` of the batch, or that of `back` frames before. */
constexpr const DevicePlane& dist_plane(const BatchPlanes& planes, int frame, int back = 0) {
  return frame >= back ? planes.dist[frame - back] : planes.earlier_dist[kMostHistory + frame - back];
}

}  // namespace vmafx::hip

#endif
