/* Loads models: the built-in ones by version, and files in libvmaf's JSON format. */
#ifndef VMAFX_MODEL_MODEL_FILE_H
#define VMAFX_MODEL_MODEL_FILE_H

#include <string>
#include <string_view>

#include "base/status.h"
#include "model/model.h"
#include "model/spec.h"

namespace vmafx {

/* The model that `spec` asks for, called spec.name or else "vmaf". ENOENT, EACCES, EISDIR, …: the file cannot be read.
 * EINVAL: no such version (the sentence lists those there are), or the file is not a valid model (it names file and
 * field). spec.overloads are not applied here: which extractor a feature belongs to is for the plan to know. */
StatusOr<Model> load_model(const ModelSpec& spec);

/* Parses the text of a model file; `origin` stands for the file in messages. Any text is safe to pass. */
StatusOr<Model> parse_model(std::string_view json, const std::string& origin, const ModelSpec& spec);

}  // namespace vmafx

#endif
