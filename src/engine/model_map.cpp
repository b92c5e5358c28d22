#include "engine/model_map.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vmafx {
namespace {

constexpr int kBlockSide = 32;  // that of vif, the finest of the metrics that models read

const FeatureInfo& feature_called(const PlannedExtractor& planned, const std::string& name) {
  return *std::ranges::find_if(planned.info->features, [&](const FeatureInfo& f) { return name == f.name; });
}

}  // namespace

ModelMap::ModelMap(const PlannedModel& model, const VideoFormat& format)
    : model_(&model), w_(format.w), h_(format.h), grid_(block_grid(format.w, format.h, kBlockSide)),
      info_{model.model.name().c_str(), "points", grid_.w, grid_.h, kBlockSide, kBlockSide} {
  for (int y = 0; y < grid_.h; y++)
    for (int x = 0; x < grid_.w; x++)
      areas_.push_back(static_cast<double>(std::min(kBlockSide, w_ - x * kBlockSide)) *
                       std::min(kBlockSide, h_ - y * kBlockSide) / (static_cast<double>(w_) * h_));
}

std::optional<ModelMap> ModelMap::make(const Plan& plan, const PlannedModel& model, const VideoFormat& format) {
  if (!plan.has_map(model)) return std::nullopt;
  ModelMap map(model, format);
  for (const PlannedModel::Input& input : model.inputs) {
    const PlannedExtractor& planned = plan.extractors()[static_cast<size_t>(input.extractor)];
    const Extractor& maker = plan.maker(plan.extractions()[planned.extraction]);
    const FeatureInfo& feature = feature_called(planned, input.feature);
    Input& added = map.inputs_.emplace_back(&planned, &maker, feature);
    for (size_t place = 0; planned.maps && place < maker.maps().size(); place++) {
      const MapInfo& blocks = maker.maps()[place];
      added.spreads.emplace_back(BlocksOfPicture{map.w_, map.h_, blocks.w, blocks.block_w, blocks.block_h}, blocks.h,
                                 map.grid_);
    }
  }
  return map;
}

void ModelMap::read(std::span<const std::byte* const> sums, std::span<double> deviations) const {
  std::ranges::fill(deviations, 0.0);
  std::vector<double> values;
  for (size_t i = 0; i < inputs_.size(); i++) {
    const Input& input = inputs_[i];
    const Values to = deviations.subspan(i * blocks(), blocks());
    for (size_t place = 0; place < input.spreads.size(); place++) {
      const MapInfo& map = input.maker->maps()[place];
      values.resize(static_cast<size_t>(map.w) * static_cast<size_t>(map.h));
      if (input.planned->extractor->read_deviation(sums[input.planned->extraction], input.feature.score, place, values))
        input.spreads[place].add(values, to);
    }
  }
}

void ModelMap::add_evenly(double amount, Values to) const {
  for (size_t n = 0; n < to.size(); n++) to[n] += amount * areas_[n];
}

/* Adds what a feature costs: `slope` times what it lacks to its best. What its blocks lack beyond that does not count,
 * since the metric limits its scores; what they do not explain is spread. */
void ModelMap::add_input(std::span<const double> deviations, double lacks, double slope, Values to) const {
  constexpr double kRounding = 1e-6;  // of scores that are floats
  double explained = std::accumulate(deviations.begin(), deviations.end(), 0.0), factor = 1;
  if (explained * lacks > 0 && std::abs(explained) > std::abs(lacks) + kRounding) factor = lacks / explained;
  for (size_t n = 0; n < to.size(); n++) to[n] += slope * factor * deviations[n];
  add_evenly(slope * (lacks - factor * explained), to);
}

/* Values are in points of the score times the number of blocks, so that their mean is what the frame lacks. */
void ModelMap::combine(std::span<const double> deviations, std::span<const double> features,
                       std::span<double> values) const {
  std::vector<double> best, slopes(features.size());
  for (size_t i = 0; i < inputs_.size(); i++)
    best.push_back(std::isnan(inputs_[i].feature.best) ? features[i] : inputs_[i].feature.best);
  const double of_best = model_->model.explain(features, best, slopes);
  std::ranges::fill(values, 0.0);
  add_evenly(model_->model.highest() - of_best, values);
  for (size_t i = 0; i < inputs_.size(); i++)
    add_input(deviations.subspan(i * blocks(), blocks()), best[i] - features[i], slopes[i], values);
  for (double& value : values) value *= static_cast<double>(blocks());
}

}  // namespace vmafx
