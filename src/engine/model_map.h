/* ModelMap: where in a frame a model finds what the frame lacks to the highest score.
 *
 * The score of a frame is explained by its features (Model::explain()), each feature by the blocks of its metric's maps
 * (Extractor::read_deviation()). What no block explains is spread over the picture. docs/maps.md says what is exact. */
#ifndef VMAFX_ENGINE_MODEL_MAP_H
#define VMAFX_ENGINE_MODEL_MAP_H

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/picture.h"
#include "engine/plan.h"
#include "kernels/blocks.h"
#include "kernels/extractor.h"

namespace vmafx {

class ModelMap {
 public:
  /* nullopt: no map explains anything of the model's features. The plan must have its extractors, and outlive the
   * map. */
  static std::optional<ModelMap> make(const Plan& plan, const PlannedModel& model, const VideoFormat& format);

  const MapInfo& info() const { return info_; }
  size_t blocks() const { return static_cast<size_t>(info_.w) * static_cast<size_t>(info_.h); }

  /* The blocks' areas, as shares of the picture's. */
  std::span<const double> areas() const { return areas_; }

  size_t inputs() const { return inputs_.size(); }  // of the model

  /* How many values read() makes of a frame. */
  size_t deviations() const { return inputs_.size() * blocks(); }

  /* Each block's loss against the best of each feature. `sums`: those of the frame, by the plan's extractions; they are
   * not needed afterwards. */
  void read(std::span<const std::byte* const> sums, std::span<double> deviations) const;

  /* The map, once the model has predicted from these features. */
  void combine(std::span<const double> deviations, std::span<const double> features, std::span<double> values) const;

 private:
  /* A feature of the model. */
  struct Input {
    const PlannedExtractor* planned;
    const Extractor* maker;
    FeatureInfo feature;
    std::vector<BlockSpread> spreads;  // of each of the maker's maps; empty: they do not explain the feature
  };
  using Values = std::span<double>;

  ModelMap(const PlannedModel& model, const VideoFormat& format);
  void add_evenly(double amount, Values to) const;
  void add_input(std::span<const double> deviations, double lacks, double slope, Values to) const;

  const PlannedModel* model_;
  int w_, h_;  // the picture, in samples of luma
  BlockGrid grid_;
  MapInfo info_;
  std::vector<double> areas_;  // of the blocks, as shares of the picture
  std::vector<Input> inputs_;
};

}  // namespace vmafx

#endif
