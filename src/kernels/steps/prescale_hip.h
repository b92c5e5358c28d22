/* Prescaler (prescale.h) on the device: the same floats. A metric's HIP twin holds one and launches it before its own
 * kernels. */
#ifndef VMAFX_KERNELS_STEPS_PRESCALE_HIP_H
#define VMAFX_KERNELS_STEPS_PRESCALE_HIP_H

#include <cstddef>

#include "base/status.h"
#include "kernels/device_twin.h"
#include "kernels/steps/prescale_work.h"

namespace vmafx {

class PrescaleDevice {
 public:
  PrescaleDevice(KernelList& kernels, PrescaleMethod method, int from_w, int from_h, int to_w, int to_h, int bpc,
                 float offset);

  /* What launch() takes of the batch's scratch memory, in multiples of 256: the planes, then the taps. */
  size_t scratch_bytes(int frames) const;
  size_t plane_floats() const { return static_cast<size_t>(work_.to_w) * work_.to_h; }

  /* Scales plane `plane` of all frames. They come to lie at the start of `scratch`, rows of to_w floats without
   * padding: of a frame ref, then dist, plane_floats() each. */
  Status launch(const DeviceBatch& batch, int plane, hip::DevicePtr<std::byte> scratch) const;

 private:
  PrescaleWork work_;  // but for what belongs to a batch
  TwinKernel<PrescaleWork> taps_, scale_;
};

}  // namespace vmafx

#endif
