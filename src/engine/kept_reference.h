/* A reference that stays: its frames, held in host memory for any number of sessions, as their metrics read them, what
 * kernels left of them on GPUs, and the raw sums that follow from them alone. Who scores against it neither decodes nor
 * converts the frames again. */
#ifndef VMAFX_ENGINE_KEPT_REFERENCE_H
#define VMAFX_ENGINE_KEPT_REFERENCE_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "engine/frames/input_format.h"
#include "engine/frames/kept_sums.h"
#include "engine/frames/pictures.h"
#include "vmafx/vmafx.h"

namespace vmafx {

class KeptReference {
 public:
  static StatusOr<std::shared_ptr<KeptReference>> open(const VmafxFormat& format,
                                                       const VmafxKeptReferenceParams& params);

  /* Adds the next frame. One thread at a time. A failure changes nothing. ENOMEM: the frame does not fit. */
  Status add(OwnedPicture picture);

  /* Any thread may call the functions below. */

  const InputFormat& format() const { return reader_.format(); }  // planes_read: those that are kept
  int64_t frames() const;
  uint64_t bytes() const;                                                     // memory of the frames
  const DeviceBudget* device_budget() const { return device_budget_.get(); }  // null: no copies are left on GPUs

  /* EINVAL: there is no such frame. */
  StatusOr<std::shared_ptr<HeldPicture>> frame(int64_t number) const;

  /* EINVAL: one of these planes (bit p) is not kept. */
  Status check_planes(unsigned planes) const;

  /* The sums of a metric that reads nothing but these frames; `metric`: with its options. They live as long as the
   * frames. */
  std::shared_ptr<KeptSums> sums_of(const std::string& metric, size_t bytes) const;

 private:
  KeptReference(const InputFormat& format, bool copies, uint64_t budget, std::shared_ptr<DeviceBudget> device_budget)
      : reader_(format, copies), copies_(copies), budget_(budget), device_budget_(std::move(device_budget)) {}

  uint64_t bytes_of(const VmafxPicture& picture) const;
  Status check_budget(uint64_t more) const;

  HostReader reader_;
  const bool copies_;
  const uint64_t budget_;
  const std::shared_ptr<DeviceBudget> device_budget_;  // null: nothing stays on GPUs
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<HeldPicture>> frames_ VMAFX_GUARDED_BY(mutex_);
  uint64_t bytes_ VMAFX_GUARDED_BY(mutex_) = 0;
  mutable std::map<std::string, std::shared_ptr<KeptSums>> sums_ VMAFX_GUARDED_BY(mutex_);
};

}  // namespace vmafx

#endif
