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
  if (!range.keyframes.empty()) json.add("keyframes", std::move(keyframes));
  return json;
}

}  // namespace vmafx
