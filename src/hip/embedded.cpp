/* The code objects, put into the library by the assembler. device_code/list.inc is written by the build: a line per
 * object, none when there was no device compiler. */
#include <array>
#include <iterator>

#include "hip/code_objects.h"

#define VMAFX_CODE_OBJECT(name, path)                                                                 \
  asm(".pushsection .rodata\n"                                                                        \
      ".balign 4096\n"                                                                                \
      ".globl vmafx_code_" #name "\n"                                                                 \
      ".hidden vmafx_code_" #name "\n"                                                                \
      "vmafx_code_" #name ":\n"                                                                       \
      ".incbin \"" path "\"\n"                                                                        \
      ".globl vmafx_code_" #name "_end\n"                                                             \
      ".hidden vmafx_code_" #name "_end\n"                                                            \
      "vmafx_code_" #name "_end:\n"                                                                   \
      ".byte 0\n" /* PTX is a text */                                                                 \
      ".popsection\n");                                                                               \
  extern "C" [[gnu::visibility("hidden")]] const std::byte vmafx_code_##name[], vmafx_code_##name##_end[];
#include "device_code/list.inc"
#undef VMAFX_CODE_OBJECT

namespace vmafx::hip {
namespace {

struct Extent {
  const char* arch;
  const std::byte *begin, *end;
};

constexpr Extent kExtents[] = {
#define VMAFX_CODE_OBJECT(name, path) {#name, vmafx_code_##name, vmafx_code_##name##_end},
#include "device_code/list.inc"
#undef VMAFX_CODE_OBJECT
    {nullptr, nullptr, nullptr}};

constexpr size_t kCount = std::size(kExtents) - 1;

}  // namespace

std::span<const CodeObject> embedded_code_objects() {
  static const auto objects = [] {
    std::array<CodeObject, kCount> list{};
    for (size_t i = 0; i < kCount; i++) list[i] = {kExtents[i].arch, {kExtents[i].begin, kExtents[i].end}};
    return list;
  }();
  return objects;
}

}  // namespace vmafx::hip
