#include "hip/context.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace vmafx::hip {
namespace {

thread_local Context* bound_context = nullptr;  // the innermost Scope of this thread

/* Errors after which nothing of the device can be trusted. hipError_t and CUresult agree on these numbers; the names
 * are HIP's. */
bool is_fatal(Error code) {
  switch (code) {
    case 4:    // Deinitialized
    case 46:   // CUDA: devices unavailable
    case 214:  // ECCNotCorrectable
    case 304:  // OperatingSystem
    case 700:  // IllegalAddress
    case 702:  // LaunchTimeOut
    case 709:  // ContextIsDestroyed
    case 710:  // Assert
    case 714:  // CUDA: hardware stack error, and on to 718: illegal instruction, misaligned address, address space, pc
    case 715:
    case 716:
    case 717:
    case 718:
    case 719:   // LaunchFailure
    case 999:   // Unknown: what ROCm says after a reset
    case 1053:  // RuntimeOther
      return true;
    default: return false;
  }
}

int errno_of(Error code) {
  switch (code) {
    case kErrorOutOfMemory: return ENOMEM;
    case kErrorNoDevice: return ENODEV;
    case 801: return ENOTSUP;  // NotSupported
    default: return EIO;
  }
}

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

}  // namespace

Status ContextOptions::wanted() const {
  return left && left() ? error(ECANCELED, "nobody waits for the device any more") : Status();
}

StatusOr<ContextPtr> Context::open(const Device& device, ContextOptions options) {
  VMAFX_TRY(options.wanted());
  ContextPtr context(new Context(device, std::move(options)));
  const Functions& f = device.runtime->functions();
  if (const Error code = f.retain(f, device.handle, &context->binding_.context))
    return device.runtime->failure(errno_of(code), "DevicePrimaryCtxRetain", code);
  context->binding_.ordinal = device.ordinal;
  context->owned_ = true;
  return context;
}

StatusOr<ContextPtr> Context::adopt(const Runtime& runtime, NativeContext native, ContextOptions options) {
  if (!native) return error(EINVAL, "the context handed in is null");
  const Functions& f = runtime.functions();
  int ordinal = 0;
  if (const Error code = f.device_of(f, native, &ordinal)) return runtime.failure(EINVAL, "CtxGetDevice", code);
  VMAFX_ASSIGN(Device device, describe_device(runtime, ordinal));
  ContextPtr context(new Context(std::move(device), std::move(options)));
  context->binding_ = {ordinal, native};
  return context;
}

Context::~Context() {
  if (!owned_) return;
  if (lost()) {
    note_leak();
    return;
  }
  const Functions& f = device_.runtime->functions();
  if (const Error code = f.release(f, device_.handle))
    note(device_.runtime->failure(EIO, "DevicePrimaryCtxRelease", code).message());
}

Status Context::wanted() const { return options_.wanted(); }

Context::Scope::Scope(Context& context) : context_(context), outer_(bound_context) {
  if (outer_ == &context || context.lost()) return;
  const Functions& f = context.device_.runtime->functions();
  const Running running(context, "SetDevice");
  error_ = f.enter(f, context.binding_, &previous_);
  entered_ = !error_;
  if (entered_) bound_context = &context;
}

Context::Scope::~Scope() {
  if (!entered_) return;
  bound_context = outer_;
  if (context_.lost()) return;
  const Functions& f = context_.device_.runtime->functions();
  const Running running(context_, "SetDevice");
  const Error code = f.leave(f, context_.binding_, previous_);
  if (const Status status = context_.check(code, "SetDevice", std::source_location::current()); !status.ok())
    context_.note(status.message());
}

void Context::lose(const std::string& reason) {
  {
    const MutexLock lock(mutex_);
    if (lost()) return;
    reason_ = reason;
    lost_.store(true, std::memory_order_release);
  }
  note("the device " + device_.name + " is lost: " + reason);
}

Context::Running::Running(Context& of, const char* call) : context(of), name(call) {
  const MutexLock lock(context.mutex_);
  next = std::exchange(context.running_, this);
}

Context::Running::~Running() {
  const MutexLock lock(context.mutex_);
  Running** at = &context.running_;
  while (*at != this) at = &(*at)->next;
  *at = next;
}

bool Context::is_stuck() {
  const auto limit = kCallDeadlines * options_.deadline;
  const auto begun = std::chrono::steady_clock::now() - limit;
  const MutexLock lock(mutex_);
  const Running* stuck = running_;
  while (stuck && stuck->since > begun) stuck = stuck->next;
  if (stuck && !lost()) {
    reason_ = format_text("%s has not come back for %lld ms", stuck->name, static_cast<long long>(limit.count()));
    lost_.store(true, std::memory_order_release);
  }
  return stuck;
}

Status Context::lost_status() const {
  const MutexLock lock(mutex_);
  return error(ENODEV, "the device %s is lost: %s", device_.name.c_str(), reason_.c_str());
}

Status Context::check(Error code, const char* name, const std::source_location& where) {
  if (!code) return {};
  const Status failure = device_.runtime->failure(errno_of(code), name, code);
  Status status(failure.code(), format_text("%s at %s:%u", failure.message().c_str(), file_name(where.file_name()),
                                            static_cast<unsigned>(where.line())));
  if (is_fatal(code)) lose(status.message());
  return status;
}

void Context::note(const std::string& message) const {
  if (options_.note) options_.note(message);
}

void Context::tell(const std::string& message) const {
  if (options_.tell) options_.tell(message);
}

void Context::note_leak() {
  if (!leak_noted_.exchange(true)) note("memory on the lost device " + device_.name + " is not freed");
}

}  // namespace vmafx::hip
