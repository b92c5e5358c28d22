/* The plan: which extractors run, each once, for all the models and features that were asked for, and in which column
 * of the score table each score stands. Made in two steps: the names are resolved when the session opens, the extractors are
 * made when the video format is known. */
#ifndef VMAFX_ENGINE_PLAN_H
#define VMAFX_ENGINE_PLAN_H

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "kernels/extractor.h"
#include "model/model.h"
#include "model/spec.h"
#include "report/openmetrics.h"
#include "report/scores.h"
#include "report/summary.h"

namespace vmafx {

struct PlannedExtractor {
  const ExtractorInfo* info = nullptr;
  OptionTexts given;       // what was asked for, merged over all who asked
  bool asked_for = false;  // by `feature`, not by models only
  Placement placement = Placement::kCpu;
  bool device_only = false;  // somebody asked for the kernels, not for the metric
  Options options;
  std::unique_ptr<Extractor> extractor;  // after instantiate()
  std::vector<std::unique_ptr<Extractor>>
      others;  // of encodes 1, 2, …: their sums become scores there, and are made by `extractor`
  Extractor& of_encode(int encode) { return encode ? *others[encode - 1] : *extractor; }
  /* "vif", "adm": the metric's name, or with options in the key "vif_egl_1". */
  std::string name() const;
  std::string key() const;                               // its metric and its options, as they were given
  std::string key_of(const FeatureInfo& feature) const;  // what reports call it

  std::vector<int> columns;  // per feature of extractor->features(); -1: the key belongs to another extractor
};

struct PlannedModel {
  struct Input {
    int extractor;  // index into Plan::extractors()
    std::string feature;
    int column;  // after instantiate()
  };
  Model model;
  std::string version;        // see version_of()
  std::vector<Input> inputs;  // in the order of model.features()
  int first_column = -1;      // of its scores; after instantiate()
};

/* Of a plan that runs on the CPU: what a GPU that comes later runs of it. */
struct DeviceExtractors {
  std::vector<std::unique_ptr<Extractor>> of_plan;  // one for each of the plan's; null: the CPU keeps it
  std::vector<std::string> kept;                    // why it keeps those that have kernels
};

/* Has the CPU run what the kernels leave it, the format or the options, and says why. EINVAL if the kernels were asked for
 * by name. */
Status choose_placement(PlannedExtractor& planned, const VideoFormat& format, Log& log);

class Plan {
 public:
  /* Resolves models and features to extractors. `preferred`: where those that have kernels run. EINVAL names what is
   * unknown. */
  static StatusOr<Plan> make(std::vector<ModelSpec> models, const std::vector<FeatureSpec>& features,
                             Placement preferred, Log& log);

  /* Makes the extractors, for so many encodes. EINVAL when one cannot take the format, or writes files, which are of one encode. */
  Status instantiate(const VideoFormat& format, Log& log, int encodes = 1);

  /* After instantiate(). */
  StatusOr<DeviceExtractors> make_device_extractors(const VideoFormat& format) const;

  std::vector<PlannedExtractor>& extractors() { return extractors_; }
  const std::vector<PlannedExtractor>& extractors() const { return extractors_; }
  const std::vector<PlannedModel>& models() const { return models_; }
  const std::vector<std::string>& columns() const { return columns_; }

  void set_means(ScoreTable& table) const;             // of its columns
  unsigned planes_read() const;                        // bit p: some extractor reads plane p
  std::vector<SummaryColumn> summary_columns() const;  // of what was asked for, in report order
  std::vector<MetricColumn> main_columns()
      const;                            // of the features that were asked for, in that order, then of the models
  StatusOr<Reach> reach() const;        // of all extractors; EINVAL: one makes something of whole streams only
  bool any(ExtractorFlags flag) const;  // some extractor has it

 private:
  StatusOr<int> add_extractor(const ExtractorInfo& info, Placement preferred, const OptionTexts& given, Log& log);
  Status check_models(const VideoFormat& format, Log& log) const;
  Status add_model(const ModelSpec& spec, Placement preferred, Log& log);
  Status add_feature(const FeatureSpec& spec, Placement preferred, Log& log);
  void place_columns(Log& log);
  void place_column(PlannedExtractor& planned, size_t feature, Log& log);
  static Status make_extractors(PlannedExtractor& planned, const VideoFormat& format, int encodes);
  static int main_column(const PlannedExtractor& planned);
  int column_of(const PlannedExtractor& planned, const std::string& feature) const;

  std::vector<PlannedExtractor> extractors_;
  std::vector<PlannedModel> models_;
  std::vector<std::string> columns_;
};

}  // namespace vmafx

#endif
