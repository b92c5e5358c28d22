/* The working memory of VIF's SIMD twin. It takes a picture in strips of columns and a strip in groups of rows, so that
 * what it holds between the passes, 0.6 MiB of one encode, stays near. */
#ifndef VMAFX_KERNELS_VIF_VIF_ROWS_H
#define VMAFX_KERNELS_VIF_VIF_ROWS_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/rounding.h"
#include "kernels/vif/vif_math.h"

namespace vmafx {

/* -- Windows as pairs of 16-bit taps, for instructions that multiply 16-bit lanes and add adjacent products.
 *
 * A 32-bit lane holds the two samples of rows (or columns) 2q and 2q + 1, aligned to even positions. Each lane then
 * serves two outputs, at positions 0 and 1, which differ in the taps only:
 *
 *   output 0 = sum over q of lane q * (f[2q], f[2q + 1])        output 1 = sum over q of lane q * (f[2q - 1], f[2q]) */

/* How many pairs a window reaches to each side. */
constexpr int vif_pair_radius(int scale) { return (kVifHalfWidth[scale] + 1) / 2; }

struct VifPairTaps {
  int pair;           // q
  int32_t even, odd;  // the taps of outputs 0 and 1: low half for sample 2q, high half for sample 2q + 1
};

constexpr int32_t vif_pack_taps(int low, int high) {
  return static_cast<int32_t>(low | static_cast<uint32_t>(high) << 16);
}

/* The window of `scale`, one entry per pair. Scale 3's center tap does not fit 16 signed bits: it is split into two
 * halves, the second in an entry of its own. */
template <int kScale>
consteval auto vif_pair_taps() {
  constexpr int kRadius = vif_pair_radius(kScale);
  constexpr bool kSplitCenter = kVifTaps[kScale][0] > INT16_MAX;
  const auto tap = [](int k) -> int {
    const int distance = k < 0 ? -k : k;
    if (distance > kVifHalfWidth[kScale]) return 0;
    return distance == 0 && kSplitCenter ? kVifTaps[kScale][0] / 2 : kVifTaps[kScale][distance];
  };
  std::array<VifPairTaps, 2 * kRadius + 1 + kSplitCenter> taps{};
  for (int q = -kRadius; q <= kRadius; q++)
    taps[q + kRadius] = {q, vif_pack_taps(tap(2 * q), tap(2 * q + 1)), vif_pack_taps(tap(2 * q - 1), tap(2 * q))};
  if (kSplitCenter) taps.back() = {0, vif_pack_taps(tap(0), 0), vif_pack_taps(0, tap(0))};
  return taps;
}

/* -- Memory -------------------------------------------------------------------------------------------------------- */

/* A row of a strip is a jump to another page of the picture, which costs more than columns that leave the cache: eight
 * encodes take 3 to 4 percent less time than in strips of 480 columns, whose working memory is half as large. */
inline constexpr int kVifStripColumns = 960;  // with the widest margins 30.5 vectors of AVX-512
inline constexpr int kVifGroupRows = 8;       // output rows that share one pass over the row pairs
inline constexpr size_t kVifMostLanes = 128;  // 16-bit lanes of the widest vectors (SVE: 2048 bits)
/* A strip with both margins in whole vectors, and one more to read into. */
inline constexpr size_t kVifLineColumns = 1152;

/* How often loops over taps and coefficients are unrolled: wholly. Not for the address sanitizer, whose checks would
 * make functions of it that take the compiler minutes. */
#if defined(__SANITIZE_ADDRESS__)
inline constexpr int kVifUnroll = 1;
#else
inline constexpr int kVifUnroll = 16;
#endif

/* How many encodes of one reference share a pass over it. */
inline constexpr int kVifEncodesAtOnce = 8;

/* The pictures of a strip: the reference, and from kVifEncode on the encodes. */
inline constexpr int kVifReference = 0, kVifEncode = 1;

/* Samples of a group, three values each, Q16. */
struct VifSigmas {
  int32_t *sigma1_sq, *sigma2_sq, *sigma12;

  VifSigmas operator+(size_t i) const { return {sigma1_sq + i, sigma2_sq + i, sigma12 + i}; }
};

/* The working memory of a strip. The reference's part serves all encodes; the encode's part serves one after the other,
 * except for the rings: each encode has its own. */
class VifStripMemory {
 public:
  explicit VifStripMemory(std::byte* scratch) : scratch_(scratch) {}

  /* A picture's ring of row pairs as pair lanes: [block of columns][plane][even columns, odd columns]. */
  int16_t* pairs(int picture, int slot) const {
    const size_t ring = kRings + (picture == kVifReference ? 0 : kReferenceRing + (picture - kVifEncode) * kEncodeRing);
    return at<int16_t>(ring + slot * (picture == kVifReference ? kReferenceSlot : kEncodeSlot));
  }
  static constexpr int kSlots = 2 * vif_pair_radius(0) + kVifGroupRows / 2;  // under the tallest windows of a group

  /* A row after the vertical pass: of the reference mu1 and high and low halves of xx, of an encode mu2 and those of yy
   * and of xy. */
  uint16_t* filtered(int picture, int row, int plane) const {
    const int first = picture == kVifReference ? 0 : kReferencePlanes;
    return at<uint16_t>(kFiltered + (row * kPlanes + first + plane) * kLineBytes);
  }

  /* A row of a picture with the next scale's window, for row `row` of the next scale. */
  uint16_t* filtered_for_next(int row) const { return at<uint16_t>(kFilteredForNext + row * kLineBytes); }

  /* A row of a picture with its margins. */
  template <class T>
  T* input(int line) const {
    return at<T>(kInput + line * kLineBytes);
  }

  /* The samples of a group, kVifLineColumns for each row, and a vector of zeros at sigmas() + kZeros; mu1 likewise. */
  VifSigmas sigmas() const {
    return {at<int32_t>(kSigmas), at<int32_t>(kSigmas + kSigmaBytes), at<int32_t>(kSigmas + 2 * kSigmaBytes)};
  }
  uint32_t* mu1() const { return at<uint32_t>(kSigmas + 3 * kSigmaBytes); }
  static constexpr size_t kZeros = kVifGroupRows * kVifLineColumns;
  void clear_zeros() const {
    const VifSigmas zeros = sigmas() + kZeros;
    for (int32_t* values : {zeros.sigma1_sq, zeros.sigma2_sq, zeros.sigma12}) std::fill_n(values, kVifMostLanes / 2, 0);
  }

  /* The places in sigmas() of the vectors that have samples of the log form. */
  uint16_t* log_vectors() const { return at<uint16_t>(kLogVectors); }
  static constexpr size_t kLogVectorsPadding = 2;  // further entries that may be read but are not used

  /* The sigma1_sq of those vectors as doubles, one after the other. */
  double* sigma1() const { return at<double>(kSigma1); }

  static constexpr size_t bytes(int encodes) { return kRings + kReferenceRing + encodes * kEncodeRing; }

 private:
  static constexpr int kReferencePlanes = 3, kEncodePlanes = 5, kPlanes = kReferencePlanes + kEncodePlanes;
  static constexpr int kInputLines = 4;
  static constexpr size_t kLineBytes = kVifLineColumns * sizeof(uint16_t);
  static constexpr size_t kSigmaBytes = (kZeros + kVifMostLanes / 2) * sizeof(int32_t);
  static constexpr size_t kFewestLanes = 4;  // 32-bit lanes of the shortest vector

  static constexpr size_t kFiltered = 0;
  static constexpr size_t kFilteredForNext = kFiltered + kVifGroupRows * kPlanes * kLineBytes;
  static constexpr size_t kInput = kFilteredForNext + kVifGroupRows / 2 * kLineBytes;
  static constexpr size_t kSigmas = kInput + kInputLines * kLineBytes;
  static constexpr size_t kLogVectors = kSigmas + 4 * kSigmaBytes;
  static constexpr size_t kSigma1 =
      kLogVectors + round_to_lines((kZeros / kFewestLanes + kLogVectorsPadding) * sizeof(uint16_t));
  static constexpr size_t kRings = kSigma1 + (kZeros + kLogVectorsPadding * kVifMostLanes / 2) * sizeof(double);

  static constexpr size_t kReferenceSlot = 2 * kReferencePlanes * kLineBytes, kReferenceRing = kSlots * kReferenceSlot;
  static constexpr size_t kEncodeSlot = 2 * kEncodePlanes * kLineBytes, kEncodeRing = kSlots * kEncodeSlot;

  template <class T>
  T* at(size_t offset) const {
    return reinterpret_cast<T*>(scratch_ + offset);
  }

  std::byte* scratch_;
};

/* Bytes per row of a decimated plane of `w` columns: a strip's last vector may reach past them. */
inline size_t vif_decimated_stride(int w) { return round_to_lines(sizeof(uint16_t) * (w + kVifMostLanes / 2)); }

}  // namespace vmafx

#endif
