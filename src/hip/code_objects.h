/* The kernels as machine code, compiled ahead of time and embedded: one object per architecture. */
#ifndef VMAFX_HIP_CODE_OBJECTS_H
#define VMAFX_HIP_CODE_OBJECTS_H

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace vmafx::hip {

struct CodeObject {
  /* "gfx1100"; "gfx11-generic": all of a family; "sm_90"; "compute_75": PTX, which the NVIDIA driver translates for
   * newer devices. */
  const char* arch;
  std::span<const std::byte> image;

  bool is_ptx() const { return std::string_view(arch).starts_with("compute_"); }
  bool is_generic() const { return std::string_view(arch).ends_with("-generic"); }
};

/* The code objects of this build; empty when no device compiler was found. */
std::span<const CodeObject> embedded_code_objects();

/* The object that runs on `arch`, or nullptr. AMD code is that of the device itself, else of its family. NVIDIA machine
 * code runs on its own major version from its minor one up; PTX on any later version. */
const CodeObject* find_code_object(std::span<const CodeObject> objects, const std::string& arch);

/* "gfx906, gfx908, …" for messages; "none" if there are none. */
std::string list_architectures(std::span<const CodeObject> objects);

}  // namespace vmafx::hip

#endif
