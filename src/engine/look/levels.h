/* Levels: how samples of the encode follow from those of the reference: range, matrix, primaries, transfer, brightness,
 * planes that are exchanged, gray or displaced. All numbers are on the scale of 8 bits.
 *
 * Luma is a curve, the median level of the encode's cells for each level of the reference's. Chroma is read in one of
 * kDetailPeriod frames; its cells are predicted by each way of making a mistake that is known, and one counts when it
 * predicts far better than no mistake and than any other. */
#ifndef VMAFX_ENGINE_LOOK_LEVELS_H
#define VMAFX_ENGINE_LOOK_LEVELS_H

#include <array>
#include <cstdint>
#include <vector>

#include "engine/look/cell_means.h"
#include "engine/look/finding.h"

namespace vmafx::look {

class Levels {
 public:
  explicit Levels(const VideoFormat& format);
  void add(int64_t frame, const SignatureSums& sums, const PairMeans& means);
  std::vector<Finding> finish();

  static constexpr int kLevels = 256;
  /* Y, Cb, Cr of a cell. */
  using Color3 = std::array<float, 3>;
  struct CellPair {
    Color3 ref, dist;
  };
  /* Cells of chroma in a frame. */
  struct Frame {
    int64_t frame;
    std::array<CellPair, kChromaCells> cells;
  };

 private:
  void count(const PairMeans& means);
  void add_cells(const SignatureSums& sums, const PairMeans& means, Frame& frame) const;

  CellMeans means_;
  bool fit_for_;
  int64_t first_ = -1, last_ = -1, added_ = 0;
  std::vector<uint32_t> histogram_;  // cells of luma by level of the reference and of the encode
  std::vector<uint32_t> coarse_;     // likewise areas of 4x4 cells, whose means the worst encoders keep
  std::vector<Frame> frames_;
  int64_t frames_seen_ = 0, stride_ = 1;  // one in `stride_` of the frames with chroma is kept
};

}  // namespace vmafx::look

#endif
