/* Sums in libvmaf's order (row_sums.h) on the device: a metric's kernels write their values as planes, whose rows are
 * added up by a thread each; a plane's rows then by one.
 *
 * A metric's HIP twin names its parts when it is made: the planes that one launch of its kernels fills. For each it
 * starts these and then add_rows(), and after the last part add_sums(). All parts have their values in the same
 * memory. */
#ifndef VMAFX_KERNELS_STEPS_ROW_SUMS_HIP_H
#define VMAFX_KERNELS_STEPS_ROW_SUMS_HIP_H

#include <algorithm>
#include <cassert>
#include <vector>

#include "kernels/device_twin.h"
#include "kernels/steps/row_sums_work.h"

namespace vmafx {

class RowSumsDevice {
 public:
  explicit RowSumsDevice(KernelList& kernels)
      : add_rows_(kernels.add(kernels::add_rows)), add_row_sums_(kernels.add(kernels::add_row_sums)) {}

  /* `planes` planes a frame of h rows of n values each. The first one's sum goes to byte `offset` of the frame's raw
   * sums, the next ones' to the words behind it. Returns the part's number. At most kMostRowSumsParts. */
  int add_part(int n, int h, int planes, size_t offset) {
    assert(parts_.size() < kMostRowSumsParts);
    const int pitch = static_cast<int>(round_up(static_cast<size_t>(n), 4));
    parts_.push_back({{{}, n, h, planes, pitch}, static_cast<int>(offset)});
    return static_cast<int>(parts_.size()) - 1;
  }

  /* The part of the batch's scratch memory that add_rows() and add_sums() use, in multiples of 256. */
  size_t scratch_bytes(int frames) const {
    return values_bytes(frames) + scratch_aligned(sizeof(float) * rows_before(parts_.size(), frames));
  }

  /* The place for the values of `part`, all of them. */
  RowValues values(int part, hip::DevicePtr<std::byte> scratch) const {
    RowValues values = parts_[part].values;
    values.first = scratch.as<float>();
    return values;
  }

  Status add_rows(const DeviceBatch& batch, int part, hip::DevicePtr<std::byte> scratch) const {
    const RowValues& of = parts_[part].values;
    const AddRowsWork work = {values(part, scratch), of.h * of.planes * batch.count,
                              row_sums(part, batch.count, scratch)};
    return add_rows_.launch(batch, {hip::blocks_for(work.rows, kRowsPerBlock)}, work);
  }

  Status add_sums(const DeviceBatch& batch, hip::DevicePtr<std::byte> scratch) const {
    AddRowSumsWork work;
    unsigned planes = 0;
    for (size_t i = 0; i < parts_.size(); i++) {
      const auto& [values, offset] = parts_[i];
      work.part[i] = {row_sums(i, batch.count, scratch), values.h, values.planes, offset};
      planes += static_cast<unsigned>(values.planes);
    }
    work.sums = batch.sums_of<uint8_t>();
    return add_row_sums_.launch(batch, {planes, static_cast<unsigned>(batch.count)}, work);
  }

 private:
  struct Part {
    RowValues values;  // but for where they lie
    int offset;
  };

  /* The memory for the values of the largest part. */
  size_t values_bytes(int frames) const {
    int64_t most = 0;
    for (const Part& part : parts_) most = std::max(most, part.values.row(frames, 0, 0));
    return scratch_aligned(sizeof(float) * static_cast<size_t>(most));
  }

  /* Rows of the parts before that one. */
  size_t rows_before(size_t part, int frames) const {
    size_t rows = 0;
    for (size_t i = 0; i < part; i++)
      rows += static_cast<size_t>(parts_[i].values.h) * parts_[i].values.planes * frames;
    return rows;
  }

  hip::DevicePtr<float> row_sums(size_t part, int frames, hip::DevicePtr<std::byte> scratch) const {
    return scratch.as<float>(static_cast<ptrdiff_t>(values_bytes(frames))) +
           static_cast<ptrdiff_t>(rows_before(part, frames));
  }

  std::vector<Part> parts_;
  const TwinKernel<AddRowsWork> add_rows_;
  const TwinKernel<AddRowSumsWork> add_row_sums_;
};

}  // namespace vmafx

#endif
