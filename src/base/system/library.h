/* Libraries that are loaded at run time. */
#ifndef VMAFX_BASE_SYSTEM_LIBRARY_H
#define VMAFX_BASE_SYSTEM_LIBRARY_H

#include <cerrno>
#include <string>
#include <vector>

namespace vmafx::system {

/* The errno value for a library that is there and cannot be loaded; Windows has no ELIBACC. */
#ifdef ELIBACC
inline constexpr int kUnloadable = ELIBACC;
#else
inline constexpr int kUnloadable = ENOEXEC;
#endif

/* The file names of AMD's HIP runtime and of NVIDIA's driver, in order of preference. */
std::vector<std::string> names_of_hip_runtime();
std::vector<std::string> names_of_cuda_driver();

struct LoadedLibrary {
  void* handle = nullptr;   // null: it is not loaded
  bool is_absent = false;   // then: no file of that name is there
  std::string reason = {};  // then: the loader's words
};

/* Loads a library, or one more time, for this process, whose symbols others do not see. */
LoadedLibrary load_library(const std::string& name);

/* The address of a function; nullptr: the library has none of that name. */
void* find_symbol(void* library, const char* name);

/* Whoever has loaded the library that holds this code, or the program that it is part of, may unload it; it stays. */
void keep_loaded(const void* code);

}  // namespace vmafx::system

#endif
