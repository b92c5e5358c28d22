/* The host's side of unpack.hip. */
#ifndef VMAFX_KERNELS_STEPS_UNPACK_HIP_H
#define VMAFX_KERNELS_STEPS_UNPACK_HIP_H

#include <span>

#include "base/status.h"
#include "hip/module.h"
#include "hip/stream.h"
#include "kernels/steps/unpack_work.h"

namespace vmafx {

class Unpacker {
 public:
  static StatusOr<Unpacker> load(const hip::Module& module);
  Unpacker() = default;  // launching it is an error

  /* Queues the work on all of `planes`, any number. */
  Status launch(hip::Stream& stream, std::span<const UnpackPlane> planes) const;

 private:
  hip::Kernel<UnpackPlanes> kernel_;
};

}  // namespace vmafx

#endif
