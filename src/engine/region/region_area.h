/* RegionArea: which part of a picture a region is, and how much of each block of a map belongs to it. */
#ifndef VMAFX_ENGINE_REGION_REGION_AREA_H
#define VMAFX_ENGINE_REGION_REGION_AREA_H

#include <memory>
#include <vector>

#include "base/picture.h"
#include "base/status.h"
#include "engine/region/mask.h"
#include "engine/region/region.h"
#include "kernels/extractor.h"

namespace vmafx {

class RegionArea {
 public:
  /* `mask`: of Region::Kind::kMask. EINVAL: the region does not fit pictures of this format. */
  static StatusOr<RegionArea> make(const Region& region, std::shared_ptr<const Mask> mask, const VideoFormat& format);

  const Region& region() const { return region_; }

  /* The mean weight, from 0 to 1, of the samples of luma that each block of a map covers, row by row. Those of a
   * rectangle weigh 1, and the other samples 0. Where windows are scored, a block covers their middles.
   * `active`: the area of Region::Kind::kActive. */
  std::vector<double> shares(const MapInfo& map, const Rectangle& active) const;

 private:
  RegionArea(const Region& region, std::shared_ptr<const Mask> mask, const VideoFormat& format);
  double weight(const Rectangle& block, const Rectangle& active) const;

  Region region_;
  std::shared_ptr<const Mask> mask_;
  int w_, h_;
  /* Of Region::Kind::kCenter: the sums of the weights of the columns and rows before one; their product weighs. */
  std::vector<double> columns_, rows_;
};

}  // namespace vmafx

#endif
