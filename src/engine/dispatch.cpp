#include "engine/dispatch.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <future>
#include <memory>
#include <system_error>
#include <thread>

#include "base/environment.h"
#include "base/mutex.h"
#include "kernels/registry.h"

namespace vmafx {
namespace {

/* Passes on what a device says, until nobody listens any more. */
class Listener {
 public:
  explicit Listener(Log& log) : log_(&log) {}
  void say(void (Log::*level)(const std::string&), const std::string& message) {
    const MutexLock lock(mutex_);
    if (log_) (log_->*level)(message);
  }
  void leave() {
    const MutexLock lock(mutex_);
    log_ = nullptr;
  }

 private:
  Mutex mutex_;
  Log* log_ VMAFX_GUARDED_BY(mutex_);
};

StatusOr<hip::ContextOptions> context_options(std::shared_ptr<Listener> listener) {
  hip::ContextOptions options;
  options.note = [listener](const std::string& message) { listener->say(&Log::debug, message); };
  options.tell = [listener](const std::string& message) { listener->say(&Log::info, message); };
  const char* text = environment("VMAFX_HIP_DEADLINE");
  if (!text) return options;
  int milliseconds = 0;
  const char* end = text + std::strlen(text);
  if (const auto [rest, failure] = std::from_chars(text, end, milliseconds);
      failure != std::errc() || rest != end || milliseconds < 1)
    return error(EINVAL, "VMAFX_HIP_DEADLINE=%s is no number of milliseconds", text);
  options.deadline = std::chrono::milliseconds(milliseconds);
  return options;
}

/* Each call of the runtime may hang, in a driver that is ill: then a thread of its own hangs, and is left behind. */
StatusOr<hip::OpenedDevice> open_device(const std::string& choice, const GivenContext& given, std::chrono::seconds wait,
                                        Log& log) {
  const auto listener = std::make_shared<Listener>(log);
  VMAFX_ASSIGN(hip::ContextOptions options, context_options(listener));
  options.slot_wait = wait;
  std::packaged_task<StatusOr<hip::OpenedDevice>()> open([choice, given, options] {
    if (given.platform == VMAFX_PLATFORM_NONE) return hip::open_device(choice, options);
    return hip::open_device(choice, hip_platform(given.platform), static_cast<hip::NativeContext>(given.context),
                            options);
  });
  auto opened = open.get_future();
  std::thread thread;
  try {
    thread = std::thread(std::move(open));
  } catch (const std::system_error& failure) {
    return error(ENOMEM, "cannot start a thread to open the GPU (%s)", failure.what());
  }
  const auto limit = hip::kCallDeadlines * options.deadline + options.slot_wait;
  if (opened.wait_for(limit) != std::future_status::ready) {
    thread.detach();
    listener->leave();
    return error(EIO, "the GPU has not opened within %lld ms: a call of its runtime does not come back",
                 static_cast<long long>(limit.count()));
  }
  thread.join();
  return opened.get();
}

}  // namespace

hip::Platform hip_platform(VmafxPlatform platform) {
  return platform == VMAFX_PLATFORM_CUDA ? hip::Platform::kCuda : hip::Platform::kHip;
}

StatusOr<Backend> open_backend(const std::string& name, const std::string& device, const GivenContext& given,
                               std::chrono::seconds wait, Log& log) {
  if (given.platform < VMAFX_PLATFORM_NONE || given.platform > VMAFX_PLATFORM_CUDA)
    return error(EINVAL, "the device context is of a platform of an unknown kind (%d)",
                 static_cast<int>(given.platform));
  Backend backend;
  if (name == "cpu") return backend;
  if (name != "auto" && name != "hip")
    return error(EINVAL, "there is no backend '%s'; use auto, cpu or hip", name.c_str());

  if ((given.platform != VMAFX_PLATFORM_NONE) != (given.context != nullptr))
    return error(EINVAL, "a device context and its platform go together; one of them was not handed in");
  auto opened = open_device(device, given, name == "hip" ? wait : std::chrono::seconds(0), log);
  if (opened.ok()) return Backend{std::move(opened.value()), Placement::kDevice, ""};
  VMAFX_TRY(give_up_device(name, opened.status(), backend, log));
  return backend;
}

Status give_up_device(const std::string& name, const Status& reason, Backend& backend, Log& log) {
  if (name == "hip") return error(reason.code(), "backend=hip cannot run: %s", reason.message().c_str());
  /* On a machine without a GPU the names and folders of all runtimes help nobody. */
  const bool none_installed = reason.code() == ENOENT && !hip::Runtime::is_named();
  log.info("backend=auto runs on the CPU: " + (none_installed ? "no GPU runtime was found" : reason.message()));
  if (none_installed) log.verbose(reason.message());
  backend = {std::nullopt, Placement::kCpu, reason.message()};
  return {};
}

std::string device_name(const hip::Device& device) {
  return format_text("%s (%s, %s)", device.name.c_str(), device.pci_address.c_str(), device.arch.c_str());
}

}  // namespace vmafx
