/* Region: a part of the picture that has scores of its own, as the option `roi` names it. */
#ifndef VMAFX_ENGINE_REGION_REGION_H
#define VMAFX_ENGINE_REGION_REGION_H

#include <string>
#include <vector>

#include "base/status.h"

namespace vmafx {

/* Samples of luma: columns x to x + w - 1 of rows y to y + h - 1. */
struct Rectangle {
  int x = 0, y = 0, w = 0, h = 0;

  bool operator==(const Rectangle&) const = default;
};

struct Region {
  enum class Kind {
    kRectangle,
    kMask,    // a file that says how much each sample counts
    kActive,  // what black bars leave of each frame: kernels/active_area/active_area.h
    kCenter,  // all samples, those in the middle the most
  };
  std::string name;  // letters, digits and _, a letter first
  Kind kind = Kind::kRectangle;
  Rectangle rectangle{};  // of kRectangle
  std::string path{};     // of kMask
};

/* "face=640x360+100+50|logo=logo.pgm|active|center": `|`-separated, each with a name before it or without. A rectangle
 * or a mask without a name is called "roi". "": none. EINVAL: it is no region, or two have one name. */
StatusOr<std::vector<Region>> parse_regions(const std::string& text);

}  // namespace vmafx

#endif
