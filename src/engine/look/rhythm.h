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
    int shift;
    ShiftValues votes, error;
    float mixed;          // how much better a mixture fits, 0 if none does
    float misfit;         // the least one of all shifts; 0 if too little is left to tell
    float change, moves;  // of the encode, as far as the reference's; of the reference
  };
  struct Pattern {
    int repeated = 0, of = 0;
    double evidence = 0;
    double error[2] = {};  // of the repeated frames: on the shift, and on the one before
    int clear = 0;
    bool swapped = false;  // each repeated frame follows one that shows the next frame
  };

  struct Phase;
  void close();
  bool loops() const;
  Pattern pattern() const;
  Pattern pattern_of(int shift, int period) const;
  void look_for_mixtures();
  double part_of_others() const;
  void say(Kind kind, Certainty certainty, std::vector<std::pair<std::string, double>> evidence);

  std::vector<Beat> beats_;
  std::vector<Finding> findings_;
};

}  // namespace vmafx::look

#endif
