/* The arguments of the kernels of SpEED. */
#ifndef VMAFX_KERNELS_SPEED_SPEED_WORK_H
#define VMAFX_KERNELS_SPEED_SPEED_WORK_H

#include "kernels/gpu/work.h"
#include "kernels/speed/speed_shape.h"
#include "kernels/steps/prescale_work.h"

namespace vmafx {

/* Shapes of the kernels' blocks. */
inline constexpr int kSpeedSegment = 8;  // samples of x, in a row
inline constexpr unsigned kSpeedThreads = 128;
inline constexpr unsigned kSpeedPairThreads = 384;  // one for each pair of elements, then one for each element
inline constexpr unsigned kSpeedModelThreads = 256;
inline constexpr unsigned kSpeedMeasureThreads = 64;  // a block of the plane each
inline constexpr unsigned kSpeedScoreThreads = 256;
inline constexpr int kSpeedPartWords = kSpeedPairs + kSpeedDim;  // for one band
inline constexpr int kSpeedMostUnits = hip::kMostBatch * 4;

/* Everything in scratch memory lies in units: a plane of one side, number (frame · planes + plane) · 2 + side. */
struct SpeedWork {
  SpeedShape shape;
  hip::DevicePlane now[kSpeedMostUnits];
  hip::DevicePlane before[kSpeedMostUnits];  // in time; null where there is none
  int32_t plane_count = 0;
  int32_t in_time = 0;  // the plane before less the one now
  int32_t bands = 0;
  PrescaleWork prescale;           // its sizes and taps, where there is prescaling
  hip::DevicePtr<float> small;     // small_w · small_h of each unit
  hip::DevicePtr<float> centered;  // likewise
  hip::DevicePtr<double> parts;    // bands · kSpeedPartWords of each unit: sums of products, then sums
  hip::DevicePtr<SpeedModel> models;
  hip::DevicePtr<SpeedBlockSums> blocks;  // by unit
  BatchSums<SpeedSums> sums;              // the first plane's; those of the others follow
};
VMAFX_DECLARE_SAMPLE_KERNELS(speed_decimate, SpeedWork, kSpeedThreads);
VMAFX_DECLARE_SAMPLE_KERNELS(speed_decimate_scaled, SpeedWork, kSpeedThreads);
VMAFX_DECLARE_KERNEL(speed_center, SpeedWork, kSpeedThreads);
VMAFX_DECLARE_KERNEL(speed_multiply, SpeedWork, kSpeedPairThreads);
VMAFX_DECLARE_KERNEL(speed_model, SpeedWork, kSpeedModelThreads);
VMAFX_DECLARE_KERNEL(speed_measure, SpeedWork, kSpeedMeasureThreads);
VMAFX_DECLARE_KERNEL(speed_score, SpeedWork, kSpeedScoreThreads);

}  // namespace vmafx

#endif
