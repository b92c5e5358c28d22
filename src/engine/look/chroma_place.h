/* Chroma's place: how far chroma lies from where the reference has it, beside what luma moves. Read from profiles of
 * columns and rows, in one of kDetailPeriod frames. */
#ifndef VMAFX_ENGINE_LOOK_CHROMA_PLACE_H
#define VMAFX_ENGINE_LOOK_CHROMA_PLACE_H

#include <cstdint>
#include <vector>

#include "engine/look/cell_means.h"
#include "engine/look/finding.h"
#include "engine/look/small_shift.h"

namespace vmafx::look {

class ChromaPlace {
 public:
  explicit ChromaPlace(const VideoFormat& format);
  void add(int64_t frame, const SignatureSums& sums);
  std::vector<Finding> finish() const;

  enum Axis { kX, kY, kAxes };
  /* Shifts are looked for around so many whole samples of chroma, from -kMostWhole on. */
  static constexpr int kWholeStep = 2, kWholes = 2 * ShiftSums::kMostWhole / kWholeStep + 1;
  static constexpr int kChromaPlanes = 2;

  /* How far luma lies, in samples of it; and how much further chroma does, in samples of chroma. */
  SmallShift luma(int axis) const { return luma(axis, all_); }
  SmallShift chroma(int axis) const;

 private:
  struct Told;
  Told told_of(int axis) const;
  SmallShift of_first(int axis, int whole) const;
  Profile chroma_profile(const PictureSignature& picture, int axis, int plane) const;
  Profile luma_profile(const PictureSignature& picture, int axis, int band) const;

  CellMeans means_;
  bool fit_for_, has_chroma_;
  int64_t first_ = -1, last_ = -1;
  int64_t details_ = 0;  // frames with profiles that were offered
  int64_t added_ = 0;    // of these, those that count
  struct Sums {
    ShiftSums chroma[kAxes][kWholes][kChromaPlanes], luma[kAxes][kProfileBands];
  };
  Sums all_, of_first_;  // of_first_: of the first pair, if that has profiles
  SmallShift luma(int axis, const Sums& sums) const;
};

}  // namespace vmafx::look

#endif
