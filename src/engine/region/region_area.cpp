#include "engine/region/region_area.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

namespace vmafx {
namespace {

/* The variances of where people look, across and down, in squares of half the picture's width: the Gaussian around the
 * middle of the picture that Clarke and Tatler found to describe ten sets of eye movements ("Deriving an appropriate
 * baseline for describing fixation behaviour", Vision Research 102, 2014). */
constexpr double kVarianceAcross = 0.22, kVarianceDown = 0.45 * kVarianceAcross;

/* Sums of e^(-x² / 2v), x from the middle of `size` samples in units of `unit` samples. */
std::vector<double> gaussian_sums(int size, double unit, double variance) {
  std::vector<double> sums = {0};
  for (int i = 0; i < size; i++) {
    const double x = (i + 0.5 - size / 2.0) / unit;
    sums.push_back(sums.back() + std::exp(-x * x / (2 * variance)));
  }
  return sums;
}

int overlap(int begin, int length, int other_begin, int other_length) {
  return std::max(0, std::min(begin + length, other_begin + other_length) - std::max(begin, other_begin));
}

double area_of(const Rectangle& rectangle) { return static_cast<double>(rectangle.w) * rectangle.h; }

}  // namespace

RegionArea::RegionArea(const Region& region, std::shared_ptr<const Mask> mask, const VideoFormat& format)
    : region_(region), mask_(std::move(mask)), w_(format.w), h_(format.h) {
  if (region.kind != Region::Kind::kCenter) return;
  columns_ = gaussian_sums(w_, w_ / 2.0, kVarianceAcross);
  rows_ = gaussian_sums(h_, w_ / 2.0, kVarianceDown);
}

StatusOr<RegionArea> RegionArea::make(const Region& region, std::shared_ptr<const Mask> mask,
                                      const VideoFormat& format) {
  const auto& [x, y, w, h] = region.rectangle;
  if (region.kind == Region::Kind::kRectangle && (x > format.w - w || y > format.h - h))
    return error(EINVAL, "roi=%s=%dx%d+%d+%d is not inside the picture, which has %dx%d samples", region.name.c_str(),
                 w, h, x, y, format.w, format.h);
  if (mask && (mask->w != format.w || mask->h != format.h))
    return error(EINVAL, "roi: mask '%s' has %dx%d samples, and the pictures %dx%d: make them alike",
                 region.path.c_str(), mask->w, mask->h, format.w, format.h);
  return RegionArea(region, std::move(mask), format);
}

/* The sum of the weights of a block's samples. */
double RegionArea::weight(const Rectangle& block, const Rectangle& active) const {
  switch (region_.kind) {
    case Region::Kind::kCenter: {
      const auto sum = [](const std::vector<double>& sums, int begin, int length) {
        return sums[static_cast<size_t>(begin + length)] - sums[static_cast<size_t>(begin)];
      };
      return sum(columns_, block.x, block.w) * sum(rows_, block.y, block.h);
    }
    case Region::Kind::kMask: {
      uint64_t sum = 0;
      for (int y = block.y; y < block.y + block.h; y++) {
        const uint16_t* const row = mask_->samples.data() + static_cast<size_t>(y) * static_cast<size_t>(w_);
        for (int x = block.x; x < block.x + block.w; x++) sum += row[x];
      }
      return static_cast<double>(sum) / mask_->most;
    }
    case Region::Kind::kRectangle:
    case Region::Kind::kActive: break;
  }
  const Rectangle& inside = region_.kind == Region::Kind::kActive ? active : region_.rectangle;
  return static_cast<double>(overlap(block.x, block.w, inside.x, inside.w)) *
         overlap(block.y, block.h, inside.y, inside.h);
}

/* Sides that were rounded up may leave the last blocks no sample: these have the picture's last one. */
std::vector<double> RegionArea::shares(const MapInfo& map, const Rectangle& active) const {
  std::vector<double> shares;
  const auto part = [](int n, int side, int middle, int size) {
    const int begin = std::min(n * side + middle, size - middle - 1);
    return std::pair(begin, std::min(side, size - middle - begin));
  };
  for (int row = 0; row < map.h; row++)
    for (int column = 0; column < map.w; column++) {
      const auto [x, w] = part(column, map.block_w, map.middle_x, w_);
      const auto [y, h] = part(row, map.block_h, map.middle_y, h_);
      const Rectangle block = {x, y, w, h};
      shares.push_back(weight(block, active) / area_of(block));
    }
  return shares;
}

}  // namespace vmafx
