/* Finds the functions of NVIDIA's driver where the program has them, else in the system's library. */
#include <dlfcn.h>

#include "compat/libvmaf/cuda.h"

namespace compat {

void* find_in_driver(const char* name) {
  if (void* const own = dlsym(RTLD_DEFAULT, name)) return own;
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : nullptr;
}

}  // namespace compat
