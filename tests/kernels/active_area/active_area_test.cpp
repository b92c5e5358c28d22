/* What black bars leave of a picture. */
#include "kernels/active_area/active_area.h"

#include "tests/support/check_main.h"
#include "tests/support/planes.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* A picture of 40x30 samples, gray but for bars of `black`. */
template <class T>
TestPlane<T> picture(const ActiveArea& area, int black, int gray) {
  TestPlane<T> plane(40, 30);
  for (int y = 0; y < 30; y++)
    for (int x = 0; x < 40; x++) {
      const bool inside = x >= area.x && x < area.x + area.w && y >= area.y && y < area.y + area.h;
      plane.at(x, y) = static_cast<T>(inside ? gray : black);
    }
  return plane;
}

template <class T>
void assert_found(TestPlane<T> plane, int bpc, bool full_range, const ActiveArea& want) {
  const ActiveArea got = find_active_area(plane.sample_plane(), bpc, full_range);
  ck_assert_msg(got.x == want.x && got.y == want.y && got.w == want.w && got.h == want.h,
                "%dx%d+%d+%d, not %dx%d+%d+%d", got.w, got.h, got.x, got.y, want.w, want.h, want.x, want.y);
}

constexpr ActiveArea kWhole = {0, 0, 40, 30};

}  // namespace

START_TEST(bars_are_left_out) {
  for (const ActiveArea& area : {kWhole, ActiveArea{0, 4, 40, 20}, ActiveArea{5, 0, 30, 30}, ActiveArea{3, 7, 31, 1}}) {
    assert_found(picture<uint8_t>(area, 16, 100), 8, false, area);
    assert_found(picture<uint8_t>(area, 24, 100), 8, false, area);
    assert_found(picture<uint16_t>(area, 96, 400), 10, false, area);
    assert_found(picture<uint8_t>(area, 8, 100), 8, true, area);
    /* One level above what counts as black. */
    assert_found(picture<uint8_t>(area, 25, 100), 8, false, kWhole);
    assert_found(picture<uint8_t>(area, 9, 100), 8, true, kWhole);
  }
}
END_TEST

START_TEST(black_pictures_are_whole) {
  assert_found(picture<uint8_t>(kWhole, 16, 16), 8, false, kWhole);
  /* Two rows are bright enough, and no column is. */
  TestPlane<uint8_t> plane = picture<uint8_t>(kWhole, 16, 16);
  for (int x = 0; x < 40; x++) plane.at(x, 3) = plane.at(x, 26) = 30;
  assert_found(plane, 8, false, {0, 3, 40, 24});
}
END_TEST

int main() {
  return run_suite("active_area",
                   {{"bars_are_left_out", bars_are_left_out}, {"black_pictures_are_whole", black_pictures_are_whole}});
}
