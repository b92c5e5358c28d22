/* The built-in models' numbers, compiled in from models/ (see models/README.md), ready to use without parsing. */
#ifndef VMAFX_ENGINE_MODEL_BUILTIN_H
#define VMAFX_ENGINE_MODEL_BUILTIN_H

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/model.h"

namespace vmafx {

/* "vmaf_v0.6.1", …; the default model first. */
std::span<const char* const> builtin_model_names();

/* The members of the built-in model `version`, their transforms as if enabled; nullopt when there is none of that name. */
std::optional<std::vector<ModelMember>> builtin_model(std::string_view version);

}  // namespace vmafx

#endif
