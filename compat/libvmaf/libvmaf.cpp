/* The calls of libvmaf.h: they check what they are given, and ask the context. */
#include <cerrno>
#include <memory>
#include <new>

#include "compat/libvmaf/context.h"
#include "compat/libvmaf/log.h"

namespace {

/* The version of libvmaf whose interface this is, and that of vmafx. */
const std::string& version() {
  static const std::string text = std::string("3.2.1 (vmafx ") + vmafx_version() + ")";
  return text;
}

/* Runs `body` with the context locked. */
template <class Body>
int locked(VmafContext* vmaf, Body body) {
  if (!vmaf) return -EINVAL;
  return compat::guarded([&] {
    const std::lock_guard lock(vmaf->mutex);
    return body();
  });
}

const char* format_name(VmafOutputFormat format) {
  switch (format) {
    case VMAF_OUTPUT_FORMAT_XML: return "xml";
    case VMAF_OUTPUT_FORMAT_JSON: return "json";
    case VMAF_OUTPUT_FORMAT_CSV: return "csv";
    case VMAF_OUTPUT_FORMAT_SUB: return "sub";
    default: return nullptr;
  }
}

}  // namespace

const char* vmaf_version(void) { return version().c_str(); }

int vmaf_init(VmafContext** vmaf, VmafConfiguration cfg) {
  if (!vmaf) return -EINVAL;
  *vmaf = nullptr;
  compat::set_log_level(cfg.log_level);
  return compat::guarded([&] {
    compat::Settings settings;
    if (const int ret = compat::Settings::read(&settings)) return ret;
    *vmaf = new VmafContext(cfg, settings);
    return 0;
  });
}

int vmaf_close(VmafContext* vmaf) {
  if (!vmaf) return -EINVAL;
  delete vmaf;
  return 0;
}

int vmaf_use_feature(VmafContext* vmaf, const char* feature_name, VmafFeatureDictionary* opts_dict) {
  if (!feature_name) return -EINVAL;
  return locked(vmaf, [&] {
    const std::string text =
        "name=" + compat::escaped(feature_name) + (opts_dict ? compat::option_text(opts_dict->options) : std::string());
    if (const int ret = compat::Stream::check(text)) return ret;
    if (const int ret = vmaf->use(text)) return ret;
    delete opts_dict;
    return 0;
  });
}

int vmaf_use_features_from_model(VmafContext* vmaf, VmafModel* model) {
  if (!model) return -EINVAL;
  return locked(vmaf, [&] { return vmaf->use_model(model->loaded); });
}

int vmaf_use_features_from_model_collection(VmafContext* vmaf, VmafModelCollection* collection) {
  if (!collection) return -EINVAL;
  return locked(vmaf, [&] { return vmaf->use_model(collection->loaded); });
}

int vmaf_import_feature_score(VmafContext* vmaf, const char* feature_name, double value, unsigned index) {
  if (!feature_name) return -EINVAL;
  return locked(vmaf, [&] { return vmaf->import(feature_name, index, value); });
}

int vmaf_read_pictures(VmafContext* vmaf, VmafPicture* ref, VmafPicture* dist, unsigned index) {
  if (!ref != !dist) return -EINVAL;
  return locked(vmaf, [&] { return ref ? vmaf->read(ref, dist, index) : vmaf->flush(); });
}

int vmaf_feature_score_at_index(VmafContext* vmaf, const char* feature_name, double* score, unsigned index) {
  if (!feature_name || !score) return -EINVAL;
  return locked(vmaf, [&] { return vmaf->feature_score(feature_name, index, score); });
}

int vmaf_score_at_index(VmafContext* vmaf, VmafModel* model, double* score, unsigned index) {
  if (!model || !score) return -EINVAL;
  return locked(vmaf, [&] { return vmaf->model_score(*model, index, score); });
}

int vmaf_score_at_index_model_collection(VmafContext* vmaf, VmafModelCollection* collection,
                                         VmafModelCollectionScore* score, unsigned index) {
  if (!collection || !score) return -EINVAL;
  return locked(vmaf, [&] { return vmaf->collection_score(*collection, index, score); });
}

int vmaf_feature_score_pooled(VmafContext* vmaf, const char* feature_name, VmafPoolingMethod pool_method, double* score,
                              unsigned index_low, unsigned index_high) {
  if (!feature_name || !score) return -EINVAL;
  return locked(vmaf, [&] { return vmaf->pooled(feature_name, pool_method, index_low, index_high, score); });
}

int vmaf_score_pooled(VmafContext* vmaf, VmafModel* model, VmafPoolingMethod pool_method, double* score,
                      unsigned index_low, unsigned index_high) {
  if (!model || !score) return -EINVAL;
  return locked(vmaf, [&] {
    double of_index = 0;
    const auto predict = [&](unsigned index) { return vmaf->model_score(*model, index, &of_index); };
    if (const int ret = vmaf->for_each_index(index_low, index_high, predict)) return ret;
    return vmaf->pooled(model->loaded.outputs().front(), pool_method, index_low, index_high, score);
  });
}

int vmaf_score_pooled_model_collection(VmafContext* vmaf, VmafModelCollection* collection,
                                       VmafPoolingMethod pool_method, VmafModelCollectionScore* score,
                                       unsigned index_low, unsigned index_high) {
  if (!collection || !score) return -EINVAL;
  return locked(vmaf, [&] {
    const auto predict = [&](unsigned index) { return vmaf->collection_score(*collection, index, score); };
    if (const int ret = vmaf->for_each_index(index_low, index_high, predict)) return ret;
    return vmaf->pool_collection(*collection, pool_method, index_low, index_high, score);
  });
}

int vmaf_preallocate_pictures(VmafContext* vmaf, VmafPictureConfiguration cfg) {
  return locked(vmaf, [&] { return compat::PicturePool::make(cfg, nullptr, &vmaf->pool); });
}

int vmaf_fetch_preallocated_picture(VmafContext* vmaf, VmafPicture* pic) {
  if (!pic) return -EINVAL;
  return locked(vmaf, [&] { return vmaf->pool ? vmaf->pool->fetch(pic) : -EINVAL; });
}

int vmaf_write_output(VmafContext* vmaf, const char* output_path, VmafOutputFormat fmt) {
  const char* const format = format_name(fmt);
  if (!output_path || !format) return -EINVAL;
  return locked(vmaf, [&] { return vmaf->write_report(output_path, format); });
}
