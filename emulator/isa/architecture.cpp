#include "emulator/isa/architecture.h"

#include <algorithm>

namespace vmafx::emulator::isa {
namespace {

/* Numbers: "AMDGPU EF_AMDGPU_MACH Values" in LLVM's User Guide for the AMDGPU backend. */
constexpr Architecture kArchitectures[] = {{"gfx906", 0x2f},  {"gfx908", 0x30},  {"gfx90a", 0x3f},  {"gfx942", 0x4c},
                                           {"gfx1030", 0x36}, {"gfx1031", 0x37}, {"gfx1032", 0x38}, {"gfx1033", 0x39},
                                           {"gfx1034", 0x3e}, {"gfx1035", 0x3d}, {"gfx1036", 0x45}, {"gfx1100", 0x41},
                                           {"gfx1101", 0x46}, {"gfx1102", 0x47}, {"gfx1103", 0x44}, {"gfx1150", 0x43},
                                           {"gfx1151", 0x4a}, {"gfx1200", 0x48}, {"gfx1201", 0x4e}};

}  // namespace

unsigned Architecture::vector_registers(unsigned granulated, unsigned accumulator_offset) const {
  if (has_accumulators()) return std::min((granulated + 1) * 8, (accumulator_offset + 1) * 4);
  return (granulated + 1) * (generation() == 9 ? 4 : 8);
}

const Architecture* find_architecture(const std::string& name) {
  for (const Architecture& one : kArchitectures)
    if (name == one.name) return &one;
  return nullptr;
}

const Architecture* find_architecture(unsigned machine) {
  for (const Architecture& one : kArchitectures)
    if (machine == one.machine) return &one;
  return nullptr;
}

std::string list_architectures() {
  std::string list;
  for (const Architecture& one : kArchitectures) list += (list.empty() ? "" : ", ") + std::string(one.name);
  return list;
}

}  // namespace vmafx::emulator::isa
