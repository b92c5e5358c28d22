#include "bench/clip.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "bench/die.h"

namespace bench {
namespace {

uint32_t scrambled(uint32_t v) {
  v = (v ^ (v >> 16)) * 0x7FEB352Du;
  v = (v ^ (v >> 15)) * 0x846CA68Bu;
  return v ^ (v >> 16);
}

/* Smooth noise, 0..65535: random values at the corners of cells of 2^cell_log2 samples, linear in between. */
int smooth_noise(uint32_t x, uint32_t y, int cell_log2, uint32_t seed) {
  const uint32_t size = 1u << cell_log2, fx = x & (size - 1), fy = y & (size - 1);
  const auto corner = [&](uint32_t dx, uint32_t dy) {
    return scrambled(((x >> cell_log2) + dx) * 0x9E3779B1u + ((y >> cell_log2) + dy) * 0x85EBCA6Bu + seed) >> 16;
  };
  const uint64_t top = corner(0, 0) * (size - fx) + corner(1, 0) * fx;
  const uint64_t bottom = corner(0, 1) * (size - fx) + corner(1, 1) * fx;
  return static_cast<int>((top * (size - fy) + bottom * fy) >> (2 * cell_log2));
}

/* Moves by (3, 1) samples a frame. */
int reference_sample(int plane, int x, int y, int frame) {
  const uint32_t mx = x + 3 * frame, my = y + frame, seed = 1000 * plane;
  const int texture =
      smooth_noise(mx, my, 6, seed) / 2 + smooth_noise(mx, my, 4, seed + 1) / 4 + smooth_noise(mx, my, 2, seed + 2) / 8;
  const int grain = static_cast<int>(scrambled(mx * 31 + my * 17 + frame * 1013 + plane) & 1023);
  return 4096 + texture * 7 / 8 + grain;
}

/* A horizontal blur, then steps of 6/256 of the range. */
int distorted_sample(int plane, int x, int y, int frame) {
  constexpr int kStep = 6 * 256;
  const int blurred = (reference_sample(plane, x - 1, y, frame) + 2 * reference_sample(plane, x, y, frame) +
                       reference_sample(plane, x + 1, y, frame)) /
                      4;
  return std::min(blurred / kStep * kStep + kStep / 2, 65535);
}

}  // namespace

Clip Clip::reference(const ClipFormat& format) { return Clip(format, reference_sample); }
Clip Clip::distorted(const ClipFormat& format) { return Clip(format, distorted_sample); }

Clip::Clip(const ClipFormat& format) : format_(format) {
  if (!format.distinct || format.distinct > format.frames) format_.distinct = format.frames;
}

Clip::Clip(const ClipFormat& format, Sample sample) : Clip(format) {
  for (int frame = 0; frame < format_.distinct; frame++)
    for (int p = 0; p < 3; p++) add_plane(p, frame, sample);
}

Clip Clip::read(const ClipFormat& format, const std::string& path) {
  Clip clip(format);
  std::ifstream file(path, std::ios::binary);
  for (int frame = 0; frame < clip.format_.distinct; frame++)
    for (int p = 0; p < 3; p++) {
      auto& plane = clip.new_plane(p);
      if (!file.read(reinterpret_cast<char*>(plane.data()), static_cast<std::streamsize>(plane.size())))
        die(path + " has no frame " + std::to_string(frame) + " of that size and depth; see --size, --bits, --frames");
    }
  return clip;
}

std::vector<uint8_t>& Clip::new_plane(int p) {
  return planes_.emplace_back(static_cast<size_t>(plane_w(p)) * plane_h(p) * sample_bytes());
}

void Clip::add_plane(int p, int frame, Sample sample) {
  uint8_t* out = new_plane(p).data();
  for (int y = 0; y < plane_h(p); y++)
    for (int x = 0; x < plane_w(p); x++, out += sample_bytes()) {
      const uint16_t value = static_cast<uint16_t>(sample(p, x, y, frame) >> (16 - format_.bits));
      if (format_.bits > 8) std::memcpy(out, &value, 2);
      else *out = static_cast<uint8_t>(value);
    }
}

std::span<const std::vector<uint8_t>, 3> Clip::planes(int frame) const {
  return std::span<const std::vector<uint8_t>, 3>(&planes_[3 * (frame % format_.distinct)], 3);
}

VmafxPicture Clip::picture(int frame) const {
  VmafxPicture picture = {};
  for (int p = 0; p < 3; p++) {
    picture.data[p] = planes(frame)[p].data();
    picture.stride[p] = static_cast<ptrdiff_t>(plane_w(p)) * sample_bytes();
  }
  return picture;
}

VmafxPicture Clip::copy(int frame, std::vector<uint8_t>& memory) const {
  VmafxPicture picture = this->picture(frame);
  size_t bytes = 0;
  for (const auto& plane : planes(frame)) bytes += plane.size();
  memory.resize(bytes);
  uint8_t* to = memory.data();
  for (int p = 0; p < 3; p++) {
    const auto& plane = planes(frame)[p];
    std::memcpy(to, plane.data(), plane.size());
    picture.data[p] = to;
    to += plane.size();
  }
  return picture;
}

bool Clip::write(const std::string& path) const {
  std::ofstream file(path, std::ios::binary);
  for (int frame = 0; frame < format_.frames; frame++)
    for (const auto& plane : planes(frame)) file.write(reinterpret_cast<const char*>(plane.data()), plane.size());
  return static_cast<bool>(file.flush());
}

}  // namespace bench
