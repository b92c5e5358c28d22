/* A code object: the ELF file that the device compiler writes, loaded, with the kernels in it. */
#ifndef VMAFX_EMULATOR_ISA_CODE_OBJECT_H
#define VMAFX_EMULATOR_ISA_CODE_OBJECT_H

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulator/isa/architecture.h"
#include "emulator/isa/instruction.h"
#include "emulator/isa/listing.h"
#include "emulator/isa/metadata.h"
#include "emulator/runtime/engine.h"

namespace vmafx::emulator::isa {

class CodeObject;

/* A kernel's needs of the hardware: its descriptor of 64 bytes ("Kernel Descriptor" in LLVM's User Guide for the AMDGPU
 * backend), as far as it matters here. */
struct Descriptor {
  uint32_t local_bytes, scratch_bytes, argument_bytes, reserved;
  int64_t entry;  // from the descriptor
  uint8_t unused[20];
  uint32_t resources3, resources1, resources2;
  uint16_t properties, preloads;
  uint32_t end;

  unsigned granulated_registers() const { return resources1 & 63; }
  unsigned accumulator_offset() const { return resources3 & 63; }
  unsigned float_mode() const { return resources1 >> 12 & 255; }
  unsigned user_scalars() const { return resources2 >> 1 & 31; }
  bool has_block_id(int dimension) const { return resources2 >> (7 + dimension) & 1; }
  int thread_id_dimensions() const { return static_cast<int>(resources2 >> 11 & 3) + 1; }
  unsigned lanes() const { return properties >> 10 & 1 ? 32 : 64; }
  /* From gfx10 on: a block may run on both compute units of a pair, each with a first cache of its own. */
  bool is_on_two_units() const { return resources1 >> 29 & 1; }
};
static_assert(sizeof(Descriptor) == 64);

struct MachineKernel : Kernel {
  const CodeObject* object = nullptr;
  KernelMetadata metadata;
  Descriptor descriptor{};
  uint64_t descriptor_address = 0;
  unsigned vector_registers = 0;
  std::vector<Instruction> code;  // once it was asked for; the last one is not an instruction
  struct Counts {
    std::atomic<uint64_t> launches = 0, blocks = 0, waves = 0, conflict_cycles = 0;
    std::array<std::atomic<uint64_t>, kUnits> executed{};  // instructions
  };
  std::unique_ptr<Counts> counts = std::make_unique<Counts>();
};

class CodeObject final : public Code {
 public:
  /* Whether it is one, for this architecture; its size in bytes. */
  static bool fits(const uint8_t* file, const Architecture& architecture);
  static size_t file_size(const uint8_t* file);

  /* Reads a file. Contents that this engine cannot run end the program. */
  CodeObject(std::span<const uint8_t> file, const Architecture& architecture);
  ~CodeObject() override;

  /* Decodes the kernel. */
  const Kernel* find(const std::string& name) const override;

  std::vector<std::string> kernel_names() const;
  std::span<const uint8_t> file() const { return file_; }
  std::span<const uint8_t> image() const { return image_; }

 private:
  void load_segments();
  void read_notes(const uint8_t* note, const uint8_t* end);
  void read_symbols();
  void add_kernel(const KernelMetadata& metadata);
  void decode(MachineKernel& kernel) const;
  void link(MachineKernel& kernel) const;
  void check_descriptor(const MachineKernel& kernel) const;

  const Architecture& architecture_;
  const std::vector<uint8_t> file_;
  const Listing listing_;
  std::span<uint8_t> image_;
  mutable std::map<std::string, MachineKernel> kernels_;
};

}  // namespace vmafx::emulator::isa

#endif
