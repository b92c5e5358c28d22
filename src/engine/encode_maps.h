/* EncodeMaps: the maps of an encode's frames, from raw sums (kernels/maps.h) and models (engine/model_map.h) to files
 * and to who receives frames. Workers make them, so that the one who scores does not wait. */
#ifndef VMAFX_ENGINE_ENCODE_MAPS_H
#define VMAFX_ENGINE_ENCODE_MAPS_H

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/mutex.h"
#include "base/status.h"
#include "engine/frames/workers.h"
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
  /* Opens a file for each map of the plan's metrics and models; null: nothing is asked for. `encode`: its number where
   * there are several. EEXIST and others: a file cannot be written. The plan must outlive the maps. */
  static StatusOr<std::unique_ptr<EncodeMaps>> open(const Plan& plan, const VideoFormat& format,
                                                    const MapsRequest& request, std::optional<int> encode,
                                                    Workers& workers);

  EncodeMaps(const EncodeMaps&) = delete;
  EncodeMaps& operator=(const EncodeMaps&) = delete;
  ~EncodeMaps();  // waits for the workers

  /* Takes the sums of a scored frame, in frame order, from a pipeline that lends them. `picture`: the frame's place in
   * the files. Waits where the workers have much to do. ENOMEM: there was no memory for maps, or is none. */
  Status add(int64_t frame, int64_t picture, const FinishedFrame& finished);

  /* Takes what a model of the plan, by its place there, has predicted a frame's scores from: after add(). */
  void predicted(int64_t frame, size_t model, std::span<const double> features);

  /* Whether receive() of a frame has to wait for workers. */
  bool is_coming(int64_t frame);

  /* The maps of a frame, which are forgotten with the next call. Frames come in order. */
  std::span<const VmafxMap> receive(int64_t frame);

  /* Closes the files, once all is written; the first failure, if there was one. */
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
    size_t model = 0;        // the place in Plan::models()
    size_t first_input = 0;  // in Frame::features

    size_t blocks() const { return static_cast<size_t>(info.w) * static_cast<size_t>(info.h); }
  };
  struct Frame final : Job {
    void run(int worker) noexcept override { maps->make(*this, worker); }

    EncodeMaps* maps = nullptr;
    int64_t number = 0, picture = 0;
    std::vector<const std::byte*> sums;
    std::shared_ptr<const AlignedBytes> memory;  // of the sums; let go when the maps are made
    std::vector<double> features;                // of all models with a map, one behind the other
    size_t models_to_come = 0;
    std::vector<double> values;  // of all maps, one behind the other
    bool made = false;           // guarded by mutex_
  };

  explicit EncodeMaps(Workers& workers) : workers_(workers) {}
  Status add_map(Map map, const MapsRequest& request, std::optional<int> encode);
  void write(const Map& map, int64_t picture, std::span<const double> values) const;
  void start(Frame& frame);
  void make(Frame& frame, int worker) noexcept;
  void make_all(Frame& frame, std::vector<double>& deviations) const;
  bool is_made(const Frame& frame);
  void rest_made();
  Status failure();

  Workers& workers_;
  std::vector<Map> maps_;
  size_t values_ = 0, inputs_ = 0, models_ = 0;  // of all maps of a frame
  bool keeps_ = false;
  std::vector<std::vector<double>> deviations_;  // of each worker
  std::deque<std::unique_ptr<Frame>> frames_;    // that were not received, or are not made
  std::vector<std::unique_ptr<Frame>> resting_;  // to be used again
  std::unique_ptr<Frame> received_;
  std::vector<VmafxMap> lent_;  // by the last receive()

  Mutex mutex_;
  Condition changed_;
  int unmade_ VMAFX_GUARDED_BY(mutex_) = 0;  // frames that the workers have
  Status failure_ VMAFX_GUARDED_BY(mutex_);
};

}  // namespace vmafx

#endif
