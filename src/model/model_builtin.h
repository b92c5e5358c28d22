/* The built-in models' numbers, compiled in from models/ (see models/README.md), ready to use without parsing. */
#ifndef VMAFX_MODEL_MODEL_BUILTIN_H
#define VMAFX_MODEL_MODEL_BUILTIN_H

#include <optional>
#include <span>
#include <vector>

#include "model/model.h"
#include "model/spec.h"

namespace vmafx {

/* "vmaf_v0.6.1", …; the default model first. */
std::span<const char* const> builtin_model_names();

/* The members of the built-in model spec.version, with clip and transform as the spec wants them; nullopt when there is
 * none of that name. */
std::optional<std::vector<ModelMember>> builtin_model(const ModelSpec& spec);

}  // namespace vmafx

#endif
