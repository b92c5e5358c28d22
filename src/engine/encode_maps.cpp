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

StatusOr<EncodeMaps> EncodeMaps::open(const Plan& plan, const MapsRequest& request, std::optional<int> encode) {
  EncodeMaps all;
  all.keeps_ = request.keeps;
  for (size_t i = 0; request.any() && i < plan.extractions().size(); i++) {
    const PlannedExtraction& extraction = plan.extractions()[i];
    const PlannedExtractor& planned = plan.extractors()[extraction.of.front()];
    if (!planned.maps || planned.unreported) continue;
    const Extractor& maker = plan.maker(extraction);
    for (size_t place = 0; place < maker.maps().size(); place++) {
      Map map = {maker.maps()[place].name + planned.options.key_suffix(), &maker, i, place, nullptr};
      const MapInfo& info = map.info();
      if (!request.folder.empty()) {
        VMAFX_ASSIGN(map.file,
                     GrayFile::create(kBlockMaps, request.folder, file_name(map.name, encode), info.w, info.h));
      }
      all.values_ += map.blocks();
      all.maps_.push_back(std::move(map));
    }
  }
  return all;
}

void EncodeMaps::add(int64_t frame, int64_t picture, const FinishedFrame& finished) {
  if (maps_.empty()) return;
  Frame added = {frame, std::vector<double>(values_)};
  std::span<double> rest(added.values);
  for (Map& map : maps_) {
    const std::span<double> values = rest.first(map.blocks());
    rest = rest.subspan(map.blocks());
    map.maker->read_map(finished.sums[map.extraction], map.place, values);
    if (map.file) write(map, picture, values);
  }
  if (keeps_) frames_.push_back(std::move(added));
}

void EncodeMaps::write(Map& map, int64_t picture, std::span<const double> values) const {
  std::vector<float> row(static_cast<size_t>(map.info().w));
  for (int y = 0; y < map.info().h; y++) {
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
    const MapInfo& info = map.info();
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
