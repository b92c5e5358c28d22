/* EncodeMaps: the maps of an encode's frames, from raw sums (kernels/maps.h) and models (engine/model_map.h) to files
 * and to who receives frames. */
#ifndef VMAFX_ENGINE_ENCODE_MAPS_H
#define VMAFX_ENGINE_ENCODE_MAPS_H

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/model_map.h"
#include "engine/plan.h"
#include "kernels/options.h"
#include "kernels/steps/gray_file.h"
#include "vmafx/vmafx.h"

namespace vmafx {

struct FinishedFrame;  // engine/frames/pipeline.h

/* Where maps go. */
struct MapsRequest {
  WritePath folder;    // "": no files
  bool keeps = false;  // frames that are received have them

  bool any() const { return keeps || !folder.empty(); }
};

class EncodeMaps {
 public:
  /* Opens a file for each map of the plan's metrics and models. `encode`: its number where there are several. EEXIST
   * and others: a file cannot be written. The plan must outlive the maps. */
  static StatusOr<EncodeMaps> open(const Plan& plan, const VideoFormat& format, const MapsRequest& request,
                                   std::optional<int> encode);

  /* Takes the sums of a scored frame, in frame order. `picture`: the frame's place in the files. */
  void add(int64_t frame, int64_t picture, const FinishedFrame& finished);

  /* Takes what a model of the plan, by its place there, has predicted a frame's scores from: after add(). */
  void predicted(int64_t frame, size_t model, std::span<const double> features);

  /* The maps of a frame, which are forgotten with the next call. Frames come in order. */
  std::span<const VmafxMap> receive(int64_t frame);

  /* Closes the files; the first write that failed, if one did. */
  Status close();

 private:
  /* A map in the sums of an extraction, or that of a model. */
  struct Map {
    std::string name;
    MapInfo info;
    std::unique_ptr<GrayFile> file;
    const Extractor* maker = nullptr;  // of an extraction's sums; or null:
    size_t extraction = 0, place = 0;  // the place in Extractor::maps()
    std::optional<ModelMap> of_model = {};
    size_t model = 0;            // the place in Plan::models()
    size_t first_deviation = 0;  // in Frame::deviations

    size_t blocks() const { return static_cast<size_t>(info.w) * static_cast<size_t>(info.h); }
  };
  struct Frame {
    int64_t number, picture;
    std::vector<double> values;      // of all maps, one behind the other
    std::vector<double> deviations;  // of all models' maps, until they have predicted
    size_t models_to_come;
  };

  Status add_map(Map map, const MapsRequest& request, std::optional<int> encode);
  void write(Map& map, int64_t picture, std::span<const double> values) const;

  std::vector<Map> maps_;
  size_t values_ = 0, deviations_ = 0, models_ = 0;  // of all maps of a frame
  bool keeps_ = false;
  std::deque<Frame> frames_;  // that were not received, or wait for a model
  Frame received_{};
  std::vector<VmafxMap> lent_;  // by the last receive()
};

}  // namespace vmafx

#endif
