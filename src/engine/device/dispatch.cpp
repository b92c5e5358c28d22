#include "engine/device/dispatch.h"

#include <cerrno>
#include <utility>

namespace vmafx {
namespace {

StatusOr<OpenedGpu> open_device(DeviceChoice choice, Log& log) {
  VMAFX_ASSIGN(const auto opening, DeviceOpening::start({.device = std::move(choice)}, log));
  VMAFX_TRY(opening->wait());
  return opening->take();
}

}  // namespace

StatusOr<Backend> open_backend(const std::string& name, DeviceChoice device, bool at_once, Log& log) {
  const GivenContext& given = device.given;
  if (given.platform < VMAFX_PLATFORM_NONE || given.platform > VMAFX_PLATFORM_CUDA)
    return error(EINVAL, "the device context is of a platform of an unknown kind (%d)",
                 static_cast<int>(given.platform));
  Backend backend;
  if (name == "cpu") return backend;
  if (name != "auto" && name != "hip")
    return error(EINVAL, "there is no backend '%s'; use auto, cpu or hip", name.c_str());

  const bool has_context = given.platform != VMAFX_PLATFORM_NONE;
  if (has_context != (given.context != nullptr))
    return error(EINVAL, "a device context and its platform go together; one of them was not handed in");
  backend.comes_later = name == "auto" && !at_once && !has_context;
  if (backend.comes_later) return backend;
  auto opened = open_device(std::move(device), log);
  if (opened.ok())
    return Backend{.listening = std::move(opened.value().listening),
                   .device = std::move(opened.value().device),
                   .preferred = Placement::kDevice};
  VMAFX_TRY(give_up_device(name, opened.status(), backend, log));
  return backend;
}

Status give_up_device(const std::string& name, const Status& reason, Backend& backend, Log& log) {
  if (name == "hip") return error(reason.code(), "backend=hip cannot run: %s", reason.message().c_str());
  /* Without a GPU in the machine, the names and folders of all runtimes help nobody. */
  const bool none_installed = reason.code() == ENOENT && !hip::Runtime::is_named();
  log.info("backend=auto runs on the CPU: " + (none_installed ? "no GPU runtime was found" : reason.message()));
  if (none_installed) log.verbose(reason.message());
  backend = {.fallback = reason.message()};
  return {};
}

std::string device_name(const hip::Device& device) {
  return format_text("%s (%s, %s)", device.name.c_str(), device.pci_address.c_str(), device.arch.c_str());
}

}  // namespace vmafx
