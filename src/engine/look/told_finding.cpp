#include "engine/look/told_finding.h"

#include <cerrno>
#include <span>
#include <utility>

#include "engine/look/words.h"

namespace vmafx::look {

static_assert(static_cast<int>(Kind::kFieldsDropped) == VMAFX_FINDING_FIELDS_DROPPED &&
              static_cast<int>(Kind::kMirrored) == VMAFX_FINDING_MIRRORED &&
              static_cast<int>(Kind::kRange) == VMAFX_FINDING_RANGE &&
              static_cast<int>(Kind::kCombed) == VMAFX_FINDING_COMBED &&
              static_cast<int>(Certainty::kSure) == VMAFX_CERTAINTY_SURE);

/* Names and remedies lie in vectors, which keep their addresses when the finding moves. */
ToldFinding::ToldFinding(Finding finding) : finding_(std::move(finding)), words_(in_words(finding_)) {
  for (const auto& [name, value] : words_.evidence) evidence_.push_back({.name = name.c_str(), .value = value});
  for (const std::string& remedy : words_.remedies) remedies_.push_back(remedy.c_str());
}

VmafxFinding ToldFinding::lend() const {
  return {.kind = static_cast<VmafxFindingKind>(finding_.kind),
          .name = name_of(finding_.kind),
          .certainty = static_cast<VmafxCertainty>(finding_.certainty),
          .from = finding_.from,
          .end = finding_.end,
          .evidence = evidence_.data(),
          .n_evidence = evidence_.size(),
          .text = words_.text.c_str(),
          .remedies = remedies_.data(),
          .n_remedies = remedies_.size()};
}

StatusOr<Finding> read_finding(const VmafxFinding& given) {
  const int kind = given.kind, certainty = given.certainty;
  if (kind < 0 || kind > static_cast<int>(Kind::kFieldsDropped))
    return error(EINVAL, "%d is not a kind of finding; vmafx.h lists them", kind);
  if (certainty < 0 || certainty > static_cast<int>(Certainty::kSure))
    return error(EINVAL, "%d is not a certainty; vmafx.h lists them", certainty);
  Finding finding{static_cast<Kind>(kind), static_cast<Certainty>(certainty), given.from, given.end};
  for (const VmafxEvidence& evidence : std::span(given.evidence, given.n_evidence)) {
    if (!evidence.name) return error(EINVAL, "the evidence of a finding has no name; give each number one");
    finding.evidence.emplace_back(evidence.name, evidence.value);
  }
  return finding;
}

}  // namespace vmafx::look
