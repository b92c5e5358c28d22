#include "engine/kept_reference.h"

#include <cerrno>
#include <cstdlib>

namespace vmafx {
namespace {

constexpr uint64_t kDefaultBudget = 2ull << 30;

double mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

long long to_print(int64_t number) { return number; }

unsigned all_planes(const InputFormat& format) { return (1u << format.scored.planes()) - 1; }

/* Whether metrics can read the kept planes where they lie. */
bool is_readable(const InputFormat& format) {
  for (int p = 0; p < 3; p++)
    if (format.is_read(p) && !format.plane[p].is_plain()) return false;
  return !format.in_gpu_memory();
}

}  // namespace

StatusOr<std::shared_ptr<KeptReference>> KeptReference::open(const VmafxFormat& given,
                                                             const VmafxKeptReferenceParams& params) {
  VMAFX_ASSIGN(InputFormat format, InputFormat::make(given, "reference"));
  format.given.name = nullptr;  // belongs to the application; format.name is a copy
  const unsigned all = all_planes(format);
  format.planes_read = params.planes ? params.planes & all : all;
  if (params.planes > 7 || !format.planes_read)
    return error(EINVAL, "planes=%u of a reference; use bits 0 to %d, one for each plane that is kept", params.planes,
                 format.scored.planes() - 1);
  const bool copies = params.copy || !is_readable(format);
  const uint64_t budget = params.budget ? params.budget : kDefaultBudget;
  auto on_devices = params.device_budget ? std::make_shared<DeviceBudget>(params.device_budget) : nullptr;
  return std::shared_ptr<KeptReference>(new KeptReference(format, copies, budget, std::move(on_devices)));
}

/* The bytes that stay in memory because of a picture. If it is not copied, they include planes that are not kept. */
uint64_t KeptReference::bytes_of(const VmafxPicture& picture) const {
  if (copies_) return reader_.copied_bytes();
  uint64_t bytes = 0;
  const int planes = format().given.layout == VMAFX_LAYOUT_SEMIPLANAR ? 2 : 3;
  for (int p = 0; p < planes && p < format().scored.planes(); p++)
    if (picture.data[p]) bytes += static_cast<uint64_t>(std::abs(picture.stride[p])) * format().plane[p].h;
  return bytes;
}

Status KeptReference::check_budget(uint64_t more) const {
  if (bytes() + more <= budget_) return {};
  return error(ENOMEM,
               "the frames of the reference may take %.1f MiB, and only %lld fit, which stay: allow more (budget), or "
               "keep fewer frames or planes",
               mib(budget_), to_print(frames()));
}

Status KeptReference::add(OwnedPicture picture) {
  const uint64_t more = bytes_of(*picture);
  VMAFX_TRY(check_budget(more));
  auto host = format().in_gpu_memory() ? reader_.read_download(*picture) : reader_.read(std::move(picture));
  VMAFX_TRY(host.status());
  auto held = std::make_shared<HeldPicture>(std::move(host.value()), device_budget_);
  const MutexLock lock(mutex_);
  frames_.push_back(std::move(held));
  bytes_ += more;
  return {};
}

int64_t KeptReference::frames() const {
  const MutexLock lock(mutex_);
  return static_cast<int64_t>(frames_.size());
}

uint64_t KeptReference::bytes() const {
  const MutexLock lock(mutex_);
  return bytes_;
}

StatusOr<std::shared_ptr<HeldPicture>> KeptReference::frame(int64_t number) const {
  const MutexLock lock(mutex_);
  const auto count = static_cast<int64_t>(frames_.size());
  if (number >= 0 && number < count) return frames_[static_cast<size_t>(number)];
  return error(EINVAL, "there is no frame %lld of the reference, which has %lld frames, counted from 0",
               to_print(number), to_print(count));
}

Status KeptReference::check_planes(unsigned planes) const {
  for (int p = 0; p < 3; p++)
    if ((planes >> p & 1) && !format().is_read(p))
      return error(EINVAL, "a metric reads plane %d, which the reference does not keep (planes=%u)", p,
                   format().planes_read);
  return {};
}

std::shared_ptr<KeptSums> KeptReference::sums_of(const std::string& metric, size_t bytes) const {
  const MutexLock lock(mutex_);
  std::shared_ptr<KeptSums>& sums = sums_[metric];
  if (!sums) sums = std::make_shared<KeptSums>(bytes);
  return sums;
}

}  // namespace vmafx
