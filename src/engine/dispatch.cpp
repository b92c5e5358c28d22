#include "engine/dispatch.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/environment.h"
#include "kernels/registry.h"

namespace vmafx {
namespace {

StatusOr<hip::ContextOptions> context_options(Log& log) {
  hip::ContextOptions options;
  options.note = [&log](const std::string& message) { log.debug(message); };
  options.tell = [&log](const std::string& message) { log.info(message); };
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

StatusOr<hip::OpenedDevice> open_device(const std::string& choice, const GivenContext& given, Log& log) {
  VMAFX_ASSIGN(hip::ContextOptions options, context_options(log));
  if (given.platform == VMAFX_PLATFORM_NONE) return hip::open_device(choice, std::move(options));
  return hip::open_device(choice, hip_platform(given.platform), static_cast<hip::NativeContext>(given.context),
                          std::move(options));
}

}  // namespace

hip::Platform hip_platform(VmafxPlatform platform) {
  return platform == VMAFX_PLATFORM_CUDA ? hip::Platform::kCuda : hip::Platform::kHip;
}

StatusOr<Backend> open_backend(const std::string& name, const std::string& device, const GivenContext& given,
                               Log& log) {
  if (given.platform < VMAFX_PLATFORM_NONE || given.platform > VMAFX_PLATFORM_CUDA)
    return error(EINVAL, "the device context is of a platform of an unknown kind (%d)",
                 static_cast<int>(given.platform));
  Backend backend;
  if (name == "cpu") return backend;
  if (name != "auto" && name != "hip")
    return error(EINVAL, "there is no backend '%s'; use auto, cpu or hip", name.c_str());

  if ((given.platform != VMAFX_PLATFORM_NONE) != (given.context != nullptr))
    return error(EINVAL, "a device context and its platform go together; one of them was not handed in");
  auto opened = open_device(device, given, log);
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
