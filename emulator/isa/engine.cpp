/* The engine that runs the machine code of AMD's GPUs. */
#include <algorithm>
#include <cstring>

#include "emulator/isa/code_object.h"
#include "emulator/isa/counts.h"
#include "emulator/isa/group.h"
#include "emulator/isa/options.h"
#include "emulator/runtime/report.h"

namespace vmafx::emulator::isa {
namespace {

class MachineEngine final : public Engine {
 public:
  MachineEngine() : architecture_(find_architecture(options().architecture)) {
    if (!architecture_)
      die("VMAFX_HIP_EMULATOR_ARCH=%s: it is one of %s", options().architecture.c_str(), list_architectures().c_str());
  }

  const char* architecture() const override { return architecture_->name; }
  unsigned lanes() const override { return architecture_->lanes(); }
  size_t shared_bytes() const override { return kLocalBytes; }
  const void* own_image() const override { return nullptr; }

  /* Loads an image; an equal image gives the same code again. */
  const Code* load(const void* image) override {
    const auto* file = static_cast<const uint8_t*>(image);
    if (!image || !CodeObject::fits(file, *architecture_)) return nullptr;
    const std::span content(file, CodeObject::file_size(file));
    for (const auto& known : loaded_)
      if (std::ranges::equal(known->file(), content)) return known.get();
    return loaded_.emplace_back(std::make_unique<CodeObject>(content, *architecture_)).get();
  }
  std::unique_ptr<BlockRunner> make_runner() override { return std::make_unique<Group>(); }

  void write_counts() const {
    if (!options().counts_file.empty()) isa::write_counts(options().counts_file, loaded_);
  }

 private:
  const Architecture* const architecture_;
  std::vector<std::unique_ptr<CodeObject>> loaded_;
};

MachineEngine& machine_engine() {
  static auto& only = *new MachineEngine;
  return only;
}

[[gnu::destructor]] void at_unload() { machine_engine().write_counts(); }

}  // namespace
}  // namespace vmafx::emulator::isa

vmafx::emulator::Engine& vmafx::emulator::engine() { return isa::machine_engine(); }
