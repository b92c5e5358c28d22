/* Maps: where in a picture a metric finds what it scores.
 *
 * A map has a value for each block of the picture, which is what the samples of that block add to a raw sum of the
 * frame. The values of all blocks add up to that sum. Blocks share norms by the powers that add up, and of butteraugli
 * the largest value counts (docs/maps.md). Maps are:
 *
 *     Extractor::maps(), read_map()     what maps its raw sums have, and their values
 *     ExtractorInfo::create_mapping     makes an extractor whose raw sums have those of the blocks behind them
 *
 *     Extractor::score_region()         the score of a region, of blocks that belong to it in part or altogether
 *
 * A MappingExtractor only makes sums. They begin with the metric's own, to the last bit, which the scorers of the
 * extractor that create() makes read, so that scores with maps are the scores without. */
#ifndef VMAFX_KERNELS_MAPS_H
#define VMAFX_KERNELS_MAPS_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/blocks.h"
#include "kernels/extractor.h"

namespace vmafx {

/* What is there in block n of a grid that cuts w x h samples, or whatever else the grid cuts. */
inline int cells_of(const BlockGrid& grid, int w, int h, size_t n) {
  const int x = static_cast<int>(n) % grid.w * grid.side, y = static_cast<int>(n) / grid.w * grid.side;
  return std::min(grid.side, w - x) * std::min(grid.side, h - y);
}

/* The sums of a region: of the values of its blocks, and of the cells that these have. */
struct RegionSums {
  double values = 0, cells = 0;

  void add(double share, double of_values, double of_cells) {
    values += share * of_values;
    cells += share * of_cells;
  }
  double mean() const { return values / cells; }  // NaN: there are no cells
};

/* Adds up a region of what a grid cuts: value(n) of block n. */
template <class Value>
RegionSums sum_region(const BlockGrid& grid, int w, int h, std::span<const double> shares, Value value) {
  RegionSums sums;
  for (size_t n = 0; n < shares.size(); n++)
    if (shares[n] > 0) sums.add(shares[n], value(n), cells_of(grid, w, h, n));
  return sums;
}

/* Makes a metric's raw sums by a CPU twin, and behind them those of its blocks. */
class MappingExtractor : public Extractor {
 public:
  std::span<const FeatureInfo> features() const final { return {}; }
  std::unique_ptr<StreamScorer> make_scorer() const final { return nullptr; }
  Reads reads() const final { return reads_; }
  std::span<const MapInfo> maps() const final { return maps_; }

 protected:
  /* `reads`: those of the extractor that create() makes. */
  MappingExtractor(Reads reads, std::vector<MapInfo> maps) : reads_(reads), maps_(std::move(maps)) {}

  const Reads reads_;
  const std::vector<MapInfo> maps_;
};

}  // namespace vmafx

#endif
