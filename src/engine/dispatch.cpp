#include "engine/dispatch.h"

#include <cerrno>

#include "kernels/extractor.h"

namespace vmafx {

StatusOr<Backend> open_backend(const std::string& name, const std::string& device, Log& log) {
  if (name == "cpu") return Backend{};
  if (name != "auto" && name != "hip")
    return error(EINVAL, "there is no backend '%s'; use auto, cpu or hip", name.c_str());

  auto opened = hip::open_device(device);
  if (opened.ok()) return Backend{std::move(opened.value()), kHip, ""};
  if (name == "hip")
    return error(opened.status().code(), "backend=hip cannot run: %s", opened.status().message().c_str());
  log.info("backend=auto runs on the CPU: " + opened.status().message());
  return Backend{std::nullopt, 0, opened.status().message()};
}

}  // namespace vmafx
