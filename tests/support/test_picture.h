/* Test pictures: those of TestPlane, filled likewise, and a pair that programs of others have scored. */
#ifndef VMAFX_TESTS_SUPPORT_TEST_PICTURE_H
#define VMAFX_TESTS_SUPPORT_TEST_PICTURE_H

#include <cstdlib>
#include <vector>

#include "tests/support/planes.h"

namespace vmafx::test {

template <class T>
class TestPicture {
 public:
  explicit TestPicture(const VideoFormat& format, bool may_be_upside_down = true) : bpc_(format.bpc) {
    for (int p = 0; p < format.planes(); p++)
      planes_.emplace_back(format.plane_w(p), format.plane_h(p), (p + format.w) % 5, p,
                           may_be_upside_down && (p + format.h) % 3 == 1);
  }
  TestPlane<T>& plane(int p) { return planes_[p]; }
  int planes() const { return static_cast<int>(planes_.size()); }
  Picture view() {
    Picture picture = {.bpc = bpc_, .plane = {}};
    for (int p = 0; p < planes(); p++) picture.plane[p] = planes_[p].sample_plane();
    return picture;
  }

 private:
  int bpc_;
  std::vector<TestPlane<T>> planes_;
};

template <class T>
void fill(TestPicture<T>& picture, Fill how, int bpc, uint32_t seed) {
  for (int p = 0; p < picture.planes(); p++) picture.plane(p).fill(how, bpc, seed + p);
}

/* Triangular waves, and the same in steps of eight 256ths with bright columns. */
inline int wave(int at, int height) { return std::abs(at % (2 * height) - height); }

template <class T>
void fill_waves(TestPicture<T>& ref, TestPicture<T>& dist, const VideoFormat& format) {
  for (int p = 0; p < format.planes(); p++)
    for (int y = 0; y < format.plane_h(p); y++)
      for (int x = 0; x < format.plane_w(p); x++) {
        const int value = (p ? 88 : 40) + wave(3 * x + y + 19 * p, p ? 40 : 90) + wave(5 * y + 2 * x, p ? 30 : 60);
        const int worse = (value & ~7) + (x % 9 == 4 ? 9 : 3);
        ref.plane(p).at(x, y) = static_cast<T>(value << (format.bpc - 8));
        dist.plane(p).at(x, y) = static_cast<T>(worse << (format.bpc - 8));
      }
}

}  // namespace vmafx::test

#endif
