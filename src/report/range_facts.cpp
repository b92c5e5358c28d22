#include "report/range_facts.h"

#include <utility>

#include "base/hash.h"

namespace vmafx {
namespace {

Json time_json(const std::optional<double>& time) { return time ? Json(*time) : Json(); }

Json pair_json(const BorderPair& pair) {
  return Json::object({{"frame", pair.number},
                       {"time", time_json(pair.time)},
                       {"reference", Hash::text(pair.ref)},
                       {"distorted", Hash::text(pair.dist)}});
}

/* Sums are texts, as not all programs read integers of 64 bits. */
Json plane_json(const ValueSums& sums, const StreamSums& plane) {
  return Json::object({{"metric", sums.metric},
                       {"plane", plane.plane},
                       {"frames", std::to_string(plane.frames)},
                       {"samples", std::to_string(plane.samples)},
                       {"peak", std::to_string(plane.peak)},
                       {"whole", std::to_string(plane.whole)},
                       {"fraction", std::to_string(plane.fraction)}});
}

Json sums_json(const std::vector<ValueSums>& all) {
  Json values = Json::object();
  for (const ValueSums& sums : all) {
    Json planes = Json::array();
    for (const StreamSums& plane : sums.planes) planes.add(plane_json(sums, plane));
    values.add(sums.key, std::move(planes));
  }
  return values;
}

}  // namespace

Json range_json(const RangeFacts& range) {
  Json pairs = Json::array(), keyframes = Json::array();
  for (const BorderPair& pair : range.pairs) pairs.add(pair_json(pair));
  for (const int64_t frame : range.keyframes) keyframes.add(frame);
  Json json = Json::object({{"given", range.given},
                            {"unit", range.by_time ? "seconds" : "frames"},
                            {"from", *Json::parse(range.from)},
                            {"to", *Json::parse(range.to)},
                            {"begins_stream", range.begins_stream},
                            {"ends_stream", range.ends_stream},
                            {"first", range.first},
                            {"frames", range.frames},
                            {"counted_from", time_json(range.counted_from)},
                            {"context", Json::object({{"before", range.before}, {"after", range.after}})},
                            {"pictures", std::move(pairs)},
                            {"format", range.format},
                            {"options", range.options}});
  if (!range.sums.empty()) json.add("sums", sums_json(range.sums));
  if (!range.keyframes.empty()) json.add("keyframes", std::move(keyframes));
  if (!range.look.is_null()) json.add("look", range.look);
  return json;
}

}  // namespace vmafx
