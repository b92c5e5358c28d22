#include "engine/frames/input_format.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

namespace vmafx {
namespace {

constexpr int kLargestSide = 1 << 16;  // keeps every count of samples and every sum below 2^32 per plane

/* The number that an application wrote there; the enum may not have it. */
template <class Enum>
int number(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int n;
  std::memcpy(&n, &value, sizeof n);
  return n;
}

int code_point(int given) { return given > 0 ? given : Color::kUnspecified; }

/* The enumerator with this number, or the first one if there is none. */
template <class Enum>
Enum enumerator(int given, Enum last) {
  return given < 0 || given > static_cast<int>(last) ? Enum{} : static_cast<Enum>(given);
}

Status check(const VmafxFormat& format, const char* role) {
  if (format.width < 1 || format.height < 1 || format.width > kLargestSide || format.height > kLargestSide)
    return error(EINVAL, "the %s input is %dx%d; sizes from 1 to %d can be scored", role, format.width, format.height,
                 kLargestSide);
  if (format.bits < 8 || format.bits > 16)
    return error(EINVAL, "the %s input has %d bits per sample; 8 to 16 can be scored", role, format.bits);
  if (format.shift < 0 || format.shift + format.bits > 16 || (format.bits == 8 && format.shift))
    return error(EINVAL, "the %s input has %d-bit samples shifted by %d, which does not fit its words", role,
                 format.bits, format.shift);
  if (!(format.fps >= 0) || std::isinf(format.fps))
    return error(EINVAL, "the %s input has %g frames per second; 0 says that it is not known", role, format.fps);
  const int chroma = number(format.chroma), layout = number(format.layout), memory = number(format.memory);
  if (chroma < VMAFX_CHROMA_400 || chroma > VMAFX_CHROMA_444)
    return error(EINVAL, "the %s input has a chroma subsampling of an unknown kind (%d)", role, chroma);
  if (layout < VMAFX_LAYOUT_PLANAR || layout > VMAFX_LAYOUT_SEMIPLANAR)
    return error(EINVAL, "the %s input has a layout of an unknown kind (%d)", role, layout);
  if (memory < VMAFX_MEMORY_HOST || memory > VMAFX_MEMORY_OPAQUE)
    return error(EINVAL, "the %s input is in memory of an unknown kind (%d)", role, memory);
  return {};
}

}  // namespace

Color described_color(const VmafxColor& color) {
  return {.matrix = code_point(color.matrix),
          .transfer = code_point(color.transfer),
          .primaries = code_point(color.primaries),
          .range = enumerator(color.range, Color::Range::kFull),
          .chroma_location = enumerator(color.chroma_location, Color::ChromaLocation::kBottom)};
}

StatusOr<InputFormat> InputFormat::make(const VmafxFormat& given, const char* role) {
  VMAFX_TRY(check(given, role));
  InputFormat input{.given = given, .role = role, .name = given.name ? given.name : role};
  input.scored = {
      given.width, given.height,           given.bits, static_cast<Chroma>(given.chroma), described_color(given.color),
      given.fps,   given.whole_chroma != 0};
  if (given.pci_address) input.pci_address = given.pci_address;
  if (given.device_uuid) std::copy_n(given.device_uuid, 16, input.device_uuid.emplace().begin());
  input.given.pci_address = nullptr;
  input.given.device_uuid = nullptr;
  for (int p = 0; p < input.scored.planes(); p++) {
    const bool interleaved = p && given.layout == VMAFX_LAYOUT_SEMIPLANAR;
    input.plane[p] = {.source = interleaved ? 1 : p,
                      .w = input.scored.plane_w(p),
                      .h = input.scored.plane_h(p),
                      .sample_bytes = given.bits > 8 ? 2 : 1,
                      .step = interleaved ? 2 : 1,
                      .first = interleaved ? p - 1 : 0,
                      .shift = given.shift};
  }
  return input;
}

std::string sample_name(const VideoFormat& format) {
  constexpr const char* kNames[] = {"gray", "yuv420p", "yuv422p", "yuv444p"};
  return kNames[static_cast<int>(format.chroma)] + (format.bpc > 8 ? std::to_string(format.bpc) : "");
}

std::vector<std::string> differences(const InputFormat& ref, const InputFormat& dist) {
  std::vector<std::string> sentences;
  const VideoFormat &r = ref.scored, &d = dist.scored;
  const auto add_size = [&](const char* name, int of_dist, int of_ref) {
    if (of_dist != of_ref)
      sentences.push_back(format_text("input %s must match. (%s is %d, %s %d)", name, dist.name.c_str(), of_dist,
                                      ref.name.c_str(), of_ref));
  };
  add_size("width", d.w, r.w);
  add_size("height", d.h, r.h);
  if (d.bpc != r.bpc || d.chroma != r.chroma)
    sentences.push_back(format_text("input pix_fmt must match. (%s is %s, %s %s; the format filter converts)",
                                    dist.name.c_str(), sample_name(d).c_str(), ref.name.c_str(),
                                    sample_name(r).c_str()));
  else if (d.w == r.w && d.h == r.h && (d.plane_w(1) != r.plane_w(1) || d.plane_h(1) != r.plane_h(1)))
    sentences.push_back(
        format_text("input chroma must match. (of %s it is %dx%d, of %s %dx%d; set whole_chroma of both)",
                    dist.name.c_str(), d.plane_w(1), d.plane_h(1), ref.name.c_str(), r.plane_w(1), r.plane_h(1)));
  return sentences;
}

}  // namespace vmafx
