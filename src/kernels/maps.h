/* Maps: where in a picture a metric finds what it scores.
 *
 * A map has a value for each block of the picture, which is what the samples of that block add to a raw sum of the
 * frame. The values of all blocks add up to that sum. Blocks share norms by the powers that add up, and of butteraugli
 * the largest value counts (docs/maps.md). Maps are:
 *
 *     Extractor::maps(), read_map()     what maps its raw sums have, and their values
 *     ExtractorInfo::create_mapping     makes an extractor whose raw sums have those of the blocks behind them
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
