/* Geometry: parts, borders, shifts and symmetries of painted pictures are found with their numbers, and nothing is said
 * of encodes that show the same. */
#include <functional>

#include "engine/look/geometry.h"
#include "tests/engine/look/painter.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::look;
using namespace vmafx::test;

namespace {

constexpr int kW = 256, kH = 192;

VideoFormat format(int bpc = 8) {
  VideoFormat f;
  f.w = kW;
  f.h = kH;
  f.bpc = bpc;
  f.chroma = Chroma::k444;
  return f;
}

/* Frames about three with profiles, of a camera that moves by `speed` samples per frame. `shown` makes the encode's
 * picture of the canvas and the reference's camera. */
using Shown = std::function<Painted(const Canvas&, const Camera&, Random&)>;
std::vector<Finding> findings_of(uint64_t seed, double speed, const Shown& shown, int bpc = 8) {
  const Canvas canvas(seed);
  Random random(seed + 1000);
  Looking<Geometry> looking(format(bpc));
  for (int64_t detail : {48, 96, 144}) {
    for (int64_t frame = detail - 2; frame <= detail + 2; frame++) {
      const Camera camera{.left = 60 + speed * static_cast<double>(frame), .top = 60};
      looking.add(frame, seen(canvas, camera, kW, kH), shown(canvas, camera, random));
    }
  }
  return looking.finish();
}

/* The part of the picture that begins at `left`, `top` and has w x h samples, scaled to the whole size. */
Painted part(const Canvas& canvas, const Camera& camera, double left, double top, double w, double h) {
  return seen(canvas, {camera.left + left, camera.top + top, w / kW, h / kH}, kW, kH);
}

#define assert_number(finding, name, wanted, within)                                                             \
  ck_assert_msg(std::abs(number(*(finding), name) - (wanted)) <= (within), "seed %d: %s=%g, not %g", seed, name, \
                number(*(finding), name), static_cast<double>(wanted))

constexpr int kSeeds = 5;

}  // namespace

START_TEST(crops_have_their_edges) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const auto crop = [&](double left, double top, double right, double bottom, Kind kind) {
      const auto findings = findings_of(seed, 0.3, [&](const Canvas& canvas, const Camera& camera, Random& random) {
        Painted p = part(canvas, camera, left, top, kW - left - right, kH - top - bottom);
        add_noise(p, 3, random);
        return p;
      });
      const Finding* const f = find(findings, kind);
      ck_assert_msg(f && f->certainty == Certainty::kSure, "seed %d: %g %g %g %g", seed, left, top, right, bottom);
      ck_assert_int_eq(f->from, 46);
      ck_assert_int_eq(f->end, 147);
      return *f;
    };
    const Finding rows = crop(0, 2, 0, 2, Kind::kCropped);
    assert_number(&rows, "top", 2, 0.3);
    assert_number(&rows, "bottom", 2, 0.3);
    ck_assert(std::isnan(number(rows, "left")) && std::isnan(number(rows, "right")));
    const Finding columns = crop(0, 0, 2, 0, Kind::kCropped);
    assert_number(&columns, "right", 2, 0.3);
    ck_assert(std::isnan(number(columns, "left")));
    const Finding much = crop(20, 10, 8, 14, Kind::kCropped);
    assert_number(&much, "left", 20, 0.6);
    assert_number(&much, "right", 8, 0.6);
    const Finding padded = crop(0, 0, 0, -8, Kind::kPadded);
    assert_number(&padded, "bottom", 8 / (1 + 8.0 / kH), 0.4);
  }
}
END_TEST

/* Profiles are rough where an encoder leaves more errors than detail: the edges are right, if not to a fraction. */
START_TEST(crops_of_rough_encodes_have_their_edges) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const auto findings = findings_of(seed, 0.3, [&](const Canvas& canvas, const Camera& camera, Random& random) {
      Painted p = blurred(part(canvas, camera, 10, 8, kW - 20, kH - 16), 4);
      add_noise(p, 40, random);
      return p;
    });
    const Finding* const f = find(findings, Kind::kCropped);
    ck_assert_msg(f && f->certainty >= Certainty::kLikely, "seed %d", seed);
    for (const char* edge : {"left", "right"}) assert_number(f, edge, 10, 2);
    for (const char* edge : {"top", "bottom"}) assert_number(f, edge, 8, 2);
  }
}
END_TEST

START_TEST(shifts_have_their_size) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (double shift : {0.5, 1.0, 3.0, 8.0}) {
      const auto findings = findings_of(seed, 0, [&](const Canvas& canvas, const Camera& camera, Random&) {
        return part(canvas, camera, -shift, shift / 2, kW, kH);
      });
      const Finding* const f = find(findings, Kind::kShifted);
      ck_assert_msg(f && f->certainty != Certainty::kPossible, "seed %d: shift of %g", seed, shift);
      assert_number(f, "x", shift, 0.15);
      if (shift >= 3) assert_number(f, "y", -shift / 2, 0.15);
    }
  }
}
END_TEST

/* Filters and encoders that lag behind a motion have nothing to lag behind in the first frame. */
START_TEST(a_lag_is_no_shift) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const Canvas canvas(seed);
    const auto shift_from = [&](int64_t first) {
      Looking<Geometry> looking(format());
      for (int64_t frame = 0; frame <= 192; frame += kDetailPeriod) {
        const Camera camera{.left = 60, .top = 60};
        looking.add(frame, seen(canvas, camera, kW, kH), part(canvas, camera, frame < first ? 0 : -1, 0, kW, kH));
      }
      return looking.finish();
    };
    ck_assert_msg(find(shift_from(0), Kind::kShifted), "seed %d", seed);
    ck_assert_msg(!find(shift_from(kDetailPeriod), Kind::kShifted), "seed %d", seed);
  }
}
END_TEST

/* An encode that is a frame late shows a pan shifted. */
START_TEST(pans_are_no_shifts) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (double late : {1.0, 0.5, -3.0}) {
      const auto findings = findings_of(seed, 0.6, [&](const Canvas& canvas, const Camera& camera, Random&) {
        return part(canvas, camera, 0.6 * late, 0, kW, kH);
      });
      ck_assert_msg(doubts(findings) == 0, "seed %d: %g frames", seed, late);
    }
  }
}
END_TEST

/* The symmetry as a map of the unit square: where in the reference a place of the encode is. */
/* An encoder that is short of bits shows what was there before the camera turned. One that follows the camera there
 * shows other rows. */
START_TEST(encodes_that_stand_still_are_not_shifted) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (bool follows : {false, true}) {
      const Canvas canvas(seed);
      Looking<Geometry> looking(format());
      for (int64_t detail : {48, 96, 144}) {
        for (int64_t frame = detail - 8; frame <= detail + 8; frame++) {
          const Camera camera{.left = 60 + static_cast<double>(frame - detail), .top = 60};
          Camera shown{.left = 60, .top = 54};
          if (follows) shown.left = camera.left;
          looking.add(frame, seen(canvas, camera, kW, kH), seen(canvas, shown, kW, kH));
        }
      }
      ck_assert_msg(!!find(looking.finish(), Kind::kShifted) == follows, "seed %d", seed);
    }
  }
}
END_TEST

/* Blocks whose level changes from frame to frame, in both pictures by itself: what moves beside them cannot be told
 * from them, and does not say that the encode stands still. */
START_TEST(encodes_that_flicker_do_not_stand_still) {
  constexpr int kBlock = 8;
  const auto flicker = [](Painted& p, Random& random) {
    for (int y = 0; y < kH; y += kBlock) {
      for (int x = 0; x < kW; x += kBlock) {
        const float change = 40 * random() - 20;
        for (int k = 0; k < kBlock * kBlock; k++) p.at(x + k % kBlock, y + k / kBlock)[0] += change;
      }
    }
  };
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const Canvas canvas(seed);
    Random random(seed + 1000);
    Looking<Geometry> looking(format());
    for (int64_t detail : {48, 96, 144}) {
      for (int64_t frame = detail - 8; frame <= detail + 8; frame++) {
        const Camera camera{.left = 60, .top = 60};
        Painted ref = seen(canvas, camera, kW, kH), dist = part(canvas, camera, 0, 0, kW, kH + 8);
        flicker(ref, random);
        flicker(dist, random);
        looking.add(frame, ref, dist);
      }
    }
    const auto findings = looking.finish();
    ck_assert_msg(find(findings, Kind::kPadded), "seed %d", seed);
  }
}
END_TEST

START_TEST(symmetries_are_named) {
  struct Symmetry {
    double x[3], y[3];  // the place is x[0] + x[1] u + x[2] v, likewise y
    std::vector<std::pair<Kind, double>> wanted;
  };
  const Symmetry symmetries[] = {
      {{1, -1, 0}, {0, 0, 1}, {{Kind::kMirrored, 0}}},
      {{0, 1, 0}, {1, 0, -1}, {{Kind::kFlipped, 0}}},
      {{1, -1, 0}, {1, 0, -1}, {{Kind::kRotated, 180}}},
      {{0, 0, 1}, {1, -1, 0}, {{Kind::kRotated, 90}}},
      {{1, 0, -1}, {0, 1, 0}, {{Kind::kRotated, 270}}},
      {{0, 0, 1}, {0, 1, 0}, {{Kind::kMirrored, 0}, {Kind::kRotated, 270}}},
      {{1, 0, -1}, {1, -1, 0}, {{Kind::kMirrored, 0}, {Kind::kRotated, 90}}},
  };
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (const Symmetry& symmetry : symmetries) {
      const auto findings = findings_of(seed, 0.3, [&](const Canvas& canvas, const Camera& camera, Random& random) {
        Painted p{kW, kH, std::vector<Samples>(kW * kH)};
        for (int y = 0; y < kH; y++) {
          for (int x = 0; x < kW; x++) {
            const double u = (x + 0.5) / kW, v = (y + 0.5) / kH;
            p.at(x, y) = canvas.at(camera.left + kW * (symmetry.x[0] + symmetry.x[1] * u + symmetry.x[2] * v) - 0.5,
                                   camera.top + kH * (symmetry.y[0] + symmetry.y[1] * u + symmetry.y[2] * v) - 0.5);
          }
        }
        add_noise(p, 6, random);
        return p;
      });
      ck_assert_int_eq(findings.size(), symmetry.wanted.size());
      for (const auto& [kind, degrees] : symmetry.wanted) {
        const Finding* const f = find(findings, kind);
        ck_assert_msg(f && f->certainty == Certainty::kSure, "seed %d: kind %d", seed, static_cast<int>(kind));
        if (degrees > 0) assert_number(f, "degrees", degrees, 0);
      }
    }
  }
}
END_TEST

/* Borders whose width an encoder does not keep have none that is sure. */
START_TEST(bars_of_several_widths_are_not_sure) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (const int less : {0, 3}) {
      const auto findings = findings_of(seed, 0.3, [&](const Canvas& canvas, const Camera& camera, Random&) {
        Painted p = seen(canvas, camera, kW, kH);
        fill(p, 0, kH - 8 + (camera.left > 80 ? less : 0), kW, kH, {16, 128, 128});
        return p;
      });
      const Finding* const f = find(findings, Kind::kPadded);
      ck_assert_msg(f && (f->certainty == Certainty::kSure) == !less, "seed %d: %d", seed, less);
    }
  }
}
END_TEST

/* Borders are seen, too, where all edges of rows lie in one place, so that nothing else tells of rows. */
START_TEST(bars_of_pictures_without_rows_are_borders) {
  constexpr int kBar = 6;
  const auto columns = [](int from) {
    Painted p{kW, kH, std::vector<Samples>(kW * kH)};
    for (int y = 0; y < kH; y++)
      for (int x = 0; x < kW; x++) p.at(x, y) = {60 + static_cast<float>((x + from) / 12 * 37 % 130), 128, 128};
    return p;
  };
  Looking<Geometry> looking(format());
  for (int64_t frame = 0; frame < 5; frame++) {
    Painted p = columns(static_cast<int>(frame));
    fill(p, 0, kH - kBar, kW, kH, {16, 128, 128});
    looking.add(frame, columns(static_cast<int>(frame)), p);
  }
  const auto findings = looking.finish();
  const Finding* const f = find(findings, Kind::kPadded);
  ck_assert(f && f->certainty == Certainty::kLikely);
  ck_assert_double_eq_tol(number(*f, "bottom"), kBar, 1);
  ck_assert(std::isnan(number(*f, "top")));
}
END_TEST

START_TEST(bars_are_borders_of_one_or_a_note_of_both) {
  constexpr int kBar = 24;
  const auto with_bars = [](Painted p) {
    fill(p, 0, 0, kW, kBar, {16, 128, 128});
    fill(p, 0, kH - kBar, kW, kH, {16, 128, 128});
    return p;
  };
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const auto one = findings_of(seed, 0.3, [&](const Canvas& canvas, const Camera& camera, Random&) {
      return with_bars(seen(canvas, camera, kW, kH));
    });
    const Finding* const padded = find(one, Kind::kPadded);
    ck_assert_msg(padded && padded->certainty != Certainty::kPossible, "seed %d", seed);
    assert_number(padded, "top", kBar, 2);
    assert_number(padded, "bottom", kBar, 2);
    const Canvas canvas(seed);
    Looking<Geometry> looking(format());
    for (int64_t frame : {0, 48, 96}) {
      const Painted p = with_bars(seen(canvas, {.left = 60 + 0.1 * static_cast<double>(frame)}, kW, kH));
      looking.add(frame, p, p);
    }
    const auto both = looking.finish();
    ck_assert_int_eq(doubts(both), 0);
    const Finding* const bars = find(both, Kind::kBars);
    ck_assert(bars);
    assert_number(bars, "top", kBar, 2);
  }
}
END_TEST

/* Encodes that show the same: noise, softness, levels, a logo, subtitles, a scaler, more bits. */
START_TEST(nothing_is_said_of_good_encodes) {
  const int step = every_if_not_all(4) * every_under_sanitizers(6);
  for (int seed = 0; seed < 300; seed += step) {
    const int what = seed / step % 6;
    const double speed = seed % 4 * 0.4;
    const auto findings = findings_of(
        seed, speed,
        [&](const Canvas& canvas, const Camera& camera, Random& random) {
          Painted p = seen(canvas, camera, kW, kH);
          if (what == 1) p = blurred(p, 2);
          if (what == 2) {
            for (Samples& s : p.samples) s[0] = 16 + 0.86F * s[0];
          }
          if (what == 3) fill(p, 200, 12, 240, 40, {235, 128, 128});
          if (what == 4) fill(p, 70, 160, 190, 172, {235, 128, 128});
          if (what == 5) p = part(canvas, camera, 0.1, -0.1, kW, kH);
          add_noise(p, what ? 4 : 20, random);
          return p;
        },
        seed % 2 ? 10 : 8);
    ck_assert_msg(findings.empty(), "seed %d, %d: kind %d", seed, what, static_cast<int>(findings[0].kind));
  }
}
END_TEST

/* In long streams fewer and fewer frames are registered: a crop that begins after a sixth of one. */
START_TEST(long_streams_have_their_crops) {
  constexpr int64_t kDetails = 160;
  Looking<Geometry> looking(format());
  for (int64_t k = 0; k < kDetails; k++) {
    const Canvas canvas(static_cast<uint64_t>(k / 20));
    const Camera camera{.left = 60 + static_cast<double>(k % 20), .top = 60};
    const double cut = k < kDetails / 6 ? 0 : 4;
    looking.add(kDetailPeriod * k, seen(canvas, camera, kW, kH),
                part(canvas, camera, cut, cut, kW - 2 * cut, kH - 2 * cut));
  }
  const auto findings = looking.finish();
  const Finding* const f = find(findings, Kind::kCropped);
  ck_assert(f && f->certainty == Certainty::kSure);
  ck_assert_int_le(std::abs(f->from - kDetailPeriod * (kDetails / 6 + 1)), kDetailPeriod * kDetails / 16);
  for (const char* edge : {"left", "top", "right", "bottom"}) ck_assert_double_eq_tol(number(*f, edge), 4, 0.1);
}
END_TEST

START_TEST(pictures_without_detail_say_nothing) {
  VideoFormat small = format();
  small.w = 64;
  small.h = 36;
  Looking<Geometry> tiny(small), flat(format());
  const Canvas canvas(3);
  for (int64_t frame : {0, 48, 96}) {
    tiny.add(frame, seen(canvas, {}, 64, 36), seen(canvas, {.left = 160}, 64, 36));
    Painted gray{kW, kH, std::vector<Samples>(kW * kH, Samples{90, 128, 128})};
    flat.add(frame, gray, gray);
  }
  ck_assert_int_eq(tiny.finish().size(), 0);
  ck_assert_int_eq(flat.finish().size(), 0);
}
END_TEST

int main() {
  return run_suite("geometry", {{"crops", crops_have_their_edges},
                                {"rough_crops", crops_of_rough_encodes_have_their_edges},
                                {"shifts", shifts_have_their_size},
                                {"lag", a_lag_is_no_shift},
                                {"pans", pans_are_no_shifts},
                                {"still", encodes_that_stand_still_are_not_shifted},
                                {"flicker", encodes_that_flicker_do_not_stand_still},
                                {"symmetries", symmetries_are_named},
                                {"bars", bars_are_borders_of_one_or_a_note_of_both},
                                {"bars_alone", bars_of_pictures_without_rows_are_borders},
                                {"unsure_bars", bars_of_several_widths_are_not_sure},
                                {"good", nothing_is_said_of_good_encodes},
                                {"long", long_streams_have_their_crops},
                                {"flat", pictures_without_detail_say_nothing}});
}
