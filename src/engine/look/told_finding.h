/* ToldFinding: a finding with its words, as the C API lends it. */
#ifndef VMAFX_ENGINE_LOOK_TOLD_FINDING_H
#define VMAFX_ENGINE_LOOK_TOLD_FINDING_H

#include <vector>

#include "base/status.h"
#include "engine/look/finding.h"
#include "report/picture_doubts.h"
#include "vmafx/vmafx.h"

namespace vmafx::look {

class ToldFinding {
 public:
  explicit ToldFinding(Finding finding);
  ToldFinding(ToldFinding&&) = default;  // keeps the addresses that lend() gives

  const Finding& finding() const { return finding_; }
  const PictureDoubt& words() const { return words_; }

  /* False: a note about both inputs, which leaves no doubt about scores. */
  bool is_doubt() const { return finding_.kind != Kind::kBars; }

  /* Its texts and numbers are valid as long as this object. */
  VmafxFinding lend() const;

 private:
  Finding finding_;
  PictureDoubt words_;
  std::vector<VmafxEvidence> evidence_;
  std::vector<const char*> remedies_;
};

/* A finding that an application gives, without its words. EINVAL: its kind or certainty is not known, or evidence has
 * no name. */
StatusOr<Finding> read_finding(const VmafxFinding& given);

}  // namespace vmafx::look

#endif
