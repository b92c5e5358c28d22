/* Mask: how much each sample of luma counts, from a file. */
#ifndef VMAFX_ENGINE_REGION_MASK_H
#define VMAFX_ENGINE_REGION_MASK_H

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace vmafx {

struct Mask {
  int w = 0, h = 0;
  int most = 255;                 // the value of a sample that counts in full
  std::vector<uint16_t> samples;  // row by row, 0 to `most`
  std::string sha256;             // of the file
};

/* Reads a gray picture in the format PGM: binary ("P5"), 8 or 16 bit, one picture (netpbm's pgm(5); ffmpeg's -pix_fmt
 * gray writes it). The errors of opening a file; EINVAL: it is something else, or no sample counts. */
StatusOr<Mask> read_mask(const std::string& path);

}  // namespace vmafx

#endif
