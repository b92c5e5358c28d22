#include "engine/frames/in_flight.h"

#include <algorithm>

namespace vmafx {
namespace {

Picture planes_of(const Held& held, bool whole_chroma) {
  const HostPicture* host = held ? held->in_host() : nullptr;
  if (!host) return {};
  return whole_chroma ? host->planes : host->cropped;
}

}  // namespace

void InFlight::show(size_t index) {
  const Part& part = parts[index];
  for (const bool whole_chroma : {false, true}) {
    FrameSet& shown = frames[whole_chroma][index];
    shown = {};
    shown.index = part.index;
    shown.number = part.number;
    shown.place = part.place;
    shown.ref = planes_of(ref, whole_chroma);
    shown.dist = planes_of(part.dist[0], whole_chroma);
    for (int back = 0; back < kMostHistory; back++) {
      shown.earlier_ref[back] = planes_of(part.earlier_ref[back], whole_chroma);
      shown.earlier_dist[back] = planes_of(part.dist[1 + back], whole_chroma);
    }
  }
}

Status InFlight::bring_to_host(size_t index) {
  const Part& part = parts[index];
  bool comes = false;
  const auto bring = [&](const Held& held) -> Status {
    if (!held || !held->comes_to_host()) return {};
    comes = true;
    return held->bring_to_host();
  };
  VMAFX_TRY(bring(ref));
  for (const Held& held : part.dist) VMAFX_TRY(bring(held));
  for (const Held& held : part.earlier_ref) VMAFX_TRY(bring(held));
  for (const ConvertedHistory& converted : part.converted) {
    VMAFX_TRY(converted.ref.bring_to_host());
    VMAFX_TRY(converted.dist.bring_to_host());
  }
  if (comes) show(index);
  return {};
}

HeldPair InFlight::earlier(size_t index, size_t back) const {
  const Part& part = parts[index];
  for (const ConvertedHistory& converted : part.converted) {
    const SharedConversion ref_then = converted.ref.at(back + 1), dist_then = converted.dist.at(back + 1);
    if (!ref_then || !dist_then) continue;
    HeldPair pair{ref_then->picture(), dist_then->picture()};
    if (pair.ref) return pair;
  }
  if (back >= kMostHistory) return {};
  return {part.earlier_ref[back], part.dist[1 + back]};
}

void InFlight::let_go() {
  ref = nullptr;
  for (Part& part : parts) {
    std::ranges::fill(part.dist, nullptr);
    std::ranges::fill(part.earlier_ref, nullptr);
    for (ConvertedHistory& converted : part.converted) {
      converted.ref.clear();
      converted.dist.clear();
    }
  }
}

}  // namespace vmafx
