#include "engine/encode_regions.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/frames/pipeline.h"
#include "kernels/active_area/active_area.h"

namespace vmafx {
namespace {

bool has_nothing(const std::vector<double>& shares) {
  return std::ranges::none_of(shares, [](double share) { return share > 0; });
}

}  // namespace

StatusOr<EncodeRegions> EncodeRegions::make(const Plan& plan, std::span<const RegionArea> areas,
                                            const VideoFormat& format) {
  EncodeRegions all;
  if (plan.regions().empty()) return all;
  all.plan_ = &plan;
  all.active_ = plan.active_area();
  all.measured_ = {0, 0, format.w, format.h};
  for (const PlannedModel& model : plan.models()) {
    std::optional<ModelMap> map = ModelMap::make(plan, model, format);
    const size_t deviations = map ? map->deviations() : 0;
    all.maps_of_models_ += map.has_value();
    all.models_.push_back({std::move(map), model.model.highest(), all.deviations_});
    all.deviations_ += deviations;
  }
  for (const RegionArea& area : areas) {
    all.regions_.push_back(
        {&area, std::vector<Shares>(plan.extractions().size()), std::vector<Shares>(plan.models().size())});
    VMAFX_TRY(all.settle(all.regions_.size() - 1));
  }
  return all;
}

Status EncodeRegions::settle(size_t number) {
  measure(number, measured_);
  const Region& region = regions_[number];
  for (const PlannedRegion& planned : plan_->regions()) {
    if (planned.extractor < 0 || planned.region != number) continue;
    const PlannedExtractor& extractor = plan_->extractors()[static_cast<size_t>(planned.extractor)];
    if (std::ranges::any_of(region.of_extractions[extractor.extraction], has_nothing))
      return error(EINVAL,
                   "roi: the region '%s' has nothing of what %s scores: no middle of its windows, which keep away from "
                   "the picture's edge, or no chroma. Make it larger",
                   region.area->region().name.c_str(), extractor.info->name);
  }
  return {};
}

/* Finds out how much of each block of the maps belongs to a region. */
void EncodeRegions::measure(size_t number, const Rectangle& active) {
  Region& region = regions_[number];
  for (const PlannedRegion& planned : plan_->regions()) {
    if (planned.region != number) continue;
    if (planned.model >= 0) {
      const auto model = static_cast<size_t>(planned.model);
      region.of_models[model] = {region.area->shares(models_[model].map->info(), active)};
      continue;
    }
    const PlannedExtractor& extractor = plan_->extractors()[static_cast<size_t>(planned.extractor)];
    Shares& shares = region.of_extractions[extractor.extraction];
    shares.clear();
    for (const MapInfo& map : plan_->maker(plan_->extractions()[extractor.extraction]).maps())
      shares.push_back(region.area->shares(map, active));
  }
}

void EncodeRegions::look_at_active(const Rectangle& active) {
  if (active == measured_) return;
  measured_ = active;
  for (size_t i = 0; i < regions_.size(); i++)
    if (regions_[i].area->region().kind == vmafx::Region::Kind::kActive) measure(i, active);
}

void EncodeRegions::add(int64_t number, const FinishedFrame& finished, ScoreTable& table) {
  if (!any()) return;
  Rectangle active = measured_;
  if (active_) {
    const auto& found = *reinterpret_cast<const ActiveArea*>(finished.sums[*active_]);
    active = {found.x, found.y, found.w, found.h};
    look_at_active(active);
  }
  for (const PlannedRegion& planned : plan_->regions()) {
    if (planned.extractor < 0) continue;
    const PlannedExtractor& extractor = plan_->extractors()[static_cast<size_t>(planned.extractor)];
    const Shares& shares = regions_[planned.region].of_extractions[extractor.extraction];
    table.put(number, planned.column,
              extractor.extractor->score_region(finished.sums[extractor.extraction],
                                                extractor.extractor->features()[planned.feature].score, shares));
  }
  if (!maps_of_models_) return;
  Frame frame = {number, active, std::vector<double>(deviations_), maps_of_models_};
  for (const OfModel& model : models_)
    if (model.map)
      model.map->read(finished.sums,
                      std::span(frame.deviations).subspan(model.first_deviation, model.map->deviations()));
  frames_.push_back(std::move(frame));
}

void EncodeRegions::predicted(int64_t number, size_t place, std::span<const double> features, ScoreTable& table) {
  if (!any()) return;
  const OfModel& model = models_[place];
  const auto frame = std::ranges::find(frames_, number, &Frame::number);
  if (frame == frames_.end() || !model.map) return;
  look_at_active(frame->active);
  std::vector<double> map(model.map->blocks());
  model.map->combine(std::span(frame->deviations).subspan(model.first_deviation, model.map->deviations()), features,
                     map);
  for (const PlannedRegion& planned : plan_->regions())
    if (planned.model == static_cast<int>(place))
      table.put(number, planned.column, score(regions_[planned.region], model, map));
  if (!--frame->models_to_come) frames_.erase(frame);
}

/* The highest score less the region's mean loss. A map has the points that a block takes off the frame's score, times
 * the number of blocks; by area, all of the picture loses what the frame does. */
double EncodeRegions::score(const Region& region, const OfModel& model, std::span<const double> map) const {
  const std::vector<double>& shares = region.of_models[static_cast<size_t>(&model - models_.data())].front();
  double points = 0, area = 0;
  for (size_t n = 0; n < map.size(); n++) {
    points += shares[n] * map[n] / static_cast<double>(map.size());
    area += shares[n] * model.map->areas()[n];
  }
  return model.highest - points / area;
}

}  // namespace vmafx
