/* Opening a context of the library, whose messages a caller shows in a place of its own. */
#ifndef VMAFX_VAPOURSYNTH_CONTEXT_H
#define VMAFX_VAPOURSYNTH_CONTEXT_H

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vmafx/vmafx.h"

namespace vapoursynth {

struct CloseContext {
  void operator()(VmafxContext* context) const { vmafx_close(&context); }
};
using Context = std::unique_ptr<VmafxContext, CloseContext>;

/* The options of a context, by their names, and the format of each input. */
struct Settings {
  std::vector<std::pair<std::string, std::string>> options;
  VmafxFormat ref{}, dist{};
  VmafxLogCallback warn = nullptr;  // receives warnings; nullptr drops them
  void* cookie = nullptr;
};

/* Opens and configures a context. On failure returns null, with the library's message; *failure is the errno. */
Context open_context(const Settings& settings, std::string* message, int* failure = nullptr);

}  // namespace vapoursynth

#endif
