/* Linear light of whole pictures, for definitions: planes of floats, one step after the other. Not for Highway
 * sources. */
#ifndef VMAFX_KERNELS_STEPS_PICTURE_LIGHT_PLAIN_H
#define VMAFX_KERNELS_STEPS_PICTURE_LIGHT_PLAIN_H

#include <algorithm>
#include <cstddef>

#include "base/picture.h"
#include "kernels/steps/picture_light-inl.h"

namespace vmafx {

struct PictureSize {
  int w, h;
  size_t at(int x, int y) const { return static_cast<size_t>(y) * w + x; }
  size_t samples() const { return static_cast<size_t>(w) * h; }
};

/* Planes without gaps, each with room for the largest picture. */
struct FloatPlanes {
  float* plane(int p) const { return floats + p * plane_floats; }
  float* floats;
  size_t plane_floats;
};

/* take(x, y, i): of each sample, row by row, with its place in a plane. */
template <class Take>
void for_samples(const PictureSize& size, Take take) {
  for (int y = 0; y < size.h; y++)
    for (int x = 0; x < size.w; x++) take(x, y, size.at(x, y));
}

template <bool hdr, class T>
void light_up_samples(const PictureLight& params, const Picture& picture, const FloatPlanes& memory, int first) {
  for_samples({params.w, params.h}, [&](int x, int y, size_t i) {
    const Light light = light_at<hdr>(params, x, y, [&](int p, int at) { return picture.plane[p].as<T>().row(at); });
    memory.plane(first)[i] = light.r;
    memory.plane(first + 1)[i] = light.g;
    memory.plane(first + 2)[i] = light.b;
  });
}

/* Into the planes first, first + 1 and first + 2: r, g, b. */
template <bool hdr>
void light_up(const PictureLight& params, const Picture& picture, const FloatPlanes& memory, int first) {
  if (params.bpc == 8) light_up_samples<hdr, uint8_t>(params, picture, memory, first);
  else light_up_samples<hdr, uint16_t>(params, picture, memory, first);
}

/* Halves a plane in place: samples are read before they are overwritten. */
inline void halve(float* plane, const PictureSize& from, const PictureSize& to) {
  for_samples(to, [&](int x, int y, size_t i) {
    const int right = std::min(2 * x + 1, from.w - 1), below = std::min(2 * y + 1, from.h - 1);
    plane[i] = mean_of_4(plane[from.at(2 * x, 2 * y)], plane[from.at(right, 2 * y)], plane[from.at(2 * x, below)],
                         plane[from.at(right, below)]);
  });
}

}  // namespace vmafx

#endif
