#include "compat/vship/colors.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

namespace vship {
namespace {

constexpr double kMost = 65535;  // of 16 bits

/* Bits of a sample; 0: it is a float. */
int bits_of(Vship_Sample_t sample) {
  switch (sample) {
    case Vship_SampleUINT8: return 8;
    case Vship_SampleUINT9: return 9;
    case Vship_SampleUINT10: return 10;
    case Vship_SampleUINT12: return 12;
    case Vship_SampleUINT14: return 14;
    case Vship_SampleUINT16: return 16;
    default: return 0;
  }
}

bool is_rgb(const Vship_Colorspace_t& given) { return given.colorFamily == Vship_ColorRGB; }

std::string lack_of(const Vship_Colorspace_t& given) {
  const auto& [subw, subh] = given.subsampling;
  const auto& crop = given.crop;
  const auto same_or_none = [](int64_t target, int64_t size) { return target <= 0 || target == size; };
  if (!same_or_none(given.target_width, given.width) || !same_or_none(given.target_height, given.height))
    return "the library does not resize pictures; scale them before, and leave target_width and target_height at -1";
  if (given.width > INT_MAX || given.height > INT_MAX || std::min({crop.left, crop.right, crop.top, crop.bottom}) < 0 ||
      given.width <= int64_t{crop.left} + crop.right || given.height <= int64_t{crop.top} + crop.bottom)
    return "nothing is left of the pictures by their size and crop";
  if (given.primaries < 1) return "the primaries of pictures must be code points of H.273";
  if (is_rgb(given)) return subw || subh ? "RGB has no subsampling" : "";
  if (!bits_of(given.sample)) return "YUV of floats is not scored; convert it to integers of up to 16 bits, or to RGB";
  if (subw > 1 || subh > subw || subw < 0 || subh < 0) return "YUV must be 4:2:0, 4:2:2 or 4:4:4";
  if (crop.left % (1 << subw) || crop.top % (1 << subh)) return "the crop must begin with a chroma sample";
  return "";
}

/* -- Memory -------------------------------------------------------------------------------------------------------- */

struct Planes {
  std::vector<uint8_t> bytes[3];
};

void release(void* opaque) { delete static_cast<Planes*>(opaque); }

VmafxPicture picture_of(std::unique_ptr<Planes> planes, const ptrdiff_t strides[3]) {
  VmafxPicture picture{};
  for (int p = 0; p < 3; p++) {
    picture.data[p] = planes->bytes[p].data();
    picture.stride[p] = strides[p];
  }
  picture.release = release;
  picture.opaque = planes.release();
  return picture;
}

struct Size {
  int64_t x, y, width, height;  // of what the crop leaves
};

Size size_of_plane(const Vship_Colorspace_t& given, int plane) {
  const int across = plane ? given.subsampling.subw : 0, down = plane ? given.subsampling.subh : 0;
  const auto shrunk = [](int64_t size, int by) { return (size + (int64_t{1} << by) - 1) >> by; };
  return {given.crop.left >> across, given.crop.top >> down,
          shrunk(given.width - given.crop.left - given.crop.right, across),
          shrunk(given.height - given.crop.top - given.crop.bottom, down)};
}

VmafxPicture copied(const Vship_Colorspace_t& given, const uint8_t* const from[3], const int64_t strides[3]) {
  auto planes = std::make_unique<Planes>();
  const int64_t bytes = given.sample == Vship_SampleUINT8 ? 1 : 2;
  ptrdiff_t row[3];
  for (int p = 0; p < 3; p++) {
    const Size size = size_of_plane(given, p);
    row[p] = size.width * bytes;
    planes->bytes[p].resize(static_cast<size_t>(row[p] * size.height));
    for (int64_t y = 0; y < size.height; y++)
      std::memcpy(planes->bytes[p].data() + y * row[p], from[p] + (size.y + y) * strides[p] + size.x * bytes,
                  static_cast<size_t>(row[p]));
  }
  return picture_of(std::move(planes), row);
}

/* -- RGB ----------------------------------------------------------------------------------------------------------- */

float float_of_half(uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                     : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                     : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return half & 0x8000 ? -size : size;
}

/* The sample at a place of a row, 0 to 1. */
double sample_at(const Vship_Colorspace_t& given, const uint8_t* row, int64_t x) {
  uint16_t word = 0;
  if (given.sample == Vship_SampleFLOAT) {
    float value;
    std::memcpy(&value, row + x * 4, 4);
    return value;
  }
  if (given.sample == Vship_SampleUINT8) word = row[x];
  else std::memcpy(&word, row + x * 2, 2);
  if (given.sample == Vship_SampleHALF) return float_of_half(word);
  const int bits = bits_of(given.sample);
  if (given.range == Vship_RangeFull) return word / static_cast<double>((1 << bits) - 1);
  return (word - std::ldexp(16, bits - 8)) / std::ldexp(219, bits - 8);
}

uint16_t code_of(double value) {
  return static_cast<uint16_t>(std::lrint(std::clamp(value, 0.0, 1.0) * kMost));  // of NaN 0
}

/* Y'CbCr of BT.709 in full range. */
VmafxPicture converted(const Vship_Colorspace_t& given, const uint8_t* const from[3], const int64_t strides[3]) {
  constexpr double kRed = 0.2126, kBlue = 0.0722, kMiddle = 32768 / kMost;
  auto planes = std::make_unique<Planes>();
  const Size size = size_of_plane(given, 0);
  const ptrdiff_t row[3] = {size.width * 2, size.width * 2, size.width * 2};
  for (auto& bytes : planes->bytes) bytes.resize(static_cast<size_t>(row[0] * size.height));
  for (int64_t y = 0; y < size.height; y++) {
    for (int64_t x = 0; x < size.width; x++) {
      double rgb[3];
      for (int c = 0; c < 3; c++) rgb[c] = sample_at(given, from[c] + (size.y + y) * strides[c], size.x + x);
      for (double& value : rgb) value = std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0);
      const double luma = kRed * rgb[0] + (1 - kRed - kBlue) * rgb[1] + kBlue * rgb[2];
      const uint16_t codes[3] = {code_of(luma), code_of((rgb[2] - luma) / (2 - 2 * kBlue) + kMiddle),
                                 code_of((rgb[0] - luma) / (2 - 2 * kRed) + kMiddle)};
      for (int p = 0; p < 3; p++) std::memcpy(planes->bytes[p].data() + y * row[p] + x * 2, &codes[p], 2);
    }
  }
  return picture_of(std::move(planes), row);
}

}  // namespace

VmafxFormat format_of(const Vship_Colorspace_t& given, std::string* message) {
  VmafxFormat format{};
  *message = lack_of(given);
  if (!message->empty()) return format;
  const Size size = size_of_plane(given, 0);
  format.width = static_cast<int>(size.width);
  format.height = static_cast<int>(size.height);
  format.chroma = given.subsampling.subh   ? VMAFX_CHROMA_420
                  : given.subsampling.subw ? VMAFX_CHROMA_422
                                           : VMAFX_CHROMA_444;
  format.whole_chroma = 1;
  format.bits = is_rgb(given) ? 16 : bits_of(given.sample);
  format.color.matrix = is_rgb(given) ? Vship_MATRIX_BT709 : given.YUVMatrix;
  format.color.range = is_rgb(given) || given.range == Vship_RangeFull ? 2 : 1;
  format.color.transfer = given.transferFunction;
  format.color.primaries = given.primaries;
  format.color.chroma_location = given.chromaLocation + 1;  // theirs begin with 0
  return format;
}

VmafxPicture copy_of(const Vship_Colorspace_t& given, const uint8_t* const planes[3], const int64_t strides[3]) {
  return is_rgb(given) ? converted(given, planes, strides) : copied(given, planes, strides);
}

}  // namespace vship
