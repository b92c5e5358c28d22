/* Scorer: turns the raw sums of an encode into scores, in frame order. The extractors' scorers finalize; models predict
 * as soon as a frame's features are known. */
#ifndef VMAFX_ENGINE_SCORER_H
#define VMAFX_ENGINE_SCORER_H

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engine/frames/pipeline.h"
#include "engine/plan.h"
#include "engine/range/progress.h"
#include "report/range_facts.h"
#include "report/scores.h"

namespace vmafx {

class Scorer {
 public:
  /* `plan`, `table` and `progress` must outlive the scorer. `subsample`: frames in the range whose number it divides
   * are scored. */
  Scorer(const Plan& plan, ScoreTable& table, const RangeProgress& progress, int subsample);

  /* Called for each prediction with the model's place in the plan, and its features. */
  using Prediction = std::function<void(int64_t frame, size_t model, std::span<const double> features)>;
  void tell_predictions(Prediction tell) { tell_ = std::move(tell); }

  /* Takes the next frame in order, then completes all frames whose scores are known. */
  Status add(const FinishedFrame& finished);

  /* No more frames come. Afterwards every frame is complete. */
  Status flush();

  bool is_scored(int64_t frame) const { return frame % subsample_ == 0 && progress_.contains(frame); }

  /* The sums of the values of the stream, after flush(). */
  const std::vector<ValueSums>& sums() const { return sums_; }

  /* Frames before this one have all their scores. */
  int64_t complete() const { return progress_.first_taken() + complete_; }

 private:
  bool features_known(int64_t frame) const;
  Status predict(int64_t frame);
  Status complete_frames();

  const Plan& plan_;
  const std::vector<std::unique_ptr<StreamScorer>> scorers_;  // one for each extractor
  ScoreTable& table_;
  ScoreTable unseen_;  // scores that models alone see, until they have predicted
  const RangeProgress& progress_;
  std::vector<ValueSums> sums_;
  int subsample_;
  int64_t added_ = 0;  // these two count from the first frame that was taken
  int64_t complete_ = 0;
  std::vector<double> inputs_, outputs_;  // of one prediction
  Prediction tell_;                       // or empty
};

}  // namespace vmafx

#endif
