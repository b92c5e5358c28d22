#include "report/pairing.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>

namespace vmafx {
namespace {

using Count = int64_t VmafxPairing::*;

/* How a kind of doubt is called, in reports and in words. */
struct DoubtName {
  VmafxDoubtKind kind;
  Count count;  // null: it is not counted
  const char* name;
  const char* words;
};

constexpr DoubtName kNames[] = {
    {VMAFX_DOUBT_UNMATCHED_DISTORTED, &VmafxPairing::unmatched_distorted, "unmatched_distorted",
     "frames of main without a reference frame"},
    {VMAFX_DOUBT_UNMATCHED_REFERENCE, &VmafxPairing::unmatched_reference, "unmatched_reference",
     "reference frames not used"},
    {VMAFX_DOUBT_REPEATED_REFERENCE, &VmafxPairing::repeated_reference, "repeated_reference",
     "pairs repeating a reference frame"},
    {VMAFX_DOUBT_REPEATED_DISTORTED, &VmafxPairing::repeated_distorted, "repeated_distorted",
     "pairs repeating a frame of main"},
    {VMAFX_DOUBT_TIME_DIFFERENCE, nullptr, "time_difference", "the times of a pair differ by up to"},
    {VMAFX_DOUBT_CORRUPT_DISTORTED, &VmafxPairing::corrupt_distorted, "corrupt_distorted",
     "pairs with a corrupt frame of main"},
    {VMAFX_DOUBT_CORRUPT_REFERENCE, &VmafxPairing::corrupt_reference, "corrupt_reference",
     "pairs with a corrupt reference frame"},
};

bool is_of_damage(const Doubt& doubt) { return doubt.kind >= VMAFX_DOUBT_CORRUPT_DISTORTED; }
bool is_of_pairs(const Doubt& doubt) { return !is_of_damage(doubt); }

std::string number(int64_t count) { return std::to_string(count); }

/* "reference frames not used: 3" */
std::string words_of(const Doubt& doubt, const VmafxPairing& counts) {
  const DoubtName& name = kNames[doubt.kind];
  if (name.count) return std::string(name.words) + ": " + number(counts.*name.count);
  return format_text("%s %.3f s, a frame lasts %.3f s", name.words, counts.max_time_difference, doubt.frame_duration);
}

StatusOr<Doubt> read_doubt(const VmafxDoubt& given) {
  const int kind = given.kind;
  if (kind < 0 || kind >= std::ssize(kNames)) return error(EINVAL, "%d is not a kind of doubt", kind);
  Doubt doubt{.kind = given.kind, .from = given.from, .end = given.end, .frame_duration = given.frame_duration};
  for (const char* remedy : std::span(given.remedies, given.n_remedies)) doubt.remedies.push_back(remedy);
  return doubt;
}

/* ". What helps: …." or ".", of the doubts of one sort; each remedy once. */
std::string ending_of(const Pairing& pairing, bool (*is_of_sort)(const Doubt&)) {
  std::vector<std::string> told;
  for (const Doubt& doubt : pairing.doubts)
    for (const std::string& remedy : doubt.remedies)
      if (is_of_sort(doubt) && std::ranges::find(told, remedy) == told.end()) told.push_back(remedy);
  std::string text;
  for (const std::string& remedy : told) text += (text.empty() ? ". What helps: " : "; ") + remedy;
  return text + ".";
}

Json counts_json(const VmafxPairing& counts) {
  return Json::object({{"paired", counts.paired},
                       {"unmatched_distorted", counts.unmatched_distorted},
                       {"unmatched_reference", counts.unmatched_reference},
                       {"repeated_reference", counts.repeated_reference},
                       {"repeated_distorted", counts.repeated_distorted},
                       {"max_time_difference", counts.max_time_difference},
                       {"corrupt_distorted", counts.corrupt_distorted},
                       {"corrupt_reference", counts.corrupt_reference}});
}

void add_doubts(const Pairing& pairing, Json& doubts) {
  for (const Doubt& doubt : pairing.doubts) {
    const DoubtName& name = kNames[doubt.kind];
    Json json = Json::object({{"kind", name.name}});
    if (name.count) json.add("count", pairing.counts.*name.count);
    else json.add("frame_duration", doubt.frame_duration);
    if (doubt.end) {
      json.add("from", doubt.from);
      json.add("to", doubt.end - 1);
    }
    Json remedies = Json::array();
    for (const std::string& remedy : doubt.remedies) remedies.add(remedy);
    json.add("text", words_of(doubt, pairing.counts));
    json.add("remedies", std::move(remedies));
    doubts.add(std::move(json));
  }
}

}  // namespace

StatusOr<Pairing> read_pairing(const VmafxPairing& given) {
  std::vector<std::optional<Doubt>> found(std::size(kNames));
  for (const VmafxDoubt& each : std::span(given.doubts, given.n_doubts)) {
    VMAFX_ASSIGN(Doubt doubt, read_doubt(each));
    found[each.kind] = std::move(doubt);
  }
  Pairing pairing{.counts = given};
  pairing.counts.doubts = nullptr;
  pairing.counts.n_doubts = 0;
  for (const DoubtName& name : kNames) {
    std::optional<Doubt>& doubt = found[name.kind];
    if (!doubt && name.count && given.*name.count) doubt = Doubt{.kind = name.kind};
    if (doubt) pairing.doubts.push_back(std::move(*doubt));
  }
  return pairing;
}

std::vector<std::string> doubt_sentences(const Pairing& pairing) {
  const VmafxPairing& counts = pairing.counts;
  std::vector<std::string> sentences;
  std::string pairs;
  for (const Doubt& doubt : pairing.doubts)
    if (is_of_pairs(doubt)) pairs += "; " + words_of(doubt, counts);
  if (!pairs.empty())
    sentences.push_back("The score is doubtful, the inputs do not go together frame by frame: pairs scored: " +
                        number(counts.paired) + pairs + ending_of(pairing, is_of_pairs));
  if (std::ranges::any_of(pairing.doubts, is_of_damage))
    sentences.push_back("The score is doubtful, frames were decoded with errors: of " + number(counts.paired) +
                        " pairs, the frame of main is corrupt in " + number(counts.corrupt_distorted) +
                        " and the reference in " + number(counts.corrupt_reference) + ending_of(pairing, is_of_damage));
  return sentences;
}

void log_pairing(const Pairing& pairing, Log& log) {
  for (const std::string& sentence : doubt_sentences(pairing)) log.warning(sentence);
  if (std::ranges::none_of(pairing.doubts, is_of_pairs))
    log.verbose("Pairs scored: " + number(pairing.counts.paired) + ", no frame repeated or left over.");
}

Json doubt_extras(const std::optional<Pairing>& pairing, std::span<const PictureDoubt> of_pictures) {
  Json extras = Json::object(), doubts = Json::array(), warnings = Json::array();
  if (!pairing && of_pictures.empty()) return extras;
  if (pairing) {
    extras.add("pairing", counts_json(pairing->counts));
    add_doubts(*pairing, doubts);
    for (const std::string& sentence : doubt_sentences(*pairing)) warnings.add(sentence);
  }
  for (const PictureDoubt& doubt : of_pictures) doubts.add(doubt_json(doubt));
  for (const std::string& sentence : doubt_sentences(of_pictures)) warnings.add(sentence);
  extras.add("doubts", std::move(doubts));
  if (!warnings.items().empty()) extras.add("warnings", std::move(warnings));
  return extras;
}

}  // namespace vmafx
