#include "kernels/steps/row_sums_hip.h"

#include <algorithm>
#include <cassert>

namespace vmafx {
namespace {

int pitch_for(int n) { return static_cast<int>(round_up(n, 4)); }

}  // namespace

int RowSumsDevice::add_part(int n, int h, int planes, size_t offset) {
  assert(parts_.size() < kMostRowSumsParts);
  parts_.push_back({n, h, planes, static_cast<int>(offset)});
  return static_cast<int>(parts_.size()) - 1;
}

size_t RowSumsDevice::values_bytes(int frames) const {
  size_t most = 0;
  for (const Part& part : parts_)
    most = std::max(most, sizeof(float) * pitch_for(part.n) * part.h * part.planes * frames);
  return scratch_aligned(most);
}

size_t RowSumsDevice::scratch_bytes(int frames) const {
  size_t rows = 0;
  for (const Part& part : parts_) rows += static_cast<size_t>(part.h) * part.planes * frames;
  return values_bytes(frames) + scratch_aligned(sizeof(float) * rows);
}

RowValues RowSumsDevice::values(int part, hip::DevicePtr<std::byte> scratch) const {
  const Part& of = parts_[part];
  return {scratch.as<float>(), of.n, of.h, of.planes, pitch_for(of.n)};
}

hip::DevicePtr<float> RowSumsDevice::row_sums(int part, int frames, hip::DevicePtr<std::byte> scratch) const {
  ptrdiff_t before = 0;
  for (int i = 0; i < part; i++) before += static_cast<ptrdiff_t>(parts_[i].h) * parts_[i].planes * frames;
  return scratch.as<float>(static_cast<ptrdiff_t>(values_bytes(frames))) + before;
}

Status RowSumsDevice::add_rows(const DeviceBatch& batch, int part, hip::DevicePtr<std::byte> scratch) const {
  const AddRowsWork work = {values(part, scratch), parts_[part].h * parts_[part].planes * batch.count,
                            row_sums(part, batch.count, scratch)};
  return add_rows_.launch(batch, {hip::blocks_for(work.rows, kRowsPerBlock)}, work);
}

Status RowSumsDevice::add_sums(const DeviceBatch& batch, hip::DevicePtr<std::byte> scratch) const {
  AddRowSumsWork work;
  unsigned planes = 0;
  for (size_t i = 0; i < parts_.size(); i++) {
    work.part[i] = {row_sums(static_cast<int>(i), batch.count, scratch), parts_[i].h, parts_[i].planes,
                    parts_[i].offset};
    planes += static_cast<unsigned>(parts_[i].planes);
  }
  work.sums = batch.sums_of<uint8_t>();
  return add_row_sums_.launch(batch, {planes, static_cast<unsigned>(batch.count)}, work);
}

}  // namespace vmafx
