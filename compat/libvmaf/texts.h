/* Names and options as libvmaf says them and as vmafx does. */
#ifndef COMPAT_LIBVMAF_TEXTS_H
#define COMPAT_LIBVMAF_TEXTS_H

#include <map>
#include <string>

#include "compat/libvmaf/abi.h"

using OptionTexts = std::map<std::string, std::string>;

struct VmafFeatureDictionary {
  OptionTexts options;
};

namespace compat {

/* A feature has a name in libvmaf, "VMAF_integer_feature_adm2_score", and a key in reports, "integer_adm2". Most
 * features, and all that have options in their names, have one text for both. */
std::string name_of(const std::string& key);
std::string key_of(const std::string& name);

/* A value inside the options `model` and `feature`, where some characters have a meaning. */
std::string escaped(const std::string& value);

/* ":option=value" for each. */
std::string option_text(const OptionTexts& options, const std::string& prefix = "");

}  // namespace compat

#endif
