/* The texts of the options `model` and `feature`, parsed. The syntax is that of FFmpeg's libvmaf filter:
 *
 *     version=vmaf_v0.6.1:name=hd:motion.motion_force_zero=true|path=/models/mine.json
 *     name=psnr:enable_mse=true|name=vif
 *
 * `|` separates entries and cannot be escaped; empty entries are skipped. An entry is `:`-separated key=value pairs.
 * Keys and values follow av_get_token(): `\` takes the next character as it is, '…' takes everything up to the closing
 * quote as it is, and unescaped white space around a token is dropped. */
#ifndef VMAFX_MODEL_SPEC_H
#define VMAFX_MODEL_SPEC_H

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "kernels/options.h"

namespace vmafx {

/* One model that the user asked for: exactly one of version and path is set. */
struct ModelSpec {
  std::string version;  // a built-in model, "vmaf_v0.6.1"
  std::string path;     // a model file
  std::string name;     // the report key; "" when not given, which means "vmaf" (see Model::name())
  bool disable_clip = false;
  bool enable_transform = false;
  std::map<std::string, OptionTexts> overloads;  // "motion" -> {"motion_force_zero": "true"}: wins over the model's own
};

/* One feature extractor that the user asked for by name. */
struct FeatureSpec {
  std::string extractor;  // "psnr"
  OptionTexts options;
};

/* A first token without `=` is the version, so `vmaf_v0.6.1neg` is `version=vmaf_v0.6.1neg`.
 * EINVAL for anything that is not understood: unknown keys, a key without a value or given twice, none or both of
 * version and path. Switches take true, false, 1 and 0. "" is an empty list. */
StatusOr<std::vector<ModelSpec>> parse_models(const std::string& text);

/* Parses models like parse_models(), but leaves out unknown keys; for each there is a sentence in `*left_out`. */
StatusOr<std::vector<ModelSpec>> parse_known(const std::string& text, std::vector<std::string>* left_out);

/* Parses features in the syntax of parse_models(); a first token without `=` is the name, so `psnr` is `name=psnr`. */
StatusOr<std::vector<FeatureSpec>> parse_features(const std::string& text);

}  // namespace vmafx

#endif
