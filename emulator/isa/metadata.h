/* A code object's description of its kernels: the note NT_AMDGPU_METADATA, MessagePack ("Code Object V3 Metadata" and
 * later in LLVM's User Guide for the AMDGPU backend). */
#ifndef VMAFX_EMULATOR_ISA_METADATA_H
#define VMAFX_EMULATOR_ISA_METADATA_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vmafx::emulator::isa {

struct Argument {
  size_t offset = 0, size = 0;
  std::string kind;  // "global_buffer": a pointer; "by_value"; "hidden_…": what the runtime adds
  bool is_hidden() const { return kind.starts_with("hidden_"); }
};

struct KernelMetadata {
  std::string name;
  unsigned max_threads = 0;
  std::vector<Argument> arguments;
};

std::vector<KernelMetadata> read_metadata(const uint8_t* note, size_t size);

}  // namespace vmafx::emulator::isa

#endif
