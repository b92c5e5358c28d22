/* The built-in models' numbers, compiled in from models/ (see models/README.md), ready to use without parsing. */
#ifndef VMAFX_MODEL_MODEL_BUILTIN_H
#define VMAFX_MODEL_MODEL_BUILTIN_H

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "model/spec.h"

namespace vmafx {

/* "vmaf_v0.6.1", …; the default model first. */
std::span<const char* const> builtin_model_names();

/* The members of the built-in model spec.version, with clip and transform as the spec wants them; nullopt when there is
 * none of that name. */
std::optional<std::vector<ModelMember>> builtin_model(const ModelSpec& spec);

/* The SHA-256 of the file that the numbers of this built-in model come from; "" when there is none of that name. */
const char* builtin_model_sha256(std::string_view version);

}  // namespace vmafx

#endif
