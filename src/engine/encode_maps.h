/* EncodeMaps: the maps of an encode's frames (kernels/maps.h), from raw sums to files and to who receives frames. */
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
  /* Opens a file for each map of the plan's metrics. `encode`: its number where there are several. EEXIST and others: a
   * file cannot be written. The plan must outlive the maps. */
  static StatusOr<EncodeMaps> open(const Plan& plan, const MapsRequest& request, std::optional<int> encode);

  /* Takes the sums of a scored frame, in frame order. `picture`: the frame's place in the files. */
  void add(int64_t frame, int64_t picture, const FinishedFrame& finished);

  /* The maps of a frame, which are forgotten with the next call. Frames come in order. */
  std::span<const VmafxMap> receive(int64_t frame);

  /* Closes the files; the first write that failed, if one did. */
  Status close();

 private:
  /* A map in the sums of an extraction. */
  struct Map {
    std::string name;
    const Extractor* maker;
    size_t extraction, place;  // the place in Extractor::maps()
    std::unique_ptr<GrayFile> file;

    const MapInfo& info() const { return maker->maps()[place]; }
    size_t blocks() const { return static_cast<size_t>(info().w) * static_cast<size_t>(info().h); }
  };
  struct Frame {
    int64_t number;
    std::vector<double> values;  // of all maps, one behind the other
  };

  void write(Map& map, int64_t picture, std::span<const double> values) const;

  std::vector<Map> maps_;
  size_t values_ = 0;  // of all maps of a frame
  bool keeps_ = false;
  std::deque<Frame> frames_;  // that were not received
  Frame received_{};
  std::vector<VmafxMap> lent_;  // by the last receive()
};

}  // namespace vmafx

#endif
