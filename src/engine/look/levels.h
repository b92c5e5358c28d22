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
#include <utility>
#include <vector>

#include "engine/look/cell_means.h"
#include "engine/look/chapters.h"
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
  /* Cells of luma by level of the reference and of the encode. */
  using Histogram = std::vector<uint32_t>;
  struct Histograms {
    Histogram cells;
    Histogram areas;  // of 4x4 cells, whose means the worst encoders keep
    explicit Histograms(bool used) : cells(used ? kLevels * kLevels : 0), areas(cells) {}
  };
  /* A histogram's numbers that are not 0, by their places. */
  using Counts = std::vector<std::pair<uint32_t, uint32_t>>;
  /* Sums of a chapter, which keeps few frames. */
  struct Sums {
    Counts cells, areas;
    std::vector<Frame> frames;
    void add(const Sums& later);
  };

  void count(const PairMeans& means);
  void add_cells(const SignatureSums& sums, const PairMeans& means, Frame& frame) const;
  void close_chapter();
  static Histogram histogram_of(const Counts& counts);
  std::vector<Finding> judge(const Sums& sums, const std::vector<Frame>& frames, const Pairs& pairs) const;
  std::vector<Finding> judge(size_t first, size_t end) const;
  bool denies(size_t chapter, Kind kind) const;

  CellMeans means_;
  bool fit_for_;
  int64_t first_ = -1, last_ = -1, added_ = 0;
  Histograms last_of_;  // what the last chapter does not have yet
  Chapters<Sums> chapters_;
  std::vector<Frame> frames_;
  int64_t frames_seen_ = 0, stride_ = 1;  // one in `stride_` of the frames with chroma is kept
};

}  // namespace vmafx::look

#endif
