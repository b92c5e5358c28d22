/* The parameters of cambi's kernels, for the .hip files and for cambi_hip.cpp, which starts them. */
#ifndef VMAFX_KERNELS_CAMBI_CAMBI_WORK_H
#define VMAFX_KERNELS_CAMBI_CAMBI_WORK_H

#include <cstdint>

#include "hip/device_ptr.h"
#include "hip/frame_planes.h"
#include "kernels/cambi/cambi_math.h"
#include "kernels/gpu/work.h"

namespace vmafx {

/* Blocks that prepare words: a thread takes four columns of a tile of the picture, or of those beside it that its words
 * depend on, four on the left and eight on the right. */
inline constexpr int kCambiPrepareThreads = 256, kCambiPrepareColumns = 128;
inline constexpr int kCambiPrepareW = kCambiPrepareColumns - 12, kCambiPrepareH = 64;

/* Blocks that filter: a thread takes some rows of one column. */
inline constexpr int kCambiFilterW = 64, kCambiFilterRows = 8, kCambiFilterH = 4 * kCambiFilterRows;

/* Blocks that make keys: a thread has the keys of one column, and counts in one or more. Two kernels are for four steps
 * and windows of at most so much: there each thread counts in one, and those at the sides have no keys. */
struct CambiKeysShape {
  int most_window;
  int threads, w;  // of a block; its columns with keys
  int pitch;       // words of counts of a level, 0: the side's. 8 beyond a multiple of 32: neighbors lie in other banks
  int words;       // of counts, in shared memory
};
inline constexpr int kCambiKnownDiffs = 4;
inline constexpr CambiKeysShape kCambiKeys33 = {33, 128, 96, 40, 7168};
inline constexpr CambiKeysShape kCambiKeys65 = {65, 256, 192, 72, 11520};
inline constexpr CambiKeysShape kCambiKeysAny = {kCambiMostWindow, 128, 128, 0, 7168};  // 65 levels at that window

/* Blocks that look for the threshold. */
inline constexpr int kCambiRankThreads = 256, kCambiRankKeys = 64;  // keys of a thread

/* The planes of one scale lie in scratch memory, without padding. */
struct CambiScalePlanes {
  int32_t w, h;
  int32_t tiles_x, first_tile;  // for blocks that make keys
  int32_t first_rank_block;
  uint32_t wanted;       // samples that are the topk largest
  uint64_t words, keys;  // bytes from the picture's first
};

inline constexpr int kCambiMarks = 64;

/* The places of nearest samples: libvmaf adds in float, and so do the kernels, from marks that are not far before. */
struct CambiResampling {
  int32_t from = 0;    // samples; 0: sizes are equal
  int32_t stride = 0;  // samples between marks
  float step = 0;
  float marks[kCambiMarks] = {};
};

/* The distorted picture or the reference, of each frame. */
struct CambiSide {
  int32_t w, h;
  CambiResampling columns, rows;
  int32_t mask_above;
  int32_t radius;     // the window's
  int32_t reach;      // radius, rounded up to whole words
  int32_t pitch;      // CambiKeysShape's
  int32_t tile_rows;  // rows of a block that makes keys, at most 32
  int32_t levels;     // levels that counts have room for, but for `diffs` at both ends
  int32_t tabulated;  // cambi_is_tabulated()
  int32_t sum_bits;   // cambi_sum_bits()
  uint64_t prepared;  // bytes from the picture's first
  uint64_t digits;    // bytes from the picture's first: for each scale and digit the number of keys that have each
                      // value
  uint64_t first_picture, picture_bytes;
  CambiScalePlanes scale[kCambiScales];
  int32_t tiles, rank_blocks;
};

struct CambiWork {
  hip::BatchPlanes luma;
  hip::DevicePtr<uint8_t> scratch;
  BatchSums<CambiSums> sums;
  CambiParams params;
  int32_t frames;
  int32_t scale;      // the scale to filter
  CambiSide side[2];  // dist, ref
};
VMAFX_DECLARE_SAMPLE_KERNELS(cambi_prepare, CambiWork, kCambiPrepareThreads);
VMAFX_DECLARE_KERNEL(cambi_filter, CambiWork, kCambiFilterW, kCambiFilterH / kCambiFilterRows);
VMAFX_DECLARE_KERNEL(cambi_keys_33, CambiWork, kCambiKeys33.threads);
VMAFX_DECLARE_KERNEL(cambi_keys_65, CambiWork, kCambiKeys65.threads);
VMAFX_DECLARE_KERNEL(cambi_keys, CambiWork, kCambiKeysAny.threads);
VMAFX_DECLARE_KERNEL(cambi_digits_0, CambiWork, kCambiRankThreads);
VMAFX_DECLARE_KERNEL(cambi_digits_1, CambiWork, kCambiRankThreads);
VMAFX_DECLARE_KERNEL(cambi_digits_2, CambiWork, kCambiRankThreads);
VMAFX_DECLARE_KERNEL(cambi_largest, CambiWork, kCambiRankThreads);

/* The sums of the blocks of maps. Grid: blocks, scales, frames. */
inline constexpr int kCambiBlockThreads = 64;
struct CambiMapWork : CambiWork {
  BatchSums<CambiBlockSums> blocks;
  int32_t blocks_across = 1, blocks_of_scale = 1;
};
VMAFX_DECLARE_KERNEL(cambi_blocks, CambiMapWork, kCambiBlockThreads);

}  // namespace vmafx

#endif
