/* Sums in libvmaf's order (row_sums.h) on the device: a metric's kernels write their values as planes, whose rows are added
 * up by a thread each; a plane's rows then by one.
 *
 * A metric's HIP twin names its parts when it is made: the planes that one launch of its kernels fills. For each it starts
 * these and then add_rows(), and after the last part add_sums(). All parts have their values in the same memory. */
#ifndef VMAFX_KERNELS_STEPS_ROW_SUMS_HIP_H
#define VMAFX_KERNELS_STEPS_ROW_SUMS_HIP_H

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "kernels/device_twin.h"
#include "kernels/steps/row_sums_work.h"

namespace vmafx {

class RowSumsDevice {
 public:
  explicit RowSumsDevice(KernelList& kernels)
      : add_rows_(kernels.add(kernels::add_rows)), add_row_sums_(kernels.add(kernels::add_row_sums)) {}

  /* `planes` planes a frame of h rows of n values each. The first one's sum goes to byte `offset` of the frame's raw sums,
   * the next ones' to the words behind it. Returns the part's number. At most kMostRowSumsParts. */
  int add_part(int n, int h, int planes, size_t offset);

  /* What the rest takes of the batch's scratch memory, in multiples of 256. */
  size_t scratch_bytes(int frames) const;

  /* Where the values of `part` go, all of them. */
  RowValues values(int part, hip::DevicePtr<std::byte> scratch) const;

  Status add_rows(const DeviceBatch& batch, int part, hip::DevicePtr<std::byte> scratch) const;
  Status add_sums(const DeviceBatch& batch, hip::DevicePtr<std::byte> scratch) const;

 private:
  struct Part {
    int n, h, planes, offset;
  };

  size_t values_bytes(int frames) const;
  hip::DevicePtr<float> row_sums(int part, int frames, hip::DevicePtr<std::byte> scratch) const;

  std::vector<Part> parts_;
  const TwinKernel<AddRowsWork> add_rows_;
  const TwinKernel<AddRowSumsWork> add_row_sums_;
};

}  // namespace vmafx

#endif
