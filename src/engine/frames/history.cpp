#include "engine/frames/history.h"

#include <algorithm>
#include <utility>

namespace vmafx {

void History::start(std::span<const Extractor* const> extractors, size_t encodes) {
  for (size_t i = 0; i < extractors.size(); i++) {
    const Reads reads = extractors[i]->reads();
    if (reads.ref) length_[0] = std::max(length_[0], reads.history);
    if (reads.dist) length_[1] = std::max(length_[1], reads.history);
    if (extractors[i]->converted_bytes())
      converting_.push_back({.extractor = i,
                             .converter = extractors[i],
                             .memory = std::make_unique<Reuse<AlignedBytes>>(),
                             .dists = std::vector<SharedConversion>(encodes)});
  }
  length_[0] = std::max(length_[0], length_[1]);  // they tell whether two encodes have the same history
  earlier_ = std::vector<Earlier>(encodes);
  for (Earlier& earlier : earlier_) earlier.converted = empty();
  for (const ConvertedHistory& none : empty()) last_conversions_.push_back(none.ref);
}

std::vector<ConvertedHistory> History::empty() const {
  std::vector<ConvertedHistory> histories;
  for (const Converting& converting : converting_) {
    const ConvertedPictures none(static_cast<size_t>(converting.converter->reads().converted) + 1);
    histories.push_back({none, none});
  }
  return histories;
}

std::optional<size_t> History::converting(size_t extractor) const {
  for (size_t i = 0; i < converting_.size(); i++)
    if (converting_[i].extractor == extractor) return i;
  return std::nullopt;
}

void History::start_conversions(const Held& ref, std::span<const EncodeFrame> encodes) {
  for (Converting& converting : converting_) {
    const auto start = [&](const Held& picture) {
      return std::make_shared<Conversion>(*converting.converter, picture, *converting.memory, expects_device_queue_);
    };
    converting.ref = start(ref);
    for (const EncodeFrame& encode : encodes) converting.dists[static_cast<size_t>(encode.encode)] = start(encode.dist);
  }
}

void History::hold(InFlight& in_flight, Held ref, std::span<EncodeFrame> encodes) {
  in_flight.ref = std::move(ref);
  in_flight.count = in_flight.scored = 0;
  for (const bool scored : {true, false}) {
    for (EncodeFrame& encode : encodes)
      if (encode.scored == scored) hold_part(in_flight, in_flight.parts[in_flight.count++], encode);
    if (scored) in_flight.scored = in_flight.count;
  }
  compare(in_flight);
  for (size_t i = 0; i < in_flight.count; i++) in_flight.show(i);
}

void History::hold_part(InFlight& in_flight, InFlight::Part& part, EncodeFrame& encode) {
  Earlier& earlier = earlier_[static_cast<size_t>(encode.encode)];
  part.encode = encode.encode;
  part.index = encode.index;
  part.number = encode.number;
  part.place = encode.place;
  part.scored = encode.scored;
  part.dist[0] = std::move(encode.dist);
  std::copy_n(earlier.ref, length_[0], part.earlier_ref);
  std::copy_n(earlier.dist, length_[1], part.dist + 1);
  if (length_[0]) {
    std::move_backward(earlier.ref, earlier.ref + length_[0] - 1, earlier.ref + length_[0]);
    earlier.ref[0] = in_flight.ref;
  }
  std::copy_n(part.dist, length_[1], earlier.dist);
  hold_conversions(part);
}

void History::hold_conversions(InFlight::Part& part) {
  for (size_t i = 0; i < converting_.size(); i++) {
    ConvertedHistory& history = earlier_[static_cast<size_t>(part.encode)].converted[i];
    history.ref.add(converting_[i].ref);
    history.dist.add(std::move(converting_[i].dists[static_cast<size_t>(part.encode)]));
    part.converted[i].ref = history.ref;
    part.converted[i].dist = history.dist;
  }
}

/* Finds out whether the frame's encodes have the same earlier pictures of the reference, and whether these are those of
 * the frames before it. */
void History::compare(InFlight& in_flight) {
  const auto same = [&](const Held* a, const Held* b) { return std::equal(a, a + length_[0], b); };
  in_flight.one_history = in_flight.goes_on = in_flight.one_conversion = in_flight.conversions_go_on = true;
  for (size_t k = 0; k < converting_.size(); k++) last_conversions_[k].add(converting_[k].ref);
  for (size_t i = 0; i < in_flight.count; i++) {
    const InFlight::Part &part = in_flight.parts[i], &first = in_flight.parts[0];
    in_flight.one_history &= same(part.earlier_ref, first.earlier_ref);
    in_flight.goes_on &= same(part.earlier_ref, last_refs_);
    for (size_t k = 0; k < converting_.size(); k++) {
      in_flight.one_conversion &= part.converted[k].ref == first.converted[k].ref;
      in_flight.conversions_go_on &= part.converted[k].ref == last_conversions_[k];
    }
  }
  if (!length_[0]) return;
  std::move_backward(last_refs_, last_refs_ + length_[0] - 1, last_refs_ + length_[0]);
  last_refs_[0] = in_flight.ref;
}

HeldPair History::before(size_t encode, size_t back) const {
  const Earlier& earlier = earlier_[encode];
  for (size_t i = 0; i < converting_.size(); i++) {
    const SharedConversion ref = earlier.converted[i].ref.at(back), dist = earlier.converted[i].dist.at(back);
    if (!ref || ref != last_conversions_[i].at(back)) continue;
    HeldPair pair{ref->picture(), dist->picture()};
    if (pair.ref) return pair;
  }
  if (back >= static_cast<size_t>(length_[0]) || earlier.ref[back] != last_refs_[back]) return {};
  return {earlier.ref[back], earlier.dist[back]};
}

int History::pairs_needed(std::span<const Extractor* const> extractors) const {
  int most = length_[0];
  for (const Converting& converting : converting_)
    if (const Extractor& extractor = *extractors[converting.extractor]; extractor.device_twin())
      most = std::max(most, extractor.reads().converted);
  return most;
}

}  // namespace vmafx
