/* Models: what a program has loaded, with the options that it has overloaded. */
#ifndef COMPAT_LIBVMAF_MODELS_H
#define COMPAT_LIBVMAF_MODELS_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compat/libvmaf/abi.h"
#include "compat/libvmaf/texts.h"
#include "vmafx/vmafx.h"

namespace compat {

struct ClosePredictor {
  void operator()(VmafxPredictor* predictor) const { vmafx_predictor_close(&predictor); }
};
using Predictor = std::unique_ptr<VmafxPredictor, ClosePredictor>;

class LoadedModel {
 public:
  /* `origin`: "version" or "path", `value`: which. EINVAL: there is none, or it is no model. */
  static int load(const char* origin, const char* value, const VmafModelConfig* configuration, LoadedModel* model);

  /* Sets options of an extractor; one that the model does not use is left out. EINVAL, and nothing changes: they are
   * wrong. */
  int overload(const std::string& extractor, const OptionTexts& options);

  /* All that was said of it: models with the same text give the same scores. */
  const std::string& text() const { return full_text_; }

  bool is_collection() const { return outputs_.size() > 1; }
  const char* features() const { return vmafx_predictor_feature(predictor_.get()); }  // for the option `feature`
  const std::vector<std::string>& inputs() const { return inputs_; }                  // names of features
  const std::vector<std::string>& outputs() const { return outputs_; }  // names of scores, the model's own first
  int predict(const std::vector<double>& inputs, std::vector<double>* outputs) const;

 private:
  using Overloads = std::map<std::string, OptionTexts>;  // by extractor
  int open(const Overloads& overloads);

  std::string text_;       // as the option `model` says it, without overloads
  std::string full_text_;  // with them
  Overloads overloads_;
  Predictor predictor_;
  std::vector<std::string> inputs_, outputs_;
};

}  // namespace compat

/* A model; for a collection, its base. */
struct VmafModel {
  compat::LoadedModel loaded;
};

struct VmafModelCollection {
  compat::LoadedModel loaded;
};

#endif
