/* ScoreFacts: the facts of a score that do not depend on pictures, as reports have them under `vmafx.scores`. */
#ifndef VMAFX_REPORT_SCORE_FACTS_H
#define VMAFX_REPORT_SCORE_FACTS_H

#include <span>
#include <string>

#include "base/json.h"
#include "kernels/extractor.h"

namespace vmafx {

struct ScoreFacts {
  std::string key;
  std::string metric{};  // "psnr"; "" for a score of a model
  Worse worse = Worse::kLow;
  bool main = false;   // it was asked for: a model's score, or the one that stands for a metric
  std::string unit{};  // "dB"; "" for none
};

/* "low", "high" or "neither". */
const char* word_of(Worse worse);

/* {"psnr_y": {"metric": "psnr", "worse": "low", "main": true, "unit": "dB"}, …}; null: no metric, no unit. */
Json scores_json(std::span<const ScoreFacts> scores);

}  // namespace vmafx

#endif
