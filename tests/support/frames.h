/* Test frames for assert_device_agrees(). */
#ifndef VMAFX_TESTS_SUPPORT_FRAMES_H
#define VMAFX_TESTS_SUPPORT_FRAMES_H

#include <vector>

#include "tests/support/device.h"
#include "tests/support/planes.h"

namespace vmafx::test {

/* Frames of samples of T. Planes take their fills in turn: of the first frame those of ref, then of dist, then the next
 * frame. */
template <class T>
class TestFrames {
 public:
  TestFrames(const VideoFormat& format, int count, const std::vector<Fill>& fills) {
    planes_.reserve(static_cast<size_t>(count) * 6);
    for (int i = 0; i < count; i++) {
      pairs_.emplace_back();
      for (Picture* picture : {&pairs_.back().ref, &pairs_.back().dist}) {
        picture->bpc = format.bpc;
        for (int p = 0; p < format.planes(); p++) {
          const size_t n = planes_.size();
          auto& plane = planes_.emplace_back(format.plane_w(p), format.plane_h(p), static_cast<int>(n % 5));
          plane.fill(fills[n % fills.size()], format.bpc, static_cast<uint32_t>(n));
          picture->plane[p] = plane.sample_plane();
        }
      }
    }
  }

  const std::vector<PicturePair>& pairs() const { return pairs_; }

 private:
  std::vector<TestPlane<T>> planes_;
  std::vector<PicturePair> pairs_;
};

}  // namespace vmafx::test

#endif
