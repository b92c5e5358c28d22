/* Modules and launches. */
#include <atomic>
#include <memory>

#include "emulator/runtime/launch.h"
#include "emulator/runtime/modules.h"
#include "emulator/runtime/queue.h"

using namespace vmafx::emulator;

namespace {

struct Function {
  const Kernel* kernel;
  int device;
};

Handles<Function>& functions() {
  static auto& all = *new Handles<Function>("function");
  return all;
}

/* The arguments are read now, the kernel runs later. */
void take_arguments(Launch& launch, void* const* arguments) {
  for (size_t i = 0; i < launch.kernel->parameters.size(); i++) {
    const std::byte* value = static_cast<const std::byte*>(arguments[i]);
    launch.arguments.emplace_back(value, value + launch.kernel->parameters[i].size);
  }
  for (auto& argument : launch.arguments) launch.argument_addresses.push_back(argument.data());
}

}  // namespace

namespace vmafx::emulator {
Handles<Module>& modules() {
  static auto& all = *new Handles<Module>("module");
  return all;
}
}  // namespace vmafx::emulator

/* An image for hipModuleLoadData, if src/hip has no code object for this architecture; or nullptr. */
EMULATOR_API const void* vmafx_emulator_image() { return engine().own_image(); }

EMULATOR_API int hipModuleLoadData(void** module, const void* image) {
  const Call call("hipModuleLoadData");
  if (call.error()) return call.error();
  const Code* code = engine().load(image);
  if (!code) return kInvalidImage;
  modules().add(module, {current_device(), code, {}});
  return kSuccess;
}

EMULATOR_API int hipModuleUnload(void* handle) {
  const Call call("hipModuleUnload");
  const Module* module = modules().find(call, handle);
  if (!module) return kInvalidHandle;
  if (const int code = wait_for_device(call, module->device)) return code;
  for (void* function : module->functions) functions().remove(function);
  modules().remove(handle);
  return call.error();
}

EMULATOR_API int hipModuleGetFunction(void** function, void* handle, const char* name) {
  const Call call("hipModuleGetFunction");
  if (call.error()) return call.error();
  Module* module = modules().find(call, handle);
  if (!module) return kInvalidHandle;
  const Kernel* kernel = module->code->find(name);
  if (!kernel) return kNotFound;
  functions().add(function, {kernel, module->device});
  module->functions.push_back(*function);
  return kSuccess;
}

EMULATOR_API int hipModuleLaunchKernel(void* handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                       void* stream_handle, void** arguments, void** extra) {
  static std::atomic<uint32_t> launches = 0;
  const Call call("hipModuleLaunchKernel");
  if (call.error()) return call.error();
  const Function* function = functions().find(call, handle);
  Stream* stream = find_stream(call, stream_handle);
  if (!function || !stream) return kInvalidHandle;
  if (extra || (!arguments && !function->kernel->parameters.empty()))
    return call.misuse(kInvalidValue, "arguments must come one by one");
  if (function->device != stream->device || function->device != current_device())
    return call.misuse(kInvalidHandle,
                       text("kernel %s is of device %d, the stream of device %d, the calling thread is at device %d",
                            function->kernel->name.c_str(), function->device, stream->device, current_device()));
  const auto launch = std::make_shared<Launch>();
  launch->kernel = function->kernel;
  launch->grid = {grid_x, grid_y, grid_z};
  launch->block = {block_x, block_y, block_z};
  launch->device = function->device;
  launch->number = ++launches;
  take_arguments(*launch, arguments);
  if (const std::string wrong = check_launch(*launch, shared_bytes); !wrong.empty())
    return call.misuse(kInvalidConfiguration, wrong);
  enqueue(*stream, {[launch] {
    if (!run_launch(*launch)) lose_device(kIllegalAddress);
  }});
  return kSuccess;
}
