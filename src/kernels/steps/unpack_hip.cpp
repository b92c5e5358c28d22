#include "kernels/steps/unpack_hip.h"

#include <algorithm>

#include "hip/launch.h"

namespace vmafx {

StatusOr<Unpacker> Unpacker::load(const hip::Module& module) {
  Unpacker unpacker;
  VMAFX_ASSIGN(unpacker.kernel_, module.kernel<UnpackPlanes>(kernels::unpack.name));
  return unpacker;
}

Status Unpacker::launch(hip::Stream& stream, std::span<const UnpackPlane> planes) const {
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

}  // namespace vmafx
