/* VmafContext: what is to be scored, the stream, and the scores. Calls of several threads come one after the other. */
#ifndef COMPAT_LIBVMAF_CONTEXT_H
#define COMPAT_LIBVMAF_CONTEXT_H

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compat/libvmaf/abi.h"
#include "compat/libvmaf/models.h"
#include "compat/libvmaf/pictures.h"
#include "compat/libvmaf/scores.h"
#include "compat/libvmaf/stream.h"

struct VmafContext {
 public:
  VmafContext(const VmafConfiguration& configuration, const compat::Settings& settings)
      : subsample_(configuration.n_subsample > 1 ? configuration.n_subsample : 1), configuration_(configuration),
        settings_(settings), stream_(configuration, settings) {}

  std::mutex mutex;                           // held while a call is in what follows, but for the pool
  std::shared_ptr<compat::PicturePool> pool;  // null: none was asked for
  std::shared_ptr<const compat::Cuda> cuda;   // null: no state was imported
  std::shared_ptr<compat::PicturePool> cuda_pool;

  int use(const std::string& features);  // as in the option `feature`
  int use_model(const compat::LoadedModel& model);
  int import(const std::string& name, unsigned index, double score) { return scores_.put(name, index, score); }
  int read(VmafPicture* ref, VmafPicture* dist, unsigned index);
  int flush();

  /* EINVAL: there is no such score, or not yet. */
  int feature_score(const std::string& name, unsigned index, double* score);
  int model_score(const VmafModel& model, unsigned index, double* score);
  int collection_score(const VmafModelCollection& collection, unsigned index, VmafModelCollectionScore* score);

  /* Visits each index from `low` to `high` that is scored; stops at the first failure. */
  int for_each_index(unsigned low, unsigned high, const std::function<int(unsigned)>& visit) const;
  int pooled(const std::string& name, VmafPoolingMethod method, unsigned low, unsigned high, double* score);

  int pool_collection(const VmafModelCollection& collection, VmafPoolingMethod method, unsigned low, unsigned high,
                      VmafModelCollectionScore* score);

  int write_report(const char* path, const char* format);

 private:
  /* The stream of a model that asks for the keys of earlier requests with other options: it is scored from its own
   * features, which nothing else shows. */
  struct ModelStream {
    ModelStream(std::string text, const VmafConfiguration& configuration, const compat::Settings& settings)
        : features(std::move(text)), stream(configuration, settings) {}

    const std::string features;
    compat::Stream stream;
    compat::Scores scores;
  };

  std::string features() const;
  int find_score(compat::Stream& stream, compat::Scores& scores, const std::string& name, unsigned index,
                 double* score);
  int predict(const compat::LoadedModel& model, unsigned index, std::vector<double>* outputs);

  const unsigned subsample_;
  const VmafConfiguration configuration_;
  const compat::Settings settings_;
  std::vector<std::string> features_;
  compat::Stream stream_;
  compat::Scores scores_;
  std::list<ModelStream> model_streams_;
  std::map<std::string, std::string> predicted_;  // texts of the models that have predicted, by their names
  bool flushed_ = false;
};

#endif
