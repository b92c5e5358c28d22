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
#include "report/outputs.h"
#include "report/score_facts.h"
#include "report/scores.h"
#include "report/summary.h"

namespace vmafx {

struct PlannedExtractor {
  const ExtractorInfo* info = nullptr;
  OptionTexts given;       // what was asked for, merged over all who asked
  std::string asker;       // the first who asked, in words: "model vmaf", "feature"
  bool asked_for = false;  // by `feature`, not by models only
  Placement placement = Placement::kCpu;
  bool device_only = false;  // somebody asked for the kernels, not for the metric
  bool unreported = false;   // another request has its keys: its scores are for the asker's model alone
  Options options;
  std::unique_ptr<Extractor> extractor;  // after instantiate()
  std::vector<std::unique_ptr<Extractor>>
      others;  // of encodes 1, 2, …: their sums become scores there, and are made by `extractor`
  Extractor& of_encode(int encode) { return encode ? *others[encode - 1] : *extractor; }
  /* "vif", "adm": the metric's name, or with options in the key "vif_egl_1"; unreported "adm of model vmaf". */
  std::string name() const;
  std::string request() const;                           // "model vmaf (adm:debug=true)", for messages
  std::string key() const;                               // its metric and its options, as they were given
  std::string key_of(const FeatureInfo& feature) const;  // what reports call it

  /* Per feature of extractor->features(). A score whose key belongs to another extractor has no column, -1, and one of
   * those that only models see, if a model needs it. */
  std::vector<int> columns, unseen;
  std::vector<std::string> aggregates;  // keys of Extractor::aggregates() that are its own
};

struct PlannedModel {
  struct Input {
    int extractor;  // index into Plan::extractors()
    std::string feature;
    int column = -1;  // after instantiate(): of Plan::columns(), or if `unseen` of those that only models see
    bool unseen = false;
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

/* What becomes of two requests that would write one key with other options: an error, or the reports have the first, as
 * libvmaf's have, and the log has a warning. A model is scored from what it asked for either way. */
enum class Rivals { kRefused, kFirstIsReported };

/* The folders that metrics write to, which options such as `heatmaps_path` name in models and features. Names that are not
 * known are left to Plan::make(). */
std::vector<NamedFile> written_folders(const std::vector<ModelSpec>& models, const std::vector<FeatureSpec>& features);

class Plan {
 public:
  /* Resolves models and features to extractors. `preferred`: where those that have kernels run. EINVAL names what is
   * unknown, or the two requests that cannot stand beside each other. */
  static StatusOr<Plan> make(std::vector<ModelSpec> models, const std::vector<FeatureSpec>& features,
                             Placement preferred, Log& log, Rivals rivals = Rivals::kRefused);

  /* Makes the extractors, for so many encodes. EINVAL when one cannot take the format, or writes files, which are of one encode. */
  Status instantiate(const VideoFormat& format, Log& log, int encodes = 1);

  /* After instantiate(). */
  StatusOr<DeviceExtractors> make_device_extractors(const VideoFormat& format) const;

  /* Lets metrics replace any file that they write to. Before instantiate(). */
  void allow_overwrite();

  std::vector<PlannedExtractor>& extractors() { return extractors_; }
  const std::vector<PlannedExtractor>& extractors() const { return extractors_; }
  const std::vector<PlannedModel>& models() const { return models_; }
  const std::vector<std::string>& columns() const { return columns_; }
  int unseen_columns() const { return unseen_columns_; }

  void set_means(ScoreTable& table) const;             // of its columns
  std::vector<ScoreFacts> score_facts() const;         // of its columns
  unsigned planes_read() const;                        // bit p: some extractor reads plane p
  std::vector<SummaryColumn> summary_columns() const;  // of what was asked for, in report order
  std::vector<MetricColumn> main_columns()
      const;                            // of the features that were asked for, in that order, then of the models
  StatusOr<Reach> reach() const;        // of all extractors; EINVAL: one makes something of whole streams only
  bool any(ExtractorFlags flag) const;  // some extractor has it

 private:
  /* Who asks for an extractor. A model, which `feature` of it is for, is never given another's scores. */
  struct Asker {
    std::string name;
    const char* feature = nullptr;
  };
  StatusOr<int> add_extractor(const ExtractorInfo& info, Placement preferred, const OptionTexts& given,
                              const Asker& asker, Log& log);
  Status check_models(const VideoFormat& format, Log& log) const;
  Status add_model(const ModelSpec& spec, Placement preferred, Log& log);
  Status add_feature(const FeatureSpec& spec, Placement preferred, Log& log);
  Status meet_rival(const std::string& key, const PlannedExtractor& first, const PlannedExtractor& second,
                    const std::string& difference, Log& log) const;
  Status place_columns(Log& log);
  Status place_column(PlannedExtractor& planned, size_t feature, Log& log);
  Status place_aggregates(Log& log);
  Status place_inputs(PlannedModel& model);
  static Status make_extractors(PlannedExtractor& planned, const VideoFormat& format, int encodes);
  static int main_column(const PlannedExtractor& planned);

  std::vector<PlannedExtractor> extractors_;
  std::vector<PlannedModel> models_;
  std::vector<std::string> columns_;
  int unseen_columns_ = 0;
  Rivals rivals_ = Rivals::kRefused;
};

}  // namespace vmafx

#endif
