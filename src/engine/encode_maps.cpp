#include "engine/encode_maps.h"

#include <algorithm>
#include <utility>

#include "engine/frames/pipeline.h"

namespace vmafx {
namespace {

std::string file_name(const std::string& map, std::optional<int> encode) {
  return encode ? map + "_encode" + std::to_string(*encode) : map;
}

}  // namespace

StatusOr<EncodeMaps> EncodeMaps::open(const Plan& plan, const VideoFormat& format, const MapsRequest& request,
                                      std::optional<int> encode) {
  EncodeMaps all;
  all.keeps_ = request.keeps;
  if (!request.any()) return all;
  for (size_t i = 0; i < plan.extractions().size(); i++) {
    const PlannedExtraction& extraction = plan.extractions()[i];
    const PlannedExtractor& planned = plan.extractors()[extraction.of.front()];
    if (!planned.maps || planned.unreported) continue;
    const Extractor& maker = plan.maker(extraction);
    for (size_t place = 0; place < maker.maps().size(); place++) {
      const MapInfo& info = maker.maps()[place];
      VMAFX_TRY(
          all.add_map({info.name + planned.options.key_suffix(), info, nullptr, &maker, i, place}, request, encode));
    }
  }
  for (size_t i = 0; i < plan.models().size(); i++) {
    std::optional<ModelMap> of_model = ModelMap::make(plan, plan.models()[i], format);
    if (!of_model) continue;
    Map map = {.name = plan.models()[i].model.name(), .info = of_model->info(), .file = nullptr};
    map.model = i;
    map.first_deviation = all.deviations_;
    all.deviations_ += of_model->deviations();
    all.models_++;
    map.of_model = std::move(of_model);
    VMAFX_TRY(all.add_map(std::move(map), request, encode));
  }
  return all;
}

Status EncodeMaps::add_map(Map map, const MapsRequest& request, std::optional<int> encode) {
  if (!request.folder.empty()) {
    VMAFX_ASSIGN(map.file,
                 GrayFile::create(kBlockMaps, request.folder, file_name(map.name, encode), map.info.w, map.info.h));
  }
  values_ += map.blocks();
  maps_.push_back(std::move(map));
  return {};
}

void EncodeMaps::add(int64_t frame, int64_t picture, const FinishedFrame& finished) {
  if (maps_.empty()) return;
  Frame added = {frame, picture, std::vector<double>(values_), std::vector<double>(deviations_), models_};
  std::span<double> rest(added.values);
  for (Map& map : maps_) {
    const std::span<double> values = rest.first(map.blocks());
    rest = rest.subspan(map.blocks());
    if (map.of_model) {
      map.of_model->read(finished,
                         std::span(added.deviations).subspan(map.first_deviation, map.of_model->deviations()));
      continue;
    }
    map.maker->read_map(finished.sums[map.extraction], map.place, values);
    if (map.file) write(map, picture, values);
  }
  if (keeps_ || models_) frames_.push_back(std::move(added));
}

void EncodeMaps::predicted(int64_t number, size_t model, std::span<const double> features) {
  const auto frame = std::ranges::find(frames_, number, &Frame::number);
  if (frame == frames_.end()) return;
  std::span<double> rest(frame->values);
  for (Map& map : maps_) {
    const std::span<double> values = rest.first(map.blocks());
    rest = rest.subspan(map.blocks());
    if (!map.of_model || map.model != model) continue;
    map.of_model->combine(std::span(frame->deviations).subspan(map.first_deviation, map.of_model->deviations()),
                          features, values);
    if (map.file) write(map, frame->picture, values);
    frame->models_to_come--;
  }
  if (frame->models_to_come) return;
  frame->deviations = {};
  if (!keeps_) frames_.erase(frame);
}

void EncodeMaps::write(Map& map, int64_t picture, std::span<const double> values) const {
  std::vector<float> row(static_cast<size_t>(map.info.w));
  for (int y = 0; y < map.info.h; y++) {
    const auto from = values.subspan(static_cast<size_t>(y) * row.size(), row.size());
    std::ranges::transform(from, row.begin(), [](double value) { return static_cast<float>(value); });
    map.file->put(picture, y, row);
  }
}

std::span<const VmafxMap> EncodeMaps::receive(int64_t frame) {
  lent_.clear();
  if (frames_.empty() || frames_.front().number != frame) return lent_;
  received_ = std::move(frames_.front());
  frames_.pop_front();
  const double* values = received_.values.data();
  for (const Map& map : maps_) {
    const MapInfo& info = map.info;
    lent_.push_back({.name = map.name.c_str(),
                     .unit = info.unit,
                     .width = info.w,
                     .height = info.h,
                     .block_width = info.block_w,
                     .block_height = info.block_h,
                     .values = values,
                     .reserved = {}});
    values += map.blocks();
  }
  return lent_;
}

Status EncodeMaps::close() {
  Status first;
  for (Map& map : maps_) {
    const Status closed = map.file ? map.file->close() : Status();
    if (first.ok()) first = closed;
  }
  return first;
}

}  // namespace vmafx
