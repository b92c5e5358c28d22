/* The parameters of cvvdp's kernels, and the way they share the work: for the .hip file and for cvvdp_hip.cpp, which
 * starts them. */
#ifndef VMAFX_KERNELS_CVVDP_CVVDP_WORK_H
#define VMAFX_KERNELS_CVVDP_CVVDP_WORK_H

#include <stdint.h>

#include "hip/device_ptr.h"
#include "kernels/cvvdp/cvvdp_math.h"
#include "kernels/gpu/work.h"

namespace vmafx {

/* Rows of floats begin at multiples of so many. */
inline constexpr int kCvvdpRowFloats = 16;

/* -- Conversion: a thread takes neighbors, which share rows of chroma ---------------------------------------------- */

inline constexpr int kCvvdpConvertColumns = 64, kCvvdpConvertRows = 4, kCvvdpConvertRun = 2;

struct CvvdpConvertWork {
  CvvdpConversion params;
  hip::DevicePtr<float> converted;
  int64_t place = 0;   // floats of a converted picture
  int32_t stride = 0;  // from row to row; its planes lie one behind the other
  PictureToConvert picture[kMostToConvert];
};
VMAFX_DECLARE_SAMPLE_KERNELS(cvvdp_convert, CvvdpConvertWork, kCvvdpConvertColumns, kCvvdpConvertRows);

/* -- Levels of the pyramid: of each frame the channels of ref, then those of dist ---------------------------------- */

inline constexpr int kCvvdpSidePlanes = kCvvdpChannels, kCvvdpFramePlanes = 2 * kCvvdpSidePlanes;

struct CvvdpLevelPlanes {
  hip::DevicePtr<float> first;
  int64_t frame = 0, plane = 0;  // floats from one to the next
  int32_t w = 0, h = 0, stride = 0;

#if defined(VMAFX_KERNEL_CODE) || defined(__HIP__) || defined(__CUDACC__)
  VMAFX_HD float* at(unsigned of_frame, unsigned of_plane) const {
    return first.get() + of_frame * frame + of_plane * plane;
  }
#endif
};

/* -- Channels: a thread takes neighbors of several frames, so that each picture is read once for all of them ------- */

inline constexpr int kCvvdpFrames = 4, kCvvdpRun = 4;  // frames in a launch; neighbors
inline constexpr int kCvvdpFilterColumns = 32, kCvvdpFilterRows = 4;

struct CvvdpFilterWork {
  hip::DevicePtr<float> converted;
  int64_t place = 0;
  int32_t stride = 0;
  int32_t taps = 1;
  int32_t first = 0, count = 0;  // frames of the batch
  ConvertedPlaces places;
  CvvdpLevelPlanes out;
  float filter[kCvvdpChannels][kCvvdpMostTaps + 2 * (kCvvdpFrames - 1)] = {};  // kCvvdpFrames - 1 zeros at both ends
};
VMAFX_DECLARE_KERNEL(cvvdp_filter, CvvdpFilterWork, kCvvdpFilterColumns, kCvvdpFilterRows);
static_assert(kCvvdpMostTaps - 1 <= kMostConverted);

/* -- Pyramid: a block makes a tile of the smaller level; its outermost threads only help their neighbors ----------- */

inline constexpr int kCvvdpReduceThreads = 128, kCvvdpReduceRows = 8;
inline constexpr int kCvvdpReduceColumns = kCvvdpReduceThreads - 2;

struct CvvdpReduceWork {
  CvvdpLevelPlanes from, to;
};
VMAFX_DECLARE_KERNEL(cvvdp_reduce, CvvdpReduceWork, kCvvdpReduceThreads);

/* A block makes all levels of a plane from one that its memory holds. */
inline constexpr int kCvvdpTopFloats = 4096, kCvvdpTopThreads = 256;

struct CvvdpTopWork {
  int32_t levels = 0;  // to be made
  CvvdpLevelPlanes level[kCvvdpMostBands];
};
VMAFX_DECLARE_KERNEL(cvvdp_top, CvvdpTopWork, kCvvdpTopThreads);

/* -- Bands: a block goes down a strip of columns, whose outermost ones only help their neighbors ------------------- */

inline constexpr int kCvvdpBandThreads = 128;
inline constexpr int kCvvdpBandColumns = kCvvdpBandThreads - 2 * kCvvdpBlurReach;
/* Rows that a block adds up: many, since it needs twelve around them; but few where blocks are few, since it takes its
 * rows one after the other. */
inline constexpr int kCvvdpMostBandRows = 64, kCvvdpLeastBandRows = 8, kCvvdpEnoughBlocks = 256;
inline constexpr int kCvvdpBandsAtOnce = 5;

struct CvvdpBandWork {
  CvvdpLevelPlanes level, next;
  int32_t band = 0, first_block = 0, blocks_across = 1;
  float sensitivity[kCvvdpChannels][kCvvdpLights + 1] = {};
};

struct CvvdpBandsWork {
  BatchSums<CvvdpSums> sums;
  int32_t count = 0;
  int32_t rows = kCvvdpMostBandRows;  // of a block
  CvvdpMasking masking = {};
  CvvdpBandWork band[kCvvdpBandsAtOnce];
};
VMAFX_DECLARE_KERNEL(cvvdp_bands, CvvdpBandsWork, kCvvdpBandThreads);

/* The base band: a block takes that of a frame. */
inline constexpr int kCvvdpBaseThreads = 256;

struct CvvdpBaseWork {
  BatchSums<CvvdpSums> sums;
  CvvdpMasking masking = {};
  CvvdpBandWork band;
};
VMAFX_DECLARE_KERNEL(cvvdp_base, CvvdpBaseWork, kCvvdpBaseThreads);

/* -- Bands and base with the sums of the blocks of maps, of all bands one behind the other ------------------------- */

struct CvvdpBlocksOfBand {
  int32_t side = 1, across = 1, first = 0;  // of a block; blocks in a row; the number of the first one
};

struct CvvdpMapBandsWork : CvvdpBandsWork {
  BatchSums<CvvdpBandSums> blocks;
  CvvdpBlocksOfBand blocks_of[kCvvdpBandsAtOnce];
};
VMAFX_DECLARE_KERNEL(cvvdp_map_bands, CvvdpMapBandsWork, kCvvdpBandThreads);

struct CvvdpMapBaseWork : CvvdpBaseWork {
  BatchSums<CvvdpBandSums> blocks;
  CvvdpBlocksOfBand blocks_of;
};
VMAFX_DECLARE_KERNEL(cvvdp_map_base, CvvdpMapBaseWork, kCvvdpBaseThreads);

}  // namespace vmafx

#endif
