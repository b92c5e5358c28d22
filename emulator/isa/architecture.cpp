#include "emulator/isa/architecture.h"

#include <algorithm>

namespace vmafx::emulator::isa {
namespace {

/* Numbers: "AMDGPU EF_AMDGPU_MACH Values" in LLVM's User Guide for the AMDGPU backend. */
constexpr unsigned kGfx9 = 0x51, kGfx94 = 0x5f, kGfx101 = 0x52, kGfx103 = 0x53, kGfx11 = 0x54, kGfx12 = 0x59;
constexpr Architecture kArchitectures[] = {{"gfx906", 9, 0x2f, kGfx9},
                                           {"gfx908", 9, 0x30, 0},
                                           {"gfx90a", 9, 0x3f, 0},
                                           {"gfx942", 9, 0x4c, kGfx94},
                                           {"gfx950", 9, 0x4f, kGfx94},
                                           {"gfx1010", 10, 0x33, kGfx101},
                                           {"gfx1030", 10, 0x36, kGfx103},
                                           {"gfx1031", 10, 0x37, kGfx103},
                                           {"gfx1032", 10, 0x38, kGfx103},
                                           {"gfx1033", 10, 0x39, kGfx103},
                                           {"gfx1034", 10, 0x3e, kGfx103},
                                           {"gfx1035", 10, 0x3d, kGfx103},
                                           {"gfx1036", 10, 0x45, kGfx103},
                                           {"gfx1100", 11, 0x41, kGfx11},
                                           {"gfx1101", 11, 0x46, kGfx11},
                                           {"gfx1102", 11, 0x47, kGfx11},
                                           {"gfx1103", 11, 0x44, kGfx11},
                                           {"gfx1150", 11, 0x43, kGfx11},
                                           {"gfx1151", 11, 0x4a, kGfx11},
                                           {"gfx1152", 11, 0x55, kGfx11},
                                           {"gfx1153", 11, 0x58, kGfx11},
                                           {"gfx1200", 12, 0x48, kGfx12},
                                           {"gfx1201", 12, 0x4e, kGfx12},
                                           {"gfx9-generic", 9, kGfx9, 0},
                                           {"gfx9-4-generic", 9, kGfx94, 0},
                                           {"gfx10-1-generic", 10, kGfx101, 0},
                                           {"gfx10-3-generic", 10, kGfx103, 0},
                                           {"gfx11-generic", 11, kGfx11, 0},
                                           {"gfx12-generic", 12, kGfx12, 0}};

}  // namespace

unsigned Architecture::vector_registers(unsigned granulated, unsigned accumulator_offset) const {
  if (has_accumulators()) return std::min((granulated + 1) * 8, (accumulator_offset + 1) * 4);
  return (granulated + 1) * (generation == 9 ? 4 : 8);
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
