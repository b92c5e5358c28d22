/* The kernels as machine code, compiled ahead of time and embedded: one object per architecture. */
#ifndef VMAFX_HIP_CODE_OBJECTS_H
#define VMAFX_HIP_CODE_OBJECTS_H

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace vmafx::hip {

struct CodeObject {
  const char* arch;  // "gfx1100"; "sm_90"; "compute_75": PTX, which the NVIDIA driver translates for newer devices
  std::span<const std::byte> image;

  bool is_ptx() const { return std::string_view(arch).starts_with("compute_"); }
};

/* The code objects of this build; empty when no device compiler was found. */
std::span<const CodeObject> embedded_code_objects();

/* The object that runs on `arch`, or nullptr. gfx names must be equal. NVIDIA machine code runs on its own major
 * version from its minor one up; PTX on any later version. */
const CodeObject* find_code_object(std::span<const CodeObject> objects, const std::string& arch);

/* "gfx906, gfx908, …" for messages; "none" if there are none. */
std::string list_architectures(std::span<const CodeObject> objects);

}  // namespace vmafx::hip

#endif
