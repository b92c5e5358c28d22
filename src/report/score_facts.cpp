#include "report/score_facts.h"

namespace vmafx {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

const char* word_of(Worse worse) {
  switch (worse) {
    case Worse::kLow: return "low";
    case Worse::kHigh: return "high";
    case Worse::kNeither: break;
  }
  return "neither";
}

Json scores_json(std::span<const ScoreFacts> scores) {
  Json json = Json::object();
  for (const ScoreFacts& score : scores)
    json.add(score.key, Json::object({{"metric", text_or_null(score.metric)},
                                      {"worse", word_of(score.worse)},
                                      {"main", score.main},
                                      {"unit", text_or_null(score.unit)}}));
  return json;
}

}  // namespace vmafx
