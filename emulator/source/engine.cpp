/* The engine that runs the kernels' sources, compiled into this library. */
#include <cstring>
#include <map>

#include "emulator/runtime/report.h"
#include "emulator/runtime/settings.h"
#include "emulator/source/block.h"

namespace vmafx::emulator {
namespace {

constexpr char kImage[] = "vmafx emulator kernels";

/* All kernels of the library: what the one image stands for. */
class OwnKernels final : public Code {
 public:
  static OwnKernels& get() {
    static auto& all = *new OwnKernels;
    return all;
  }
  const Kernel* find(const std::string& name) const override {
    const auto found = kernels_.find(name);
    return found == kernels_.end() ? nullptr : &found->second;
  }
  void add(const gpu::host::Kernel& from) {
    SourceKernel kernel;
    kernel.name = from.name;
    kernel.max_threads = from.max_threads;
    kernel.call = from.call;
    for (size_t i = 0; i < from.n_parameters; i++)
      kernel.parameters.push_back({from.parameters[i].size, from.parameters[i].is_pointer});
    if (!kernels_.emplace(from.name, std::move(kernel)).second) die("there are two kernels named %s", from.name);
  }

 private:
  std::map<std::string, SourceKernel> kernels_;
};

class SourceEngine final : public Engine {
 public:
  const char* architecture() const override { return "emulator"; }
  unsigned lanes() const override { return settings().lanes; }
  size_t shared_bytes() const override { return kSharedBytes; }
  const void* own_image() const override { return kImage; }
  const Code* load(const void* image) override {
    const bool is_own = image && !std::strncmp(static_cast<const char*>(image), kImage, sizeof kImage);
    return is_own ? &OwnKernels::get() : nullptr;
  }
  std::unique_ptr<BlockRunner> make_runner() override { return std::make_unique<Worker>(); }
};

}  // namespace

Engine& engine() {
  static auto& only = *new SourceEngine;
  return only;
}

}  // namespace vmafx::emulator

namespace vmafx::gpu::host {

Registration::Registration(const Kernel& kernel) { emulator::OwnKernels::get().add(kernel); }

}  // namespace vmafx::gpu::host
