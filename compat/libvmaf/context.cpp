#include "compat/libvmaf/context.h"

#include <algorithm>
#include <cerrno>
#include <set>

#include "compat/libvmaf/log.h"
#include "compat/libvmaf/texts.h"

std::string VmafContext::features() const {
  std::string text;
  for (const std::string& feature : features_) text += (text.empty() ? "" : "|") + feature;
  return text;
}

int VmafContext::use(const std::string& features) {
  if (stream_.began() || flushed_) return COMPAT_INVALID("features are to be registered before the first pictures");
  if (std::ranges::find(features_, features) == features_.end()) features_.push_back(features);
  return 0;
}

int VmafContext::use_model(const compat::LoadedModel& model) {
  const std::string features = model.features();
  for (const std::string& earlier : features_) {
    const std::string words = earlier == features ? "" : compat::Stream::contradiction(earlier, features);
    if (words.empty()) continue;
    if (stream_.began() || flushed_) break;  // use() refuses the model then
    if (std::ranges::find(model_streams_, features, &ModelStream::features) != model_streams_.end()) return 0;
    compat::log(VMAF_LOG_LEVEL_WARNING, "%s. Here the first one is reported, and model %s is scored from its own",
                words.c_str(), model.outputs().front().c_str());
    model_streams_.emplace_back(features, configuration_, settings_);
    return 0;
  }
  return use(features);
}

int VmafContext::read(VmafPicture* ref, VmafPicture* dist, unsigned index) {
  compat::Pair pair(ref, dist);
  if (flushed_) return COMPAT_INVALID("pictures came after the end of the stream");
  if (const int ret = pair.check()) return ret;
  for (ModelStream& model : model_streams_) {
    compat::Pair again = pair.again();
    if (const int ret = model.stream.read(again, index, model.features, &model.scores)) return ret;
  }
  return stream_.read(pair, index, features(), &scores_);
}

int VmafContext::flush() {
  if (flushed_) return -EINVAL;
  if (!stream_.began() && !features_.empty()) return COMPAT_INVALID("the stream has no pictures");
  for (ModelStream& model : model_streams_)
    if (const int ret = model.stream.flush(&model.scores)) return ret;
  if (const int ret = stream_.flush(&scores_)) return ret;
  flushed_ = true;
  return 0;
}

int VmafContext::feature_score(const std::string& name, unsigned index, double* score) {
  return find_score(stream_, scores_, name, index, score);
}

int VmafContext::find_score(compat::Stream& stream, compat::Scores& scores, const std::string& name, unsigned index,
                            double* score) {
  std::optional<double> found = scores.get(name, index);
  if (!found && !flushed_) {
    if (const int ret = stream.collect(&scores, index)) return ret;
    found = scores.get(name, index);
  }
  if (!found) return -EINVAL;
  *score = *found;
  return 0;
}

int VmafContext::predict(const compat::LoadedModel& model, unsigned index, std::vector<double>* outputs) {
  const auto own = std::ranges::find(model_streams_, model.features(), &ModelStream::features);
  const bool has_own = own != model_streams_.end();
  std::vector<double> inputs;
  for (const std::string& name : model.inputs()) {
    inputs.emplace_back();
    if (has_own ? find_score(own->stream, own->scores, name, index, &inputs.back())
                : feature_score(name, index, &inputs.back()))
      return COMPAT_INVALID("model %s needs %s, which has no score at index %u", model.outputs().front().c_str(),
                            name.c_str(), index);
  }
  return model.predict(inputs, outputs);
}

int VmafContext::model_score(const VmafModel& model, unsigned index, double* score) {
  const std::string& name = model.loaded.outputs().front();
  if (const auto other = predicted_.find(name); other != predicted_.end() && other->second != model.loaded.text())
    return COMPAT_INVALID("two models are called '%s'; give one of them another name", name.c_str());
  if (const auto known = scores_.get(name, index)) {
    *score = *known;
    return 0;
  }
  std::vector<double> outputs;
  if (const int ret = predict(model.loaded, index, &outputs)) return ret;
  *score = outputs.front();
  predicted_[name] = model.loaded.text();
  return scores_.put(name, index, *score);
}

namespace {

/* The outputs of a collection are those of its base, of each member, and these. Calls fill(name, score) for each. */
template <class Fill>
int fill_summary(const VmafModelCollection& collection, VmafModelCollectionScore* score, Fill fill) {
  *score = {};
  score->type = VMAF_MODEL_COLLECTION_SCORE_BOOTSTRAP;
  double* const summary[] = {&score->bootstrap.bagging_score, &score->bootstrap.stddev, &score->bootstrap.ci.p95.lo,
                             &score->bootstrap.ci.p95.hi};
  const std::vector<std::string>& names = collection.loaded.outputs();
  for (size_t i = 0; i < std::size(summary); i++)
    if (const int ret = fill(names[names.size() - std::size(summary) + i], summary[i])) return ret;
  return 0;
}

}  // namespace

int VmafContext::collection_score(const VmafModelCollection& collection, unsigned index,
                                  VmafModelCollectionScore* score) {
  const std::vector<std::string>& names = collection.loaded.outputs();
  if (!scores_.get(names.back(), index)) {
    std::vector<double> outputs;
    if (const int ret = predict(collection.loaded, index, &outputs)) return ret;
    for (size_t i = 1; i < names.size(); i++)
      if (const int ret = scores_.put(names[i], index, outputs[i])) return ret;
  }
  return fill_summary(collection, score,
                      [&](const std::string& name, double* value) { return feature_score(name, index, value); });
}

int VmafContext::pool_collection(const VmafModelCollection& collection, VmafPoolingMethod method, unsigned low,
                                 unsigned high, VmafModelCollectionScore* score) {
  return fill_summary(collection, score,
                      [&](const std::string& name, double* value) { return pooled(name, method, low, high, value); });
}

int VmafContext::for_each_index(unsigned low, unsigned high, const std::function<int(unsigned)>& visit) const {
  if (low > high) return -EINVAL;
  const uint64_t step = subsample_;
  for (uint64_t index = (low + step - 1) / step * step; index <= high; index += step)
    if (const int ret = visit(static_cast<unsigned>(index))) return ret;
  return 0;
}

int VmafContext::pooled(const std::string& name, VmafPoolingMethod method, unsigned low, unsigned high, double* score) {
  std::vector<double> scores;
  const int ret =
      for_each_index(low, high, [&](unsigned index) { return feature_score(name, index, &scores.emplace_back()); });
  return ret ? ret : compat::pool(compat::key_of(name), method, scores, score);
}

int VmafContext::write_report(const char* path, const char* format) {
  if (const int ret = flushed_ ? 0 : stream_.collect(&scores_)) return ret;
  std::set<unsigned> indices;
  std::vector<std::string> keys;
  for (const auto& [name, column] : scores_.all()) {
    keys.push_back(compat::key_of(name));
    for (const auto& [index, score] : column) indices.insert(index);
  }
  std::vector<std::vector<VmafxScore>> rows;
  std::vector<VmafxFrameResult> frames;
  for (const unsigned index : indices) {
    std::vector<VmafxScore>& row = rows.emplace_back();
    for (size_t i = 0; i < keys.size(); i++)
      if (const auto& column = scores_.all()[i].column; column.contains(index))
        row.push_back({keys[i].c_str(), column.at(index)});
    VmafxFrameResult& frame = frames.emplace_back(VmafxFrameResult{});
    frame.frame = index;
    frame.n_scores = row.size();
    frame.scores = row.data();
  }
  VmafxReport report{};
  report.path = path;
  report.format = format;
  report.score_fmt = settings_.score_format.c_str();
  report.width = static_cast<int>(stream_.width());
  report.height = static_cast<int>(stream_.height());
  report.n_subsample = static_cast<int>(subsample_);
  report.fps = stream_.frames_per_second();
  report.n_frames = frames.size();
  report.frames = frames.data();
  report.n_aggregates = stream_.aggregates().size();
  report.aggregates = stream_.aggregates().data();
  report.log = compat::log_of_vmafx;
  report.overwrite = settings_.overwrite;
  const int ret = vmafx_write_report(&report);
  if (ret == -EEXIST)
    compat::log(VMAF_LOG_LEVEL_ERROR, "the variable VMAFX_OVERWRITE=1 sets overwrite=1 for programs made for libvmaf");
  return ret ? -EINVAL : 0;
}
