/* The host's side of unpack.hip. */
#ifndef VMAFX_KERNELS_STEPS_UNPACK_HIP_H
#define VMAFX_KERNELS_STEPS_UNPACK_HIP_H

#include <algorithm>
#include <span>

#include "base/status.h"
#include "hip/launch.h"
#include "hip/module.h"
#include "hip/stream.h"
#include "kernels/steps/unpack_work.h"

namespace vmafx {

class Unpacker {
 public:
  static StatusOr<Unpacker> load(const hip::Module& module) {
    Unpacker unpacker;
    VMAFX_ASSIGN(unpacker.kernel_, module.kernel<UnpackPlanes>(kernels::unpack.name));
    return unpacker;
  }
  Unpacker() = default;  // launching it is an error

  /* Queues the work on all of `planes`, any number. */
  Status launch(hip::Stream& stream, std::span<const UnpackPlane> planes) const {
    while (!planes.empty()) {
      const auto some = planes.first(std::min<size_t>(planes.size(), kMostUnpacks));
      planes = planes.subspan(some.size());
      UnpackPlanes argument{};
      std::ranges::copy(some, argument.plane);
      const int w = std::ranges::max(some, {}, &UnpackPlane::w).w, h = std::ranges::max(some, {}, &UnpackPlane::h).h;
      VMAFX_TRY(hip::launch(stream, kernel_,
                            {hip::blocks_for(w, kUnpackColumns * kUnpackRun), hip::blocks_for(h, kUnpackRows),
                             static_cast<unsigned>(some.size())},
                            {kernels::unpack.x, kernels::unpack.y}, 0, argument));
    }
    return {};
  }

 private:
  hip::Kernel<UnpackPlanes> kernel_;
};

}  // namespace vmafx

#endif
