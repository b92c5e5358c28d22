#include "engine/scorer.h"

#include <cerrno>

namespace vmafx {
namespace {

/* Puts one extractor's scores into its columns of the table, those of context nowhere. Extractors count from the first frame that was taken. */
class ColumnSink : public ScoreSink {
 public:
  ColumnSink(const PlannedExtractor& planned, ScoreTable& table, const RangeProgress& progress)
      : columns_(planned.columns), table_(table), progress_(progress) {}

  void put(int64_t taken, int feature, double score) override {
    const int64_t frame = progress_.first_taken() + taken;
    if (columns_[feature] >= 0 && progress_.contains(frame)) table_.put(frame, columns_[feature], score);
  }
  void put_aggregate(const char* key, double value) override { table_.set_aggregate(key, value); }

 private:
  const std::vector<int>& columns_;
  ScoreTable& table_;
  const RangeProgress& progress_;
};

}  // namespace

Status Scorer::add(const FinishedFrame& finished) {
  auto& extractors = plan_.extractors();
  for (size_t i = 0; i < extractors.size(); i++) {
    if (!finished.sums[i]) continue;
    ColumnSink sink(extractors[i], table_, progress_);
    extractors[i].of_encode(encode_).finalize(finished.index, finished.sums[i], sink);
  }
  added_ = finished.index + 1;
  return complete_frames();
}

Status Scorer::flush() {
  for (PlannedExtractor& planned : plan_.extractors()) {
    ColumnSink sink(planned, table_, progress_);
    VMAFX_TRY(planned.of_encode(encode_).flush(sink));
  }
  VMAFX_TRY(complete_frames());
  if (complete_ < added_)
    return error(EPROTO, "frame %lld is missing a score after the end of the stream",
                 static_cast<long long>(complete()));
  return {};
}

Status Scorer::complete_frames() {
  for (; complete_ < added_; complete_++) {
    if (!is_scored(complete())) continue;
    if (!features_known(complete())) break;
    VMAFX_TRY(predict(complete()));
  }
  return {};
}

bool Scorer::features_known(int64_t frame) const {
  for (const PlannedExtractor& planned : plan_.extractors())
    for (const int column : planned.columns)
      if (column >= 0 && !table_.get(frame, column)) return false;
  return true;
}

Status Scorer::predict(int64_t frame) {
  for (const PlannedModel& planned : plan_.models()) {
    inputs_.clear();
    for (const PlannedModel::Input& input : planned.inputs) inputs_.push_back(*table_.get(frame, input.column));
    outputs_.resize(planned.model.score_keys().size());
    VMAFX_TRY(planned.model.predict(inputs_, outputs_));
    for (size_t i = 0; i < outputs_.size(); i++)
      table_.put(frame, planned.first_column + static_cast<int>(i), outputs_[i]);
  }
  return {};
}

}  // namespace vmafx
