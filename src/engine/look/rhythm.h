/* Rhythm: what recurs or lasts: cadence, mixtures of frames, pictures that do not fit. */
#ifndef VMAFX_ENGINE_LOOK_RHYTHM_H
#define VMAFX_ENGINE_LOOK_RHYTHM_H

#include <cstdint>
#include <vector>

#include "engine/look/finding.h"
#include "engine/look/path.h"

namespace vmafx::look {

/* Looks at windows of steps, one after another. */
class Rhythm {
 public:
  void add(const Step& step);
  void finish(std::vector<Finding>* findings);

 private:
  struct Beat {
    int64_t frame;
    float repeats[2];  // votes for the frame before, against the path's shift, and against the one above it
    float mixed;       // how much better a mixture fits, 0 if none does
    float moving;      // votes against the neighbors
    float misfit;
  };
  struct Pattern {
    int repeated = 0, of = 0;
    double evidence = 0;
    int clear = 0;
  };

  void close();
  Pattern pattern(int which) const;
  Pattern pattern_of(int which, int period) const;
  void say(Kind kind, Certainty certainty, std::vector<std::pair<std::string, double>> evidence);

  std::vector<Beat> beats_;
  std::vector<Finding> findings_;
};

}  // namespace vmafx::look

#endif
