/* Prescaler (prescale.h) on the device: the same floats. A metric's HIP twin holds one and launches it before its own
 * kernels. */
#ifndef VMAFX_KERNELS_STEPS_PRESCALE_HIP_H
#define VMAFX_KERNELS_STEPS_PRESCALE_HIP_H

#include "kernels/device_twin.h"
#include "kernels/steps/prescale_work.h"
#include "kernels/steps/rows.h"

namespace vmafx {

class PrescaleDevice {
 public:
  PrescaleDevice(KernelList& kernels, PrescaleMethod method, int from_w, int from_h, int to_w, int to_h, int bpc,
                 float offset)
      : work_{.from_w = from_w,
              .from_h = from_h,
              .to_w = to_w,
              .to_h = to_h,
              .method = method,
              .scale = scale_to_8_bits(bpc),
              .offset = offset},
        taps_(kernels.add(kernels::prescale_taps)), scale_(kernels.add(kernels::prescale.of(bpc))) {}

  /* The part of the batch's scratch memory that launch() uses, in multiples of 256: the planes, then the taps. */
  size_t scratch_bytes(int frames) const {
    const size_t taps = static_cast<size_t>(work_.to_w + work_.to_h) * prescale_taps(work_.method);
    return planes_bytes(frames) + scratch_aligned(taps * sizeof(PrescaleTap));
  }
  size_t plane_floats() const { return static_cast<size_t>(work_.to_w) * work_.to_h; }

  /* Scales plane `plane` of all frames. They come to lie at the start of `scratch`, rows of to_w floats without
   * padding: of a frame ref, then dist, plane_floats() each. */
  Status launch(const DeviceBatch& batch, int plane, hip::DevicePtr<std::byte> scratch) const {
    PrescaleWork work = work_;
    for (int i = 0; i < batch.count; i++) {
      work.planes[2 * i] = batch.planes[plane].ref[hip::ref_index(i)];
      work.planes[2 * i + 1] = batch.planes[plane].dist[i];
    }
    work.out = scratch.as<float>();
    work.taps = scratch.as<PrescaleTap>(static_cast<ptrdiff_t>(planes_bytes(batch.count)));
    VMAFX_TRY(taps_.launch(batch, {hip::blocks_for(work.to_w + work.to_h, kPrescaleThreads)}, work));
    hip::Dim grid = batch.grid(hip::blocks_for(work.to_w, kPrescaleThreads), static_cast<unsigned>(work.to_h));
    grid.z *= 2;
    return scale_.launch(batch, grid, work);
  }

 private:
  size_t planes_bytes(int frames) const { return scratch_aligned(2 * frames * plane_floats() * sizeof(float)); }

  PrescaleWork work_;  // but for what belongs to a batch
  TwinKernel<PrescaleWork> taps_, scale_;
};

}  // namespace vmafx

#endif
