/* Machine code as text: what llvm-objdump makes of a code object. */
#ifndef VMAFX_EMULATOR_ISA_LISTING_H
#define VMAFX_EMULATOR_ISA_LISTING_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace vmafx::emulator::isa {

struct Line {
  std::string text;  // "v_add_u32_e32 v1, v2, v3"
  uint64_t address;
  unsigned size;  // in bytes
};

class Listing {
 public:
  /* Runs llvm-objdump. Without one the program ends. */
  explicit Listing(std::span<const uint8_t> code_object);

  /* A function's lines; empty if there is none of that name. */
  std::vector<Line> lines(const std::string& function) const;

 private:
  std::string text_;
  std::map<std::string, size_t> begins_;  // behind each function's heading
};

}  // namespace vmafx::emulator::isa

#endif
