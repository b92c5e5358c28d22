/* EncodeRegions: the scores of regions of an encode's frames, from the sums of blocks (Extractor::score_region()) and
 * the maps of models (engine/model_map.h). docs/maps.md says what they are. */
#ifndef VMAFX_ENGINE_ENCODE_REGIONS_H
#define VMAFX_ENGINE_ENCODE_REGIONS_H

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "engine/model_map.h"
#include "engine/plan.h"
#include "engine/region/region_area.h"
#include "report/scores.h"

namespace vmafx {

struct FinishedFrame;  // engine/frames/pipeline.h

class EncodeRegions {
 public:
  /* `areas`: in the order of the names that the plan was given; they and the plan must outlive this object. EINVAL: a
   * region has nothing of what a metric scores. */
  static StatusOr<EncodeRegions> make(const Plan& plan, std::span<const RegionArea> areas, const VideoFormat& format);

  bool any() const { return plan_ && !plan_->regions().empty(); }

  /* Takes the sums of a scored frame, in frame order, and puts the scores of metrics. */
  void add(int64_t frame, const FinishedFrame& finished, ScoreTable& table);

  /* Takes what a model of the plan, by its place there, has predicted a frame's scores from: after add(). Puts the
   * model's scores of regions. */
  void predicted(int64_t frame, size_t model, std::span<const double> features, ScoreTable& table);

 private:
  using Shares = std::vector<std::vector<double>>;  // of each map of an extractor, or of a model's one
  struct Region {
    const RegionArea* area;
    std::vector<Shares> of_extractions, of_models;  // none where nothing is scored by them
  };
  struct OfModel {
    std::optional<ModelMap> map;
    double highest;
    size_t first_deviation;  // in Frame::deviations
  };
  struct Frame {
    int64_t number;
    Rectangle active;
    std::vector<double> deviations;
    size_t models_to_come;
  };

  Status settle(size_t region);
  void measure(size_t region, const Rectangle& active);
  void look_at_active(const Rectangle& active);
  double score(const Region& region, const OfModel& model, std::span<const double> map) const;

  const Plan* plan_ = nullptr;
  std::vector<Region> regions_;
  std::vector<OfModel> models_;
  size_t deviations_ = 0, maps_of_models_ = 0;
  std::optional<size_t> active_;  // the extraction that finds it
  Rectangle measured_;            // the active area that shares are of
  std::deque<Frame> frames_;      // that wait for a model
};

}  // namespace vmafx

#endif
