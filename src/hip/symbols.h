/* Looking up a library's functions, the first missing one remembered. */
#ifndef VMAFX_HIP_SYMBOLS_H
#define VMAFX_HIP_SYMBOLS_H

#include <dlfcn.h>

#include <string>

namespace vmafx::hip {

class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <class Function>
  Symbols& need(const char* name, Function*& function) {
    if (!optional(name, function) && missing_.empty()) missing_ = name;
    return *this;
  }

  template <class Function>
  bool optional(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    return function != nullptr;
  }

  const std::string& missing() const { return missing_; }  // "" if all were there

 private:
  void* library_;
  std::string missing_;
};

}  // namespace vmafx::hip

#endif
