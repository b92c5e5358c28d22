/* Chroma's place: chroma that lies elsewhere is told from a picture that does, to a part of a sample; and pictures of
 * one field are told from such that were moved. */
#include <functional>
#include <utility>

#include "engine/look/chroma_place.h"
#include "engine/look/lost_field.h"
#include "tests/engine/look/painter.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::look;
using namespace vmafx::test;

namespace {

constexpr int kW = 320, kH = 180, kSeeds = 8, kPairs = 4;

VideoFormat format(int bpc) {
  VideoFormat f;
  f.w = kW;
  f.h = kH;
  f.bpc = bpc;
  f.chroma = Chroma::k444;
  return f;
}

Camera camera_at(int pair) { return {.left = 20.0 + 35 * pair, .top = 10.0 + 25 * pair}; }

/* The n-th picture, whose luma and chroma lie so much further right and down. */
Painted shifted(const Canvas& canvas, int n, double luma_x, double luma_y, double chroma_x, double chroma_y) {
  const auto moved = [&](double x, double y) {
    Camera camera = camera_at(n);
    camera.left -= x;
    camera.top -= y;
    return seen(canvas, camera, kW, kH);
  };
  Painted picture = moved(luma_x, luma_y);
  const Painted chroma = moved(chroma_x, chroma_y);
  for (size_t i = 0; i < picture.samples.size(); i++)
    for (int p = 1; p < 3; p++) picture.samples[i][p] = chroma.samples[i][p];
  return picture;
}

/* The picture with this part of its color. */
Painted with_color(Painted picture, float part) {
  for (Samples& s : picture.samples)
    for (int p = 1; p < 3; p++) s[p] = 128 + (s[p] - 128) * part;
  return picture;
}

using Made = std::function<Painted(const Canvas&, int)>;

std::vector<Finding> findings_of(uint64_t seed, const Made& make, int bpc = 8, float noise = 4, float color = 1) {
  const Canvas canvas(seed);
  Random random(seed + 1000);
  const auto place = std::make_unique<ChromaPlace>(format(bpc));
  for (int n = 0; n < kPairs; n++) {
    Painted dist = make(canvas, n);
    add_noise(dist, noise, random);
    const auto sums = std::make_unique<SignatureSums>();
    sums->ref = signature_of(with_color(seen(canvas, camera_at(n), kW, kH), color), bpc, true);
    sums->dist = signature_of(dist, bpc, true);
    place->add(kDetailPeriod * n, *sums);
  }
  return place->finish();
}

}  // namespace

START_TEST(chroma_that_lies_elsewhere_is_found) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (const double samples : {0.25, -0.5, 1.0, -2.0, 4.0}) {
      for (const bool down : {false, true}) {
        const auto make = [&](const Canvas& canvas, int n) {
          return shifted(canvas, n, 0, 0, down ? 0 : samples, down ? samples : 0);
        };
        const auto findings = findings_of(seed, make, seed % 2 ? 10 : 8);
        ck_assert_msg(findings.size() == 1, "seed %d: %g not found", seed, samples);
        ck_assert(findings[0].kind == Kind::kChromaShifted && findings[0].certainty != Certainty::kPossible);
        ck_assert_double_eq_tol(number(findings[0], down ? "y" : "x"), samples, 0.15);
        ck_assert(std::isnan(number(findings[0], down ? "x" : "y")));
      }
    }
  }
}
END_TEST

/* Good encodes are moved as a whole, softer, noisy, duller or brighter. */
START_TEST(nothing_is_said_of_good_encodes) {
  const Made all[] = {[](const Canvas& canvas, int n) { return shifted(canvas, n, 0.5, 0.25, 0.5, 0.25); },
                      [](const Canvas& canvas, int n) { return blurred(shifted(canvas, n, 0, 0, 0, 0), 1); },
                      [](const Canvas& canvas, int n) { return shifted(canvas, n, 0, 0, 0, 0); },
                      [](const Canvas& canvas, int n) {
                        Painted picture = shifted(canvas, n, 0, 0, 0, 0);
                        for (Samples& s : picture.samples)
                          s = {s[0] * 0.9F + 20, (s[1] - 128) * 0.8F + 128, (s[2] - 128) * 0.8F + 128};
                        return picture;
                      }};
  for (int seed = 0; seed < 40; seed += every_if_not_all(8)) {
    const auto findings = findings_of(seed, all[seed / every_if_not_all(8) % 4], 8, seed % 3 == 2 ? 30 : 4);
    ck_assert_msg(findings.empty(), "seed %d", seed);
  }
}
END_TEST

/* Encoders that leave chroma where it was have nothing to leave in the first picture. */
START_TEST(chroma_that_lags_says_nothing) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (const double samples : {0.5, 3.0}) {
      const auto make = [&](const Canvas& canvas, int n) { return shifted(canvas, n, 0, 0, n ? samples : 0, 0); };
      ck_assert_msg(findings_of(seed, make).empty(), "seed %d: %g", seed, samples);
    }
  }
}
END_TEST

/* A displacement that frames contradict is what an encoder made of each, and a small one that is less in the first
 * frame is chroma that lags. */
START_TEST(frames_that_contradict_say_nothing) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (const auto& [even, odd] : {std::pair{0.5, -0.1}, {-0.6, 0.15}}) {
      for (const bool down : {false, true}) {
        const auto make = [&](const Canvas& canvas, int n) {
          const double samples = n % 2 ? odd : even;
          return shifted(canvas, n, 0, 0, down ? 0 : samples, down ? samples : 0);
        };
        ck_assert_msg(findings_of(seed, make).empty(), "seed %d: %g and %g", seed, even, odd);
      }
    }
    const auto lags = [](const Canvas& canvas, int n) { return shifted(canvas, n, 0, 0, 0, n ? 0.3 : 0.165); };
    ck_assert_msg(findings_of(seed, lags).empty(), "seed %d", seed);
  }
}
END_TEST

/* Planes without color on one side have no place, nor has what an encoder leaves of edges there. */
START_TEST(gray_says_nothing) {
  for (const float part : {0.F, 0.06F}) {
    const auto gray = [&](const Canvas& canvas, int n) { return with_color(shifted(canvas, n, 0, 0, -4, 0), part); };
    for (const int bpc : {8, 10}) ck_assert_msg(findings_of(1, gray, bpc, 0).empty(), "%d bits, %g", bpc, part);
  }
}
END_TEST

/* Nor do those that are nearly gray: their edges are what an encoder makes. */
START_TEST(nearly_gray_says_nothing) {
  const auto places_with = [](float part) {
    const auto dull = [&](const Canvas& canvas, int n) { return with_color(shifted(canvas, n, 0, 0, 0, 4), part); };
    return findings_of(1, dull, 10, 0, part);
  };
  ck_assert(!places_with(0.2F).empty());
  ck_assert(places_with(0.01F).empty());
}
END_TEST

/* Edges and a texture, which do not move. */
Painted textured(const Canvas& canvas, int n) {
  Painted picture = shifted(canvas, n, 0, 0, 0, 0);
  Random random(static_cast<uint64_t>(n));
  add_noise(picture, 40, random);
  return picture;
}

/* One field, scaled to the size of the frame. */
Painted of_one_field(const Painted& frame) {
  Painted picture = frame;
  for (int y = 0; y < kH; y++) {
    const int near = y / 2 * 2, other = std::clamp(y % 2 ? near + 2 : near - 2, 0, kH - 2);
    for (int x = 0; x < kW; x++)
      for (int p = 0; p < 3; p++) picture.at(x, y)[p] = 0.75F * frame.at(x, near)[p] + 0.25F * frame.at(x, other)[p];
  }
  return picture;
}

START_TEST(a_lost_field_is_found) {
  const SmallShift still{.samples = 0, .error = 0.01}, half{.samples = 0.5, .error = 0.02};
  const SmallShift quarter{.samples = 0.25, .error = 0.02}, unknown{};
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const Canvas canvas(seed);
    LostField lost, kept, soft;
    for (int n = 0; n < kPairs; n++) {
      const Painted ref = textured(canvas, n);
      const auto add = [&](LostField& field, const Painted& dist) {
        const auto sums = std::make_unique<SignatureSums>();
        sums->ref = signature_of(ref, 8, true);
        sums->dist = signature_of(dist, 8, true);
        field.add(kDetailPeriod * n, *sums);
      };
      add(lost, of_one_field(ref));
      add(kept, ref);
      add(soft, blurred(ref, 1));
    }
    for (const SmallShift& chroma : {quarter, unknown}) {
      const auto found = lost.find(still, half, chroma);
      ck_assert_msg(found && found->kind == Kind::kFieldsDropped, "seed %d", seed);
      ck_assert(!kept.find(still, half, chroma) && !soft.find(still, half, chroma));
      ck_assert(!lost.find(still, still, chroma) && !lost.find(half, half, chroma));
    }
    /* Rows of text that scroll have no place, but chroma has. */
    const auto by_chroma = lost.find(still, still, half);
    ck_assert_msg(by_chroma && by_chroma->kind == Kind::kFieldsDropped, "seed %d", seed);
    ck_assert(!kept.find(still, still, half) && !soft.find(still, still, half));
    /* Chroma that moves with luma is a picture that was moved. */
    ck_assert(!lost.find(still, half, still));
  }
}
END_TEST

int main() {
  return run_suite("chroma_place", {{"elsewhere", chroma_that_lies_elsewhere_is_found},
                                    {"good", nothing_is_said_of_good_encodes},
                                    {"lag", chroma_that_lags_says_nothing},
                                    {"contradict", frames_that_contradict_say_nothing},
                                    {"gray", gray_says_nothing},
                                    {"nearly_gray", nearly_gray_says_nothing},
                                    {"lost_field", a_lost_field_is_found}});
}
