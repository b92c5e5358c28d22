#include "engine/dispatch.h"

#include <algorithm>
#include <cerrno>

#include "kernels/registry.h"

namespace vmafx {
namespace {

/* The device, if it is of use: a GPU for which no metric has kernels would only be in the way. */
StatusOr<hip::OpenedDevice> open_useful_device(const std::string& choice) {
  auto opened = hip::open_device(choice);
  const bool useful = std::ranges::any_of(extractors(), [](const ExtractorInfo* info) { return info->flags & kHip; });
  if (opened.ok() && !useful)
    return error(ENOTSUP, "no metric of this build has kernels for %s", opened.value().name.c_str());
  return opened;
}

}  // namespace

StatusOr<Backend> open_backend(const std::string& name, const std::string& device, Log& log) {
  if (name == "cpu") return Backend{};
  if (name != "auto" && name != "hip")
    return error(EINVAL, "there is no backend '%s'; use auto, cpu or hip", name.c_str());

  auto opened = open_useful_device(device);
  if (opened.ok()) return Backend{std::move(opened.value()), kHip, ""};
  if (name == "hip")
    return error(opened.status().code(), "backend=hip cannot run: %s", opened.status().message().c_str());
  log.info("backend=auto runs on the CPU: " + opened.status().message());
  return Backend{std::nullopt, 0, opened.status().message()};
}

}  // namespace vmafx
