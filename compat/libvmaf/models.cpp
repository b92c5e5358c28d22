#include "compat/libvmaf/models.h"

#include <cerrno>
#include <utility>

#include "compat/libvmaf/log.h"

namespace compat {

int LoadedModel::load(const char* origin, const char* value, const VmafModelConfig* configuration, LoadedModel* model) {
  const VmafModelConfig given = configuration ? *configuration : VmafModelConfig{};
  model->text_ = std::string(origin) + "=" + escaped(value);
  if (given.name && *given.name) model->text_ += ":name=" + escaped(given.name);
  if (given.flags & VMAF_MODEL_FLAG_DISABLE_CLIP) model->text_ += ":disable_clip=true";
  if (given.flags & VMAF_MODEL_FLAG_ENABLE_TRANSFORM) model->text_ += ":enable_transform=true";
  return model->open({});
}

int LoadedModel::open(const Overloads& overloads) {
  std::string text = text_;
  for (const auto& [extractor, options] : overloads) text += option_text(options, extractor + ".");
  VmafxPredictor* opened = nullptr;
  if (vmafx_predictor_open(&opened, text.c_str(), errors_of_vmafx, nullptr)) return -EINVAL;
  predictor_.reset(opened);
  full_text_ = std::move(text);
  inputs_.clear();
  outputs_.clear();
  for (int i = 0; const char* key = vmafx_predictor_input(opened, i); i++) inputs_.push_back(name_of(key));
  for (int i = 0; const char* key = vmafx_predictor_output(opened, i); i++) outputs_.push_back(key);
  return 0;
}

int LoadedModel::overload(const std::string& extractor, const OptionTexts& options) {
  Overloads overloads = overloads_;
  for (const auto& [option, value] : options) overloads[extractor][option] = value;
  if (const int ret = open(overloads)) return ret;
  overloads_ = std::move(overloads);
  return 0;
}

int LoadedModel::predict(const std::vector<double>& inputs, std::vector<double>* outputs) const {
  outputs->resize(outputs_.size());
  return vmafx_predict(predictor_.get(), inputs.data(), outputs->data());
}

namespace {

int load_model(VmafModel** model, const VmafModelConfig* configuration, const char* origin, const char* value) {
  if (!model || !value) return -EINVAL;
  return guarded([&] {
    auto made = std::make_unique<VmafModel>();
    if (const int ret = LoadedModel::load(origin, value, configuration, &made->loaded)) return ret;
    if (made->loaded.is_collection()) return -EINVAL;  // programs then load it as one
    *model = made.release();
    return 0;
  });
}

int load_collection(VmafModel** model, VmafModelCollection** collection, const VmafModelConfig* configuration,
                    const char* origin, const char* value) {
  if (!model || !collection || !value) return -EINVAL;
  return guarded([&] {
    auto base = std::make_unique<VmafModel>();
    auto all = std::make_unique<VmafModelCollection>();
    for (LoadedModel* part : {&base->loaded, &all->loaded})
      if (const int ret = LoadedModel::load(origin, value, configuration, part)) return ret;
    if (!base->loaded.is_collection()) return COMPAT_INVALID("model %s is one model, no collection of them", value);
    *model = base.release();
    *collection = all.release();
    return 0;
  });
}

}  // namespace
}  // namespace compat

int vmaf_model_load(VmafModel** model, VmafModelConfig* cfg, const char* version) {
  return compat::load_model(model, cfg, "version", version);
}

int vmaf_model_load_from_path(VmafModel** model, VmafModelConfig* cfg, const char* path) {
  return compat::load_model(model, cfg, "path", path);
}

int vmaf_model_feature_overload(VmafModel* model, const char* feature_name, VmafFeatureDictionary* opts_dict) {
  if (!model || !feature_name || !opts_dict) return -EINVAL;
  const std::unique_ptr<VmafFeatureDictionary> options(opts_dict);
  return compat::guarded([&] { return model->loaded.overload(feature_name, options->options); });
}

void vmaf_model_destroy(VmafModel* model) { delete model; }

int vmaf_model_collection_load(VmafModel** model, VmafModelCollection** collection, VmafModelConfig* cfg,
                               const char* version) {
  return compat::load_collection(model, collection, cfg, "version", version);
}

int vmaf_model_collection_load_from_path(VmafModel** model, VmafModelCollection** collection, VmafModelConfig* cfg,
                                         const char* path) {
  return compat::load_collection(model, collection, cfg, "path", path);
}

int vmaf_model_collection_feature_overload(VmafModel* model, VmafModelCollection** collection, const char* feature_name,
                                           VmafFeatureDictionary* opts_dict) {
  if (!model || !collection || !*collection || !feature_name || !opts_dict) return -EINVAL;
  const std::unique_ptr<VmafFeatureDictionary> options(opts_dict);
  return compat::guarded([&] {
    if (const int ret = (*collection)->loaded.overload(feature_name, options->options)) return ret;
    return model->loaded.overload(feature_name, options->options);
  });
}

void vmaf_model_collection_destroy(VmafModelCollection* collection) { delete collection; }
