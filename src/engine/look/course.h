/* Course: what the steps of a path mean: an offset, frames that were dropped, doubled, frozen, swapped. */
#ifndef VMAFX_ENGINE_LOOK_COURSE_H
#define VMAFX_ENGINE_LOOK_COURSE_H

#include <cstdint>
#include <deque>
#include <vector>

#include "engine/look/finding.h"
#include "engine/look/path.h"

namespace vmafx::look {

class Course {
 public:
  void add(const Step& step);

  /* Appends the findings, after the last step. */
  void finish(std::vector<Finding>* findings);

 private:
  /* Frames at one shift that follow one another. Sums compare each shift with the path's. */
  struct Stretch {
    int shift = 0;
    int64_t from = 0, end = 0, frames = 0;
    double votes[kShifts] = {}, own_votes[kShifts] = {};  // of frames whose neighbor at that shift was there
    double lean = 0;                                     // how far frames lie from the shift to the next one, summed up
    double margin[kShifts] = {};                         // sums of doubts, less those of the path
    double belief[kShifts] = {}, squares[kShifts] = {};  // sums of disbelief, less that of the path; of its squares
    double early = 0;                                    // belief against no shift, of the first frames
    int64_t there[kShifts] = {};                         // frames of the reference that were there
    int64_t strong[kShifts] = {};                        // frames that are at least a vote better on the path
  };

  /* How a frame fitted its own picture and the one before it, where the reference moved so much. */
  struct Motion {
    float change, own, before;
  };

  /* Frames that show the picture before them, one after another, or the next one's, away from the path. */
  struct Strays {
    int64_t from = 0, end = 0;
    int frames = 0;
    bool usual = false;                           // frames before them followed such changes
    float noise = 0;                              // usual error before them
    double votes = 0, path_votes = 0, error = 0;  // sums; error: of the path
  };

  struct Proof {
    bool known = false;
    Certainty certainty = Certainty::kPossible;
    double margin = 0, ratio = 0;
    double belief = 0, agreement = 0;  // of changes: sum, and that in units of what chance makes of it
  };

  /* Frames lie between their shift and the next one. */
  static bool leans(const Stretch& stretch);
  static Proof proof_by_changes(const Stretch& stretch, int shift);
  static Proof proof_against(const Stretch& stretch, int shift);
  static Proof proof_of(const Stretch& stretch);
  bool strays(const Step& step, int away, Strays* strays) const;
  static Proof proof_of(const Strays& strays);
  bool follows_usually(float change) const;
  void remember(const Step& step);
  void look_for_swaps(const Step& step);
  void name_swaps();
  void look_for_strays(const Step& step);
  void begin(const Step& step);
  void close_strays();
  void settle_strays(float noise, int64_t before);
  void close();
  bool recurs(size_t first, size_t count) const;
  void join_recurring();
  void doubt_crowds();
  void change(const Proof& proof);
  static Finding finding_of(Kind kind, const Proof& proof, int64_t from, int64_t end, int frames);
  Finding* report(const Finding& finding);

  Stretch now_, last_;  // last_: whose shift is known, or the stream's first one
  bool known_ = false;
  Strays held_, early_;
  int64_t held_until_ = -1;       // the end of the last frames that stood still
  int64_t start_ = 0;             // the first frame
  int64_t held_before_ = -1;      // where frames began to stand still that now_ follows
  std::vector<Finding> waiting_;  // findings of strays, until the noise around them is known
  std::deque<Motion> motions_;    // of the last steps that were no strays
  std::vector<Finding> swaps_;    // frames that go back
  float noise_ = 0;               // of the last step
  int64_t lasting_ = -1;          // index of the finding that lasts until the next change
  std::vector<Finding> findings_;
};

}  // namespace vmafx::look

#endif
