#include "report/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vmafx {
namespace {

constexpr int kWordBits = 64;

}  // namespace

ScoreTable::ScoreTable(std::vector<std::string> keys) : keys_(std::move(keys)), means_(keys_.size()) {}

/* Where a score lies within its chunk. */
size_t ScoreTable::offset(int64_t frame, int column) const {
  return static_cast<size_t>(frame % kChunkFrames) * keys_.size() + static_cast<size_t>(column);
}

void ScoreTable::put(int64_t frame, int column, double score) {
  const size_t index = static_cast<size_t>(frame / kChunkFrames);
  if (index >= chunks_.size()) chunks_.resize(index + 1);
  std::unique_ptr<Chunk>& chunk = chunks_[index];
  if (!chunk) {
    const size_t size = kChunkFrames * keys_.size();
    chunk = std::make_unique<Chunk>(
        Chunk{std::vector<double>(size), std::vector<uint64_t>((size + kWordBits - 1) / kWordBits)});
  }
  const size_t at = offset(frame, column);
  chunk->scores[at] = score;
  chunk->present[at / kWordBits] |= uint64_t{1} << at % kWordBits;
  frames_ = std::max(frames_, frame + 1);
}

std::optional<double> ScoreTable::get(int64_t frame, int column) const {
  if (frame < 0 || frame >= frames_ || column < 0 || column >= columns()) return std::nullopt;
  const Chunk* chunk = chunks_[static_cast<size_t>(frame / kChunkFrames)].get();
  const size_t at = offset(frame, column);
  if (!chunk || !(chunk->present[at / kWordBits] >> at % kWordBits & 1)) return std::nullopt;
  return chunk->scores[at];
}

void ScoreTable::set_time(int64_t frame, double seconds) {
  const size_t index = static_cast<size_t>(frame);
  if (index >= times_.size()) times_.resize(index + 1, std::numeric_limits<double>::quiet_NaN());
  times_[index] = seconds;
}

std::optional<double> ScoreTable::time(int64_t frame) const {
  const size_t index = static_cast<size_t>(frame);
  if (index >= times_.size() || std::isnan(times_[index])) return std::nullopt;
  return times_[index];
}

bool ScoreTable::has_scores(int64_t frame) const {
  for (int column = 0; column < columns(); column++)
    if (get(frame, column)) return true;
  return false;
}

void ScoreTable::set_aggregate(const std::string& key, double value) {
  const auto found = std::ranges::find(aggregates_, key, &std::pair<std::string, double>::first);
  if (found != aggregates_.end()) found->second = value;
  else aggregates_.emplace_back(key, value);
}

}  // namespace vmafx
