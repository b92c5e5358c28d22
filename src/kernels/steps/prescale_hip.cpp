#include "kernels/steps/prescale_hip.h"

namespace vmafx {

PrescaleDevice::PrescaleDevice(KernelList& kernels, PrescaleMethod method, int from_w, int from_h, int to_w, int to_h,
                               int bpc, float offset)
    : taps_(kernels.add(kernels::prescale_taps)), scale_(kernels.add(kernels::prescale.of(bpc))) {
  work_.method = method;
  work_.from_w = from_w;
  work_.from_h = from_h;
  work_.to_w = to_w;
  work_.to_h = to_h;
  work_.scale = 1.0f / static_cast<float>(1 << (bpc - 8));
  work_.offset = offset;
}

size_t PrescaleDevice::scratch_bytes(int frames) const {
  const size_t taps = static_cast<size_t>(work_.to_w + work_.to_h) * prescale_taps(work_.method);
  return scratch_aligned(2 * frames * plane_floats() * sizeof(float)) + scratch_aligned(taps * sizeof(PrescaleTap));
}

Status PrescaleDevice::launch(const DeviceBatch& batch, int plane, hip::DevicePtr<std::byte> scratch) const {
  PrescaleWork work = work_;
  for (int i = 0; i < batch.count; i++) {
    work.planes[2 * i] = batch.planes[plane].ref[hip::ref_index(i)];
    work.planes[2 * i + 1] = batch.planes[plane].dist[i];
  }
  work.out = scratch.as<float>();
  work.taps = (scratch + scratch_aligned(2 * batch.count * plane_floats() * sizeof(float))).as<PrescaleTap>();
  const unsigned positions = hip::blocks_for(work.to_w + work.to_h, kPrescaleThreads);
  VMAFX_TRY(taps_.launch(batch, {positions}, work));
  const hip::Dim grid = {hip::blocks_for(work.to_w, kPrescaleThreads), static_cast<unsigned>(work.to_h),
                         2 * static_cast<unsigned>(batch.count)};
  return scale_.launch(batch, grid, work);
}

}  // namespace vmafx
