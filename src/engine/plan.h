/* The plan: which extractors run, each once, for all models and features that were asked for, and which column of the
 * score table each score has. It is made in three steps: make() resolves all names and texts, place() says where
 * metrics run, once it is known whether there is a GPU, and instantiate() makes the extractors, once the format is
 * known. */
#ifndef VMAFX_ENGINE_PLAN_H
#define VMAFX_ENGINE_PLAN_H

#include <memory>
#include <optional>
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
  OptionTexts given;       // options, merged over all who asked
  std::string asker;       // the first who asked, in words: "model vmaf", "feature"
  bool asked_for = false;  // `feature` asked, not only models
  Placement placement = Placement::kCpu;
  bool device_only = false;  // somebody asked for the kernels, not for the metric
  bool unreported = false;   // another request has its keys: its scores are for the asker's model alone
  bool looks = false;        // it makes the signatures of the look: see Plan::look_at_pictures()
  bool finds_area = false;   // it finds the active area: see Plan::score_regions()
  bool maps = false;         // its sums are to have maps: see Plan::make_maps()
  Options options;
  std::unique_ptr<const Extractor>
      extractor;           // after instantiate(): makes the scorers, and the sums if nobody else does
  size_t extraction = 0;   // after instantiate(): the place of its sums in Plan::extractions(), …
  size_t sums_offset = 0;  // and their first byte there

  bool is_metric() const { return !looks && !finds_area; }

  /* The metric's name, "vif"; with options in the key "vif_egl_1"; if unreported, "adm of model vmaf". */
  std::string name() const;
  std::string request() const;                           // "model vmaf (adm:debug=true)", for messages
  std::string key() const;                               // the metric and its options, as they were given
  std::string key_of(const FeatureInfo& feature) const;  // the feature's key in reports
  std::string key_of(const char* aggregate) const;       // that of a value of the whole stream

  /* Whether an extractor of another kind must make its sums, so that these have maps. One that writes files stays. */
  bool needs_mapping() const { return maps && info->create_mapping && !options.write(); }

  /* Columns by feature of extractor->features(). A score whose key belongs to another extractor has none (-1) in
   * `columns`, and one in `unseen`, the scores that only models see, if a model needs it. */
  std::vector<int> columns, unseen;
  std::vector<std::string> aggregates;  // key_of() those of Extractor::aggregates() that it reports
};

/* What makes raw sums: for one of the plan's extractors, or for several that differ only in late options. */
struct PlannedExtraction {
  std::vector<size_t> of;        // places in Plan::extractors(), in order
  std::vector<size_t> variants;  // those of them whose sums differ: the first one of each kind
  std::unique_ptr<const Extractor>
      shared;  // for several variants, or with maps; null: the first one's own extractor makes the sums
};

struct PlannedModel {
  struct Input {
    int extractor;  // index into Plan::extractors()
    std::string feature;
    int column = -1;  // after instantiate(): in Plan::columns(), or if `unseen` among the scores that only models see
    bool unseen = false;
  };
  Model model;
  std::string version;        // see version_of()
  std::vector<Input> inputs;  // in the order of model.features()
  int first_column = -1;      // the column of its first score; after instantiate()
};

/* A score of a region: that of a feature, or of a model by its map. */
struct PlannedRegion {
  size_t region;       // the place among the names given to Plan::score_regions()
  int of_picture;      // the column of the whole picture's score
  int extractor = -1;  // index into Plan::extractors(), …
  size_t feature = 0;  // and into the extractor's features()
  int model = -1;      // or index into Plan::models()
  int column = -1;     // of the region's score
};

/* The extractors that a GPU runs which joins a plan on the CPU. */
struct DeviceExtractors {
  std::vector<std::unique_ptr<const Extractor>> of_plan;  // one for each extraction; null: the CPU keeps it
  std::vector<std::string> kept;                          // why the CPU keeps metrics that have kernels
};

/* Moves an extractor to the CPU if the kernels cannot take the format or the options, and says why. EINVAL if somebody
 * asked for the kernels by name. */
Status choose_placement(PlannedExtractor& planned, const VideoFormat& format, Log& log);

/* How to treat two requests that would write one key with different options: with an error, or, as libvmaf does, with a
 * warning, and reports have the first. A model is scored from the features that it asked for either way. */
enum class Rivals { kRefused, kFirstIsReported };

/* The folders that metrics write to, which options such as `heatmaps_path` name in models and features. Unknown names
 * are left to Plan::make(). */
std::vector<NamedFile> written_folders(const std::vector<ModelSpec>& models, const std::vector<FeatureSpec>& features);

class Plan {
 public:
  /* Reads model files and resolves models and features to extractors. Metrics run on the CPU until place() says
   * otherwise. EINVAL names the unknown word, or the two requests that cannot stand beside each other. */
  static StatusOr<Plan> make(const std::vector<ModelSpec>& models, const std::vector<FeatureSpec>& features, Log& log,
                             Rivals rivals = Rivals::kRefused);

  /* Whether somebody asked for kernels by name. */
  bool names_kernels() const;

  /* Adds the signatures for the look (engine/look/), which has no scores. Before place(). */
  void look_at_pictures();

  /* Has the sums of metrics that are local have maps. Before place(). EINVAL: no metric is local. */
  Status make_maps();

  /* Has each of these regions have the scores that metrics and models have of regions, in columns of their own, and
   * `active`: the active area of each picture be found. Before place(), and before look_at_pictures(). EINVAL: nothing
   * that is scored has scores of regions. */
  Status score_regions(std::vector<std::string> names, bool active, Log& log);

  /* After instantiate(). */
  const std::vector<PlannedRegion>& regions() const { return regions_; }

  /* The place in extractions() of the one that finds the active area. nullopt: none does. After instantiate(). */
  std::optional<size_t> active_area() const;

  /* Whether blocks of maps explain something of the model's score. */
  bool has_map(const PlannedModel& model) const;

  /* The place in extractions() of the one that makes the signatures, the last. nullopt: nobody looks, or no metric
   * reads the luma of both pictures. After instantiate(). */
  std::optional<size_t> look() const;

  /* Says where metrics that have kernels run. Before instantiate(). EINVAL: kernels were asked for by name, and they
   * cannot run. */
  Status place(Placement preferred);

  /* Makes the extractors, for this many encodes. EINVAL: one cannot take the format, or writes files, which several
   * encodes cannot share. */
  Status instantiate(const VideoFormat& format, Log& log, int encodes = 1);

  /* After instantiate(). */
  StatusOr<DeviceExtractors> make_device_extractors(const VideoFormat& format) const;

  /* Lets metrics replace any file that they write to. Before instantiate(). */
  void allow_overwrite();

  /* Has metrics write to a folder of this name in those that they were given. Before instantiate(). */
  void write_below(const std::string& folder);

  /* After instantiate(): the one that makes the sums of an extraction. */
  const Extractor& maker(const PlannedExtraction& extraction) const {
    return extraction.shared ? *extraction.shared : *extractors_[extraction.of.front()].extractor;
  }

  /* The metric of an extraction and the options of its variants, as they were given. */
  std::string key(const PlannedExtraction& extraction) const;

  const std::vector<PlannedExtractor>& extractors() const { return extractors_; }
  const std::vector<PlannedExtraction>& extractions() const { return extractions_; }  // after instantiate()
  const std::vector<PlannedModel>& models() const { return models_; }
  const std::vector<std::string>& columns() const { return columns_; }
  int unseen_columns() const { return unseen_columns_; }

  void set_means(ScoreTable& table) const;             // for the columns that have a mean of their own
  std::vector<ScoreFacts> score_facts() const;         // one for each column
  unsigned planes_read() const;                        // bit p: some metric reads plane p
  std::vector<SummaryColumn> summary_columns() const;  // the scores that were asked for, in report order
  std::vector<MetricColumn> main_columns() const;  // one for each feature and model that was asked for, in report order
  Reach reach() const;                             // the widest
  bool any(ExtractorFlags flag) const;             // some extractor has this flag

 private:
  /* The one who asks for an extractor. A model says for which feature, and is never given another's scores. */
  struct Asker {
    std::string name;
    std::string metric;  // as the asker calls it
    const char* feature = nullptr;
  };
  StatusOr<int> add_extractor(const ExtractorInfo& info, const OptionTexts& given, const Asker& asker, Log& log);
  Status check_models(const VideoFormat& format, Log& log) const;
  Status add_model(const ModelSpec& spec, Log& log);
  Status add_feature(const FeatureSpec& spec, Log& log);
  Status meet_rival(const std::string& key, const PlannedExtractor& first, const PlannedExtractor& second,
                    const std::string& difference, Log& log) const;
  Status place_columns(Log& log);
  Status place_column(PlannedExtractor& planned, size_t feature, Log& log);
  Status place_aggregates(Log& log);
  Status place_inputs(PlannedModel& model);
  Status place_regions();
  Status place_region(PlannedRegion region);
  unsigned planes_of_both(bool on_device) const;
  Status settle_look(const VideoFormat& format, Log& log);
  static VideoFormat seen_by_look(VideoFormat format, unsigned planes);
  bool looks() const { return !extractors_.empty() && extractors_.back().looks; }
  void share_extractions();
  bool join(PlannedExtraction& extraction, size_t extractor) const;
  size_t variant_of(const PlannedExtraction& extraction, const PlannedExtractor& planned) const;
  Status make_extractors(PlannedExtraction& extraction, const VideoFormat& format, int encodes);
  StatusOr<std::unique_ptr<Extractor>> make_shared(const PlannedExtraction& extraction, const VideoFormat& format,
                                                   Placement placement) const;
  StatusOr<std::unique_ptr<Extractor>> make_device_extractor(const PlannedExtraction& extraction,
                                                             const VideoFormat& format,
                                                             std::vector<std::string>& kept) const;
  static Status make_extractor(PlannedExtractor& planned, const VideoFormat& format, int encodes, Placement placement);
  static int main_column(const PlannedExtractor& planned);

  std::vector<PlannedExtractor> extractors_;
  std::vector<PlannedExtraction> extractions_;
  std::vector<PlannedModel> models_;
  std::vector<std::string> columns_;
  std::vector<std::string> region_names_;
  std::vector<PlannedRegion> regions_;
  int unseen_columns_ = 0;
  Rivals rivals_ = Rivals::kRefused;
};

}  // namespace vmafx

#endif
