/* Doubts about scores that the pictures themselves raise, in words, as engine/look renders them. They become lines of
 * the log, and stand in reports among the doubts that the pairs raise (pairing.h). */
#ifndef VMAFX_REPORT_PICTURE_DOUBTS_H
#define VMAFX_REPORT_PICTURE_DOUBTS_H

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace vmafx {

struct PictureDoubt {
  std::string kind;           // "mirrored"
  std::string certainty;      // "possible", "likely", "sure"
  int64_t from = 0, end = 0;  // the pairs that are concerned: from .. end-1
  std::vector<std::pair<std::string, double>> evidence{};
  std::string text{};  // what is seen, without a period
  std::vector<std::string> remedies{};
};

/* A sentence for each kind, with what helps: the first doubt of the kind, and the number of others. */
std::vector<std::string> doubt_sentences(std::span<const PictureDoubt> doubts);

/* A sentence for a doubt that is sure before the stream ends. */
std::string early_sentence(const PictureDoubt& doubt);

/* The kinds of doubts that are sure of a pair, each once. */
std::vector<const char*> sure_kinds(std::span<const PictureDoubt> doubts, int64_t pair);

/* {"kind": "mirrored", "certainty": "sure", "from": 0, "to": 299, "text": "…", "remedies": […], "evidence": {…}} */
Json doubt_json(const PictureDoubt& doubt);

}  // namespace vmafx

#endif
