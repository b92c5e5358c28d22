/* Pairing: how the frames of an encode and of the reference were paired, and the doubts about its scores. They become
 * lines of the log, and the keys `pairing`, `doubts` and `warnings` of reports. */
#ifndef VMAFX_REPORT_PAIRING_H
#define VMAFX_REPORT_PAIRING_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "base/status.h"
#include "report/picture_doubts.h"
#include "vmafx/vmafx.h"

namespace vmafx {

struct Doubt {
  VmafxDoubtKind kind;
  int64_t from = 0, end = 0;  // the pairs that are concerned lie in from .. end-1; end 0: not known
  double frame_duration = 0;
  std::vector<std::string> remedies{};
};

struct Pairing {
  VmafxPairing counts{};        // without its doubts
  std::vector<Doubt> doubts{};  // a kind once, in the order of the enumerators
};

/* Copies what the application gave, and adds the doubts that the counts alone tell. EINVAL: a doubt of a kind that is
 * not known. */
StatusOr<Pairing> read_pairing(const VmafxPairing& given);

/* A sentence for each sort of doubt, with what helps; none for pairs that are not doubtful. */
std::vector<std::string> doubt_sentences(const Pairing& pairing);

/* The sentences as warnings; of good pairs a line at VMAFX_LOG_VERBOSE. */
void log_pairing(const Pairing& pairing, Log& log);

/* The keys of reports about the pairs of an encode:
 *
 *   {"pairing": {"paired": 12, "unmatched_distorted": 2, …},
 *    "doubts": [{"kind": "repeated_reference", "count": 3, "from": 12, "to": 40,
 *                "text": "pairs repeating a reference frame: 3", "remedies": […]}, …],
 *    "warnings": […]}
 *
 * `doubts` has those that the pictures raise, too (picture_doubts.h). `warnings` has the sentences that were logged;
 * without them there is no such key. Without a pairing there is no key `pairing`, and without doubts then no other. */
Json doubt_extras(const std::optional<Pairing>& pairing, std::span<const PictureDoubt> of_pictures);

}  // namespace vmafx

#endif
