#include "report/picture_doubts.h"

#include <algorithm>

#include "base/status.h"

namespace vmafx {
namespace {

/* " in pair 3" or " in pairs 3 to 7" */
std::string place_of(const PictureDoubt& doubt) {
  const auto from = static_cast<long long>(doubt.from), last = static_cast<long long>(doubt.end - 1);
  return last > from ? format_text(" in pairs %lld to %lld", from, last) : format_text(" in pair %lld", from);
}

std::string ending_of(const PictureDoubt& doubt) {
  std::string text;
  for (const std::string& remedy : doubt.remedies) text += (text.empty() ? ". What helps: " : "; ") + remedy;
  return text + ".";
}

}  // namespace

std::vector<std::string> doubt_sentences(std::span<const PictureDoubt> doubts) {
  std::vector<std::string> sentences;
  for (auto doubt = doubts.begin(); doubt != doubts.end(); doubt++) {
    const auto is_alike = [&](const PictureDoubt& other) { return other.kind == doubt->kind; };
    if (std::any_of(doubts.begin(), doubt, is_alike)) continue;
    const auto others = std::count_if(doubt + 1, doubts.end(), is_alike);
    std::string sentence =
        "The score is doubtful, the pictures show: " + doubt->text + place_of(*doubt) + " (" + doubt->certainty + ")";
    if (others) sentence += format_text("; such places besides: %d", static_cast<int>(others));
    sentences.push_back(sentence + ending_of(*doubt));
  }
  return sentences;
}

std::string early_sentence(const PictureDoubt& doubt) {
  return "The pictures show so far: " + doubt.text + place_of(doubt) + " (" + doubt.certainty + ")" + ending_of(doubt);
}

std::vector<const char*> sure_kinds(std::span<const PictureDoubt> doubts, int64_t pair) {
  std::vector<const char*> kinds;
  for (const PictureDoubt& doubt : doubts) {
    const bool is_of_pair = doubt.certainty == "sure" && pair >= doubt.from && pair < doubt.end;
    if (is_of_pair && (kinds.empty() || kinds.back() != doubt.kind)) kinds.push_back(doubt.kind.c_str());
  }
  return kinds;
}

Json doubt_json(const PictureDoubt& doubt) {
  Json remedies = Json::array(), evidence = Json::object();
  for (const std::string& remedy : doubt.remedies) remedies.add(remedy);
  for (const auto& [name, value] : doubt.evidence) evidence.add(name, value);
  return Json::object({{"kind", doubt.kind},
                       {"certainty", doubt.certainty},
                       {"from", doubt.from},
                       {"to", doubt.end - 1},
                       {"text", doubt.text},
                       {"remedies", std::move(remedies)},
                       {"evidence", std::move(evidence)}});
}

}  // namespace vmafx
