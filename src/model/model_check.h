/* Whether a model goes together with the pictures that it is to score. */
#ifndef VMAFX_MODEL_MODEL_CHECK_H
#define VMAFX_MODEL_MODEL_CHECK_H

#include <string>

#include "base/log.h"
#include "base/picture.h"
#include "base/status.h"
#include "model/model.h"
#include "model/spec.h"

namespace vmafx {

/* The model's name among the built-in ones: its version, or of a file what it would be called. */
std::string version_of(const ModelSpec& spec);

/* One warning for each way in which the scores will mean little, with what would be better. EINVAL, with what to do:
 * there can be none. `encode_depth_known`: the user has said how many bits the encode has. */
Status check_model(const Model& model, const std::string& version, bool encode_depth_known, const VideoFormat& format,
                   Log& log);

}  // namespace vmafx

#endif
