#include "engine/scorer.h"

#include <algorithm>
#include <cerrno>

namespace vmafx {
namespace {

/* Puts one extractor's scores into its columns of the tables, and drops scores of context. Extractors count from the
 * first frame that was taken. */
class ColumnSink : public ScoreSink {
 public:
  ColumnSink(const PlannedExtractor& planned, ScoreTable& table, ScoreTable& unseen, const RangeProgress& progress,
             std::vector<ValueSums>& sums)
      : planned_(planned), table_(table), unseen_(unseen), progress_(progress), sums_(sums) {}

  void put(int64_t taken, int feature, double score) override {
    if (!counts(taken)) return;
    const int64_t frame = progress_.first_taken() + taken;
    if (planned_.columns[feature] >= 0) table_.put(frame, planned_.columns[feature], score);
    if (planned_.unseen[feature] >= 0) unseen_.put(frame, planned_.unseen[feature], score);
  }
  bool counts(int64_t taken) const override { return progress_.contains(progress_.first_taken() + taken); }
  void put_aggregate(const char* aggregate, std::span<const StreamSums> planes) override {
    const std::string key = planned_.key_of(aggregate);
    if (std::ranges::find(planned_.aggregates, key) == planned_.aggregates.end()) return;
    table_.set_aggregate(key, least_value(planned_.info->stream_value, planes));
    sums_.push_back({key, planned_.info->name, {planes.begin(), planes.end()}});
  }

 private:
  const PlannedExtractor& planned_;
  ScoreTable& table_;
  ScoreTable& unseen_;
  const RangeProgress& progress_;
  std::vector<ValueSums>& sums_;
};

std::vector<std::unique_ptr<StreamScorer>> make_scorers(const Plan& plan) {
  std::vector<std::unique_ptr<StreamScorer>> scorers;
  for (const PlannedExtractor& planned : plan.extractors()) scorers.push_back(planned.extractor->make_scorer());
  return scorers;
}

}  // namespace

Scorer::Scorer(const Plan& plan, ScoreTable& table, const RangeProgress& progress, int subsample)
    : plan_(plan), scorers_(make_scorers(plan)), table_(table),
      unseen_(std::vector<std::string>(static_cast<size_t>(plan.unseen_columns()))), progress_(progress),
      subsample_(subsample) {}

Status Scorer::add(const FinishedFrame& finished) {
  const auto& extractors = plan_.extractors();
  for (size_t i = 0; i < extractors.size(); i++) {
    const std::byte* const sums = finished.sums[extractors[i].extraction];
    if (!sums) continue;
    ColumnSink sink(extractors[i], table_, unseen_, progress_, sums_);
    scorers_[i]->finalize(finished.index, sums + extractors[i].sums_offset, sink);
  }
  added_ = finished.index + 1;
  return complete_frames();
}

Status Scorer::flush() {
  for (size_t i = 0; i < scorers_.size(); i++) {
    ColumnSink sink(plan_.extractors()[i], table_, unseen_, progress_, sums_);
    VMAFX_TRY(scorers_[i]->flush(sink));
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
  unseen_.forget_before(complete(), subsample_);
  return {};
}

bool Scorer::features_known(int64_t frame) const {
  const auto known = [frame](const ScoreTable& table, const std::vector<int>& columns) {
    return std::ranges::all_of(columns, [&](int column) { return column < 0 || table.get(frame, column); });
  };
  return std::ranges::all_of(plan_.extractors(), [&](const PlannedExtractor& planned) {
    return known(table_, planned.columns) && known(unseen_, planned.unseen);
  });
}

Status Scorer::predict(int64_t frame) {
  for (const PlannedModel& planned : plan_.models()) {
    inputs_.clear();
    for (const PlannedModel::Input& input : planned.inputs)
      inputs_.push_back(*(input.unseen ? unseen_ : table_).get(frame, input.column));
    outputs_.resize(planned.model.score_keys().size());
    VMAFX_TRY(planned.model.predict(inputs_, outputs_));
    if (tell_) tell_(frame, static_cast<size_t>(&planned - plan_.models().data()), inputs_);
    for (size_t i = 0; i < outputs_.size(); i++)
      table_.put(frame, planned.first_column + static_cast<int>(i), outputs_[i]);
  }
  return {};
}

}  // namespace vmafx
