#include "hip/module.h"

namespace vmafx::hip {

StatusOr<Module> Module::load(ContextPtr context, const void* image) {
  NativeModule native = nullptr;
  VMAFX_TRY(context->call("ModuleLoadData", [&](const Functions& f) { return f.ModuleLoadData(&native, image); }));
  return Module(std::move(context), native);
}

Module::~Module() {
  if (native_) context_->dispose("ModuleUnload", [&](const Functions& f) { return f.ModuleUnload(native_); });
}

StatusOr<NativeFunction> Module::find(const char* name) const {
  NativeFunction function = nullptr;
  const Status status = context_->call(
      "ModuleGetFunction", [&](const Functions& f) { return f.ModuleGetFunction(&function, native_, name); });
  if (!status.ok()) return error(status.code(), "kernel %s: %s", name, status.message().c_str());
  return function;
}

}  // namespace vmafx::hip
