/* The HIP twin of Recolorer: the same samples, of pictures in device memory. */
#ifndef VMAFX_KERNELS_RECOLOR_RECOLOR_HIP_H
#define VMAFX_KERNELS_RECOLOR_RECOLOR_HIP_H

#include <memory>
#include <span>

#include "base/status.h"
#include "hip/device.h"
#include "hip/launch.h"
#include "hip/memory.h"
#include "hip/stream.h"
#include "kernels/recolor/recolor.h"
#include "kernels/recolor/recolor_work.h"

namespace vmafx {

class DeviceRecolorer {
 public:
  /* Copies the tables of `recolorer` to the device, and waits for that. */
  static StatusOr<DeviceRecolorer> load(const hip::OpenedDevice& device, const Recolorer& recolorer);

  const Recolor& params() const { return params_; }

  /* Queues the conversion of any number of pictures. No allocation, no wait. */
  Status launch(hip::Stream& stream, std::span<const RecolorPicture> pictures) const;

 private:
  DeviceRecolorer() = default;

  Recolor params_{};
  hip::DeviceBuffer<float> tables_;
  hip::Kernel<RecolorWork> kernel_;
};

}  // namespace vmafx

#endif
