/* Finds the functions of NVIDIA's driver in the system's library. */
#include <windows.h>

#include "compat/libvmaf/cuda.h"

namespace compat {

void* find_in_driver(const char* name) {
  static const HMODULE library = LoadLibraryA("nvcuda.dll");
  return library ? reinterpret_cast<void*>(GetProcAddress(library, name)) : nullptr;
}

}  // namespace compat
