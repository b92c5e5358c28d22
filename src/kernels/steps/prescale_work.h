/* The parameters of the kernels in prescale.hip. */
#ifndef VMAFX_KERNELS_STEPS_PRESCALE_WORK_H
#define VMAFX_KERNELS_STEPS_PRESCALE_WORK_H

#include "kernels/gpu/work.h"
#include "kernels/steps/prescale_math.h"

namespace vmafx {

inline constexpr unsigned kPrescaleThreads = 256;  // a row of the output each block

struct PrescaleWork {
  hip::DevicePlane planes[2 * hip::kMostBatch];  // for each frame ref, then dist
  int from_w, from_h, to_w, to_h;
  PrescaleMethod method;
  float scale, offset;               // applied to samples
  hip::DevicePtr<PrescaleTap> taps;  // to_w of them for columns, then to_h for rows
  hip::DevicePtr<float> out;         // planes of to_w x to_h: of a frame ref, then dist
};
VMAFX_DECLARE_KERNEL(prescale_taps, PrescaleWork, kPrescaleThreads);
VMAFX_DECLARE_SAMPLE_KERNELS(prescale, PrescaleWork, kPrescaleThreads);

}  // namespace vmafx

#endif
