#include "engine/encode_maps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/frames/pipeline.h"

namespace vmafx {
namespace {

/* Frames that wait for each worker: enough for a GPU, which brings up to 16 at once. */
constexpr int kMostPerWorker = 16;

std::string file_name(const std::string& map, std::optional<int> encode) {
  return encode ? map + "_encode" + std::to_string(*encode) : map;
}

}  // namespace

/* -- Opening ------------------------------------------------------------------------------------------------------- */

StatusOr<std::unique_ptr<EncodeMaps>> EncodeMaps::open(const Plan& plan, const VideoFormat& format,
                                                       const MapsRequest& request, std::optional<int> encode,
                                                       Workers& workers) {
  if (!request.any()) return std::unique_ptr<EncodeMaps>();
  std::unique_ptr<EncodeMaps> all(new EncodeMaps(workers));
  all->keeps_ = request.keeps;
  for (size_t i = 0; i < plan.extractions().size(); i++) {
    const PlannedExtraction& extraction = plan.extractions()[i];
    const PlannedExtractor& planned = plan.extractors()[extraction.of.front()];
    if (!planned.maps || planned.unreported) continue;
    const Extractor& maker = plan.maker(extraction);
    for (size_t place = 0; place < maker.maps().size(); place++) {
      const MapInfo& info = maker.maps()[place];
      VMAFX_TRY(
          all->add_map({info.name + planned.options.key_suffix(), info, nullptr, &maker, i, place}, request, encode));
    }
  }
  size_t deviations = 0;
  for (size_t i = 0; i < plan.models().size(); i++) {
    std::optional<ModelMap> of_model = ModelMap::make(plan, plan.models()[i], format);
    if (!of_model) continue;
    Map map = {.name = plan.models()[i].model.name(), .info = of_model->info(), .file = nullptr};
    map.model = i;
    map.first_input = all->inputs_;
    all->inputs_ += plan.models()[i].inputs.size();
    all->models_++;
    deviations = std::max(deviations, of_model->deviations());
    map.of_model = std::move(of_model);
    VMAFX_TRY(all->add_map(std::move(map), request, encode));
  }
  all->deviations_.assign(static_cast<size_t>(workers.threads()), std::vector<double>(deviations));
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

EncodeMaps::~EncodeMaps() {
  const MutexLock lock(mutex_);
  while (unmade_) changed_.wait(mutex_);
}

/* -- Frames, in the thread that scores ----------------------------------------------------------------------------- */

Status EncodeMaps::add(int64_t frame, int64_t picture, const FinishedFrame& finished) {
  VMAFX_TRY(failure());
  rest_made();
  if (resting_.empty()) {
    auto made = std::make_unique<Frame>();
    made->values.resize(values_);
    made->features.resize(inputs_);
    resting_.push_back(std::move(made));
  }
  frames_.push_back(std::move(resting_.back()));
  resting_.pop_back();
  Frame& added = *frames_.back();
  added.maps = this;
  added.number = frame;
  added.picture = picture;
  added.sums.assign(finished.sums.begin(), finished.sums.end());
  added.memory = finished.memory;
  added.models_to_come = models_;
  added.made = false;
  if (!models_) start(added);
  return {};
}

void EncodeMaps::predicted(int64_t number, size_t model, std::span<const double> features) {
  const auto found = std::ranges::find(frames_, number, [](const auto& frame) { return frame->number; });
  if (found == frames_.end()) return;
  Frame& frame = **found;
  for (const Map& map : maps_) {
    if (!map.of_model || map.model != model) continue;
    std::ranges::copy(features, frame.features.begin() + static_cast<ptrdiff_t>(map.first_input));
    if (--frame.models_to_come == 0) start(frame);
  }
}

/* Gives a frame to the workers. */
void EncodeMaps::start(Frame& frame) {
  {
    const MutexLock lock(mutex_);
    while (unmade_ >= kMostPerWorker * workers_.threads()) changed_.wait(mutex_);
    unmade_++;
  }
  workers_.add(frame);
}

bool EncodeMaps::is_made(const Frame& frame) {
  const MutexLock lock(mutex_);
  return frame.made;
}

/* Frees frames that nobody receives. */
void EncodeMaps::rest_made() {
  while (!keeps_ && !frames_.empty() && is_made(*frames_.front())) {
    resting_.push_back(std::move(frames_.front()));
    frames_.pop_front();
  }
}

bool EncodeMaps::is_coming(int64_t number) {
  return keeps_ && !frames_.empty() && frames_.front()->number == number && !is_made(*frames_.front());
}

std::span<const VmafxMap> EncodeMaps::receive(int64_t number) {
  lent_.clear();
  if (!keeps_ || frames_.empty() || frames_.front()->number != number) return lent_;
  if (received_) resting_.push_back(std::move(received_));
  received_ = std::move(frames_.front());
  frames_.pop_front();
  {
    const MutexLock lock(mutex_);
    while (!received_->made) changed_.wait(mutex_);
  }
  const double* values = received_->values.data();
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

Status EncodeMaps::failure() {
  const MutexLock lock(mutex_);
  return failure_;
}

Status EncodeMaps::close() {
  {
    const MutexLock lock(mutex_);
    while (unmade_) changed_.wait(mutex_);
  }
  Status first = failure();
  for (Map& map : maps_) {
    const Status closed = map.file ? map.file->close() : Status();
    if (first.ok()) first = closed;
  }
  return first;
}

/* -- Maps, in the threads of workers ------------------------------------------------------------------------------- */

/* Nobody else uses the frame until it is made. */
void EncodeMaps::make(Frame& frame, int worker) noexcept {
  Status status = guarded([&]() -> Status {
    make_all(frame, deviations_[static_cast<size_t>(worker)]);
    return {};
  });
  frame.memory = nullptr;
  if (!status.ok()) std::ranges::fill(frame.values, std::nan(""));
  const MutexLock lock(mutex_);
  if (failure_.ok()) failure_ = std::move(status);
  frame.made = true;
  unmade_--;
  changed_.notify_all();
}

void EncodeMaps::make_all(Frame& frame, std::vector<double>& deviations) const {
  std::span<double> rest(frame.values);
  for (const Map& map : maps_) {
    const std::span<double> values = rest.first(map.blocks());
    rest = rest.subspan(map.blocks());
    if (map.of_model) {
      const std::span<double> of_model = std::span(deviations).first(map.of_model->deviations());
      map.of_model->read(frame.sums, of_model);
      map.of_model->combine(of_model, std::span(frame.features).subspan(map.first_input, map.of_model->inputs()),
                            values);
    } else {
      map.maker->read_map(frame.sums[map.extraction], map.place, values);
    }
    if (map.file) write(map, frame.picture, values);
  }
}

void EncodeMaps::write(const Map& map, int64_t picture, std::span<const double> values) const {
  std::vector<float> row(static_cast<size_t>(map.info.w));
  for (int y = 0; y < map.info.h; y++) {
    const auto from = values.subspan(static_cast<size_t>(y) * row.size(), row.size());
    std::ranges::transform(from, row.begin(), [](double value) { return static_cast<float>(value); });
    map.file->put(picture, y, row);
  }
}

}  // namespace vmafx
