/* Borders: fingerprints of the pictures at both ends of a range and of those around it, by which a merge sees that
 * parts of a stream meet. */
#ifndef VMAFX_ENGINE_RANGE_BORDERS_H
#define VMAFX_ENGINE_RANGE_BORDERS_H

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/picture.h"
#include "base/status.h"
#include "engine/frames/pictures.h"
#include "engine/range/range.h"
#include "report/range_facts.h"

namespace vmafx {

/* A hash of the samples that metrics read; it does not depend on their layout in memory. */
uint64_t fingerprint(const Picture& picture);

/* The borders of one encode's range. */
class Borders {
 public:
  using Held = std::shared_ptr<HeldPicture>;

  struct Pair {
    int64_t number;
    std::optional<double> time;
    Held ref, dist;
  };

  Borders() = default;  // without a range: keeps nothing

  /* So many pairs before a range and after it are its context; as many at its ends are the context of its neighbours.
   */
  Borders(int before, int after) : before_(before), after_(after) {}

  /* Adds the next pair that is scored or context. Fails if a picture in a GPU's memory cannot be downloaded. */
  Status add(Pair pair, Place place);

  /* Ends the stream. */
  Status end();

  const std::vector<BorderPair>& pairs() const { return pairs_; }

 private:
  Status note(const Pair& pair);
  Status note_recent();

  int before_ = 0, after_ = 0;
  int within_ = 0;           // so many pairs, at most after_
  std::deque<Pair> recent_;  // the last pairs, which may be a context
  Place last_ = Place::kBefore;
  std::vector<BorderPair> pairs_;
};

}  // namespace vmafx

#endif
