#include "report/scores.h"

#include <algorithm>
#include <cmath>

namespace vmafx {
namespace {

constexpr int kWordBits = 64;

}  // namespace

void ScoreSums::add(double score) {
  if (!std::isfinite(score)) {
    not_numbers += std::isnan(score);
    if (!not_finite++) infinity = score;
    else if (infinity != score) infinity = kNan;
    return;
  }
  count++;
  sum += score;
  inverses += 1. / (score + 1.);
  least = std::min(least, score);
  most = std::max(most, score);
}

ScoreTable::ScoreTable(std::vector<std::string> keys)
    : keys_(std::move(keys)), means_(keys_.size()), forgotten_(keys_.size()) {}

/* The place of a score in its chunk. */
size_t ScoreTable::offset(int64_t frame, int column) const {
  return static_cast<size_t>(frame % kChunkFrames) * keys_.size() + static_cast<size_t>(column);
}

/* The first chunk that has this number or a higher one. Without gaps before it no search is needed. */
size_t ScoreTable::place_of(int64_t number) const {
  const int64_t first = chunks_.empty() ? 0 : chunks_.front()->number, guess = number - first;
  if (guess <= 0) return 0;
  if (guess < std::ssize(chunks_) && chunks_[static_cast<size_t>(guess)]->number == number)
    return static_cast<size_t>(guess);
  return static_cast<size_t>(std::ranges::lower_bound(chunks_, number, {}, &Chunk::number_of) - chunks_.begin());
}

ScoreTable::Chunk& ScoreTable::chunk_of(int64_t frame) {
  const int64_t number = frame / kChunkFrames;
  const size_t place = place_of(number);
  if (place == chunks_.size() || chunks_[place]->number != number) {
    const size_t size = kChunkFrames * keys_.size();
    chunks_.insert(
        chunks_.begin() + static_cast<ptrdiff_t>(place),
        std::make_unique<Chunk>(
            Chunk{number, std::vector<double>(size), std::vector<uint64_t>((size + kWordBits - 1) / kWordBits), {}}));
  }
  return *chunks_[place];
}

const ScoreTable::Chunk* ScoreTable::find_chunk(int64_t frame) const {
  const int64_t number = frame / kChunkFrames;
  const size_t place = frame < 0 ? chunks_.size() : place_of(number);
  return place < chunks_.size() && chunks_[place]->number == number ? chunks_[place].get() : nullptr;
}

void ScoreTable::put(int64_t frame, int column, double score) {
  Chunk& chunk = chunk_of(frame);
  const size_t at = offset(frame, column);
  chunk.scores[at] = score;
  chunk.present[at / kWordBits] |= uint64_t{1} << at % kWordBits;
  frames_ = std::max(frames_, frame + 1);
}

std::optional<double> ScoreTable::get(int64_t frame, int column) const {
  const Chunk* chunk = find_chunk(frame);
  if (!chunk || column < 0 || column >= columns()) return std::nullopt;
  const size_t at = offset(frame, column);
  if (!(chunk->present[at / kWordBits] >> at % kWordBits & 1)) return std::nullopt;
  return chunk->scores[at];
}

void ScoreTable::set_time(int64_t frame, double seconds) {
  std::vector<double>& times = chunk_of(frame).times;
  if (times.empty()) times.resize(kChunkFrames, kNan);
  times[static_cast<size_t>(frame % kChunkFrames)] = seconds;
  has_times_ = true;
}

std::optional<double> ScoreTable::time(int64_t frame) const {
  const Chunk* chunk = find_chunk(frame);
  if (!chunk || chunk->times.empty()) return std::nullopt;
  const double seconds = chunk->times[static_cast<size_t>(frame % kChunkFrames)];
  return std::isnan(seconds) ? std::nullopt : std::optional(seconds);
}

int64_t ScoreTable::next_kept(int64_t frame, int n_subsample) const {
  const size_t place = place_of(frame / kChunkFrames);
  frame = std::max(frame, place < chunks_.size() ? chunks_[place]->number * kChunkFrames : frames_);
  return (frame + n_subsample - 1) / n_subsample * n_subsample;
}

void ScoreTable::forget_before(int64_t frame, int n_subsample) {
  for (; kept_from_ + kChunkFrames <= frame; kept_from_ += kChunkFrames) {
    if (!find_chunk(kept_from_)) continue;
    for (int64_t old = next_kept(kept_from_, n_subsample); old < kept_from_ + kChunkFrames; old += n_subsample)
      for (int column = 0; column < columns(); column++)
        if (const auto score = get(old, column)) forgotten_[static_cast<size_t>(column)].add(*score);
    chunks_.erase(chunks_.begin() + static_cast<ptrdiff_t>(place_of(kept_from_ / kChunkFrames)));
  }
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
