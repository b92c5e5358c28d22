/* Structure: fields. In a combed picture, rows of one parity are of another moment than those of the other, so that
 * their difference follows the picture's motion; its sign tells their order. Both pictures are compared with their own
 * motion, so that an offset in time between them does not matter. */
#ifndef VMAFX_ENGINE_LOOK_STRUCTURE_H
#define VMAFX_ENGINE_LOOK_STRUCTURE_H

#include <cstdint>
#include <vector>

#include "engine/look/cell_means.h"
#include "engine/look/chapters.h"
#include "engine/look/field_motion.h"
#include "engine/look/finding.h"

namespace vmafx::look {

class Structure {
 public:
  explicit Structure(const VideoFormat& format);
  void add(int64_t frame, const SignatureSums& sums, const PairMeans& means);
  std::vector<Finding> finish();

  /* How the difference of even and odd rows follows the motion of a picture per frame: a half or more in size if it is
   * combed, above 0 if even rows are of the later moment. */
  enum Combing { kOddLater, kNone, kEvenLater, kUnknown };

 private:
  /* One picture of three that follow one another. */
  struct Side {
    LumaMeans before, field[2], after;
  };
  Combing combing_of(const Side& side) const;
  /* How much rows and columns come in pairs. */
  enum Twins { kRefRows, kDistRows, kDistColumns, kTwins };
  /* Sums over frames. */
  struct Sums {
    int64_t seen[4][4] = {};                                 // frames by combing of both
    double neighbors[2] = {0, 0}, next_but_one[2] = {0, 0};  // of differences of rows: reference, encode
    double twins[kTwins] = {};                               // over frames with profiles
    int64_t details = 0;
    void add(const Sums& later);
  };
  struct Table;
  static Table table_of(const Sums& sums);
  std::vector<Finding> judge(const Sums& sums, const Pairs& pairs, const FieldMotion* field_motion) const;
  bool denies(size_t chapter) const;
  void add_twins(const SignatureSums& signatures, Sums& sums) const;

  CellMeans means_;
  bool fit_for_;
  int64_t first_ = -1, last_ = -1;
  int next_ = 0;  // the place of the next frame in its three
  Side ref_, dist_;
  FieldMotion field_motion_;
  Chapters<Sums> chapters_;
};

}  // namespace vmafx::look

#endif
