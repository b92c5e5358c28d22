#include "kernels/recolor/recolor_hip.h"

#include <algorithm>

#include "hip/module.h"

namespace vmafx {

StatusOr<DeviceRecolorer> DeviceRecolorer::load(const hip::OpenedDevice& device, const Recolorer& recolorer) {
  DeviceRecolorer made;
  made.params_ = recolorer.params();
  VMAFX_ASSIGN(made.kernel_, device.kernels->kernel<RecolorWork>(kernels::recolor.of(made.params_.source.bpc).name));
  const std::vector<float>& tables = recolorer.tables();
  VMAFX_ASSIGN(made.tables_, hip::DeviceBuffer<float>::create(device.context, tables.size()));
  if (tables.empty()) return made;
  VMAFX_ASSIGN(const auto pinned, hip::PinnedBuffer<float>::create(device.context, tables.size()));
  std::ranges::copy(tables, pinned.data());
  VMAFX_ASSIGN(hip::Stream stream, hip::Stream::create(device.context));
  VMAFX_TRY(stream.upload(made.tables_.ptr(), static_cast<const float*>(pinned.data()), tables.size()));
  VMAFX_TRY(stream.drain());
  return made;
}

Status DeviceRecolorer::launch(hip::Stream& stream, std::span<const RecolorPicture> pictures) const {
  const auto& declared = kernels::recolor.of(params_.source.bpc);
  RecolorWork work{.params = params_, .tables = tables_.ptr(), .picture = {}};
  while (!pictures.empty()) {
    const auto some = pictures.first(std::min<size_t>(pictures.size(), kMostRecolored));
    pictures = pictures.subspan(some.size());
    std::ranges::copy(some, work.picture);
    VMAFX_TRY(hip::launch(
        stream, kernel_,
        {hip::blocks_for(static_cast<size_t>(params_.source.w), kRecolorColumns),
         hip::blocks_for(static_cast<size_t>(params_.source.h), kRecolorRows), static_cast<unsigned>(some.size())},
        {declared.x, declared.y}, 0, work));
  }
  return {};
}

}  // namespace vmafx
