/* From raw sums to scores, in frame order: extractors finalize, models predict as soon as a frame's features are known. */
#ifndef VMAFX_ENGINE_SCORER_H
#define VMAFX_ENGINE_SCORER_H

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/pipeline.h"
#include "engine/plan.h"
#include "engine/range/progress.h"
#include "report/scores.h"

namespace vmafx {

class Scorer {
 public:
  /* `plan`, `table` and `progress` must outlive the scorer; `encode`: which one's sums they are; `subsample`: frames in the range whose number
   * it divides are scored. */
  Scorer(Plan& plan, int encode, ScoreTable& table, const RangeProgress& progress, int subsample)
      : plan_(plan), encode_(encode), table_(table),
        unseen_(std::vector<std::string>(static_cast<size_t>(plan.unseen_columns()))), progress_(progress),
        subsample_(subsample) {}

  /* Takes the next frame in order, then completes all frames whose scores are known. */
  Status add(const FinishedFrame& finished);

  /* No more frames come. Afterwards every frame is complete. */
  Status flush();

  bool is_scored(int64_t frame) const { return frame % subsample_ == 0 && progress_.contains(frame); }
  int64_t complete() const {
    return progress_.first_taken() + complete_;
  }  // frames before this one have all their scores

 private:
  bool features_known(int64_t frame) const;
  Status predict(int64_t frame);
  Status complete_frames();

  Plan& plan_;
  const int encode_;
  ScoreTable& table_;
  ScoreTable unseen_;  // what models alone see, until they have scored it
  const RangeProgress& progress_;
  int subsample_;
  int64_t added_ = 0;  // these two count from the first frame that was taken
  int64_t complete_ = 0;
  std::vector<double> inputs_, outputs_;  // of one prediction
};

}  // namespace vmafx

#endif
