#include "kernels/device_conversions.h"

#include <algorithm>

namespace vmafx {

/* Counts one picture of the reference more than of each encode: a batch may go on with the last reference of the one
 * before. */
size_t DeviceConversions::places(int earlier, int batch, int encodes) {
  return static_cast<size_t>(earlier) * static_cast<size_t>(1 + encodes) + 1 + 2 * static_cast<size_t>(batch);
}

DeviceConversions::DeviceConversions(int earlier, int batch, int encodes)
    : earlier_(static_cast<size_t>(earlier)), dists_(static_cast<size_t>(encodes)) {
  for (size_t place = places(earlier, batch, encodes); place > 0; place--)
    free_.push_back(static_cast<uint16_t>(place - 1));
}

void DeviceConversions::forget(Places& places, size_t kept) {
  while (places.size() > kept) {
    free_.push_back(places.front());
    places.erase(places.begin());
  }
}

uint16_t DeviceConversions::take(Places& of) {
  of.push_back(free_.back());
  free_.pop_back();
  return of.back();
}

Status DeviceConversions::convert(const DeviceTwin& twin, const DeviceBatch& batch, std::span<const Frame> frames) {
  forget(refs_, earlier_ + 1);
  for (Places& dists : dists_) forget(dists, earlier_);
  batch_.clear();
  PictureToConvert pictures[2 * hip::kMostBatch];
  size_t count = 0;
  for (size_t i = 0; i < frames.size(); i++) {
    Places& dists = dists_[static_cast<size_t>(frames[i].encode)];
    const int index = static_cast<int>(i);
    if (frames[i].new_ref || refs_.empty()) {
      PictureToConvert& ref = pictures[count++];
      for (int p = 0; p < 3; p++) ref.plane[p] = batch.planes[p].ref[hip::ref_index(index)];
      ref.place = take(refs_);
    }
    PictureToConvert& dist = pictures[count++];
    for (int p = 0; p < 3; p++) dist.plane[p] = batch.planes[p].dist[index];
    dist.place = take(dists);
    batch_.push_back({frames[i].encode, refs_.size(), dists.size()});
  }
  return twin.convert(batch, {pictures, count});
}

/* Before a stream's first frames there are fewer pictures. If an encode lacks a picture that the reference has, the CPU
 * scores its next frames; the places given for them are valid, but their contents have no meaning. */
ConvertedPlaces DeviceConversions::seen_by(std::span<const int> frames) const {
  const auto taken = [&](int frame) -> const Taken& { return batch_[static_cast<size_t>(frame)]; };
  const Taken& first = taken(frames.front());
  const Places& dists = dists_[static_cast<size_t>(first.encode)];
  const size_t before = std::min({earlier_, first.refs - 1, first.dists - 1});
  ConvertedPlaces seen;
  seen.earlier = static_cast<int32_t>(before);
  std::copy_n(refs_.begin() + static_cast<ptrdiff_t>(first.refs - 1 - before), before, seen.ref);
  std::copy_n(dists.begin() + static_cast<ptrdiff_t>(first.dists - 1 - before), before, seen.dist);
  for (size_t i = 0; i < frames.size(); i++) {
    seen.ref[before + i] = refs_[taken(frames[i]).refs - 1];
    seen.dist[before + i] = dists[taken(frames[i]).dists - 1];
  }
  return seen;
}

}  // namespace vmafx
