/* Levels: each way in which samples are changed is named with its numbers, and nothing is said of encodes whose samples
 * mean the same. */
#include <functional>

#include "engine/look/color_mistakes.h"
#include "engine/look/levels.h"
#include "tests/engine/look/painter.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::look;
using namespace vmafx::test;

namespace {

constexpr int kW = 192, kH = 144, kSeeds = 6;

VideoFormat format(int bpc = 8) {
  VideoFormat f;
  f.w = kW;
  f.h = kH;
  f.bpc = bpc;
  f.chroma = Chroma::k444;
  f.color.matrix = 1;
  return f;
}

using Changed = std::function<Samples(const Samples&)>;
/* Changes a whole picture, the n-th. */
using ChangedPicture = std::function<void(Painted&, int, Random&)>;

std::vector<Finding> findings_of(uint64_t seed, const ChangedPicture& prepare, const ChangedPicture& change,
                                 int bpc = 8) {
  const Canvas canvas(seed);
  Random random(seed + 1000);
  Looking<Levels> looking(format(bpc));
  for (int n = 0; n < 8; n++) {
    Painted ref = seen(canvas, {.left = 20.0 + 35 * n, .top = 10.0 + 25 * n}, kW, kH);
    prepare(ref, n, random);
    Painted dist = ref;
    change(dist, n, random);
    add_noise(dist, 4, random);
    looking.add(n % 2 ? 48 * n + 1 : 48 * n, ref, dist);
  }
  return looking.finish();
}

void as_it_is(Painted&, int, Random&) {}

/* Blocks of 8 x 8 with errors of their own, chroma's larger ones. */
void add_blocks(Painted& picture, Random& random) {
  for (int top = 0; top < picture.h; top += 8) {
    for (int left = 0; left < picture.w; left += 8) {
      const Samples error{3 * (random() - 0.5F), 10 * (random() - 0.5F), 10 * (random() - 0.5F)};
      for (int y = top; y < std::min(top + 8, picture.h); y++) {
        for (int x = left; x < std::min(left + 8, picture.w); x++)
          for (int p = 0; p < 3; p++) picture.at(x, y)[p] += error[p];
      }
    }
  }
}

std::vector<Finding> findings_of(uint64_t seed, const Changed& change, int bpc = 8) {
  return findings_of(
      seed, as_it_is,
      [&](Painted& p, int, Random&) {
        for (Samples& s : p.samples) s = change(s);
      },
      bpc);
}

Samples clipped(const std::array<double, 3>& s) {
  Samples result;
  for (int p = 0; p < 3; p++) result[p] = static_cast<float>(std::clamp(s[p], 0.0, 255.0));
  return result;
}

#define assert_found(findings, wanted, how)        \
  const Finding* const f = find(findings, wanted); \
  ck_assert_msg(f && f->certainty >= (how), "seed %d: %d findings", seed, static_cast<int>((findings).size()))

}  // namespace

START_TEST(ranges_are_named) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (bool wider : {false, true}) {
      const double luma = wider ? 255.0 / 219 : 219.0 / 255, chroma = wider ? 255.0 / 224 : 224.0 / 255;
      const auto findings = findings_of(
          seed,
          [&](const Samples& s) {
            return clipped({(s[0] - (wider ? 16 : 0)) * luma + (wider ? 0 : 16), (s[1] - 128) * chroma + 128,
                            (s[2] - 128) * chroma + 128});
          },
          seed % 2 ? 10 : 8);
      assert_found(findings, Kind::kRange, Certainty::kSure);
      ck_assert_double_eq_tol(number(*f, "gain"), luma, 0.01);
      ck_assert_int_eq(findings.size(), 1);
    }
  }
}
END_TEST

/* Encoders that leave no detail flatten the curve of single cells, and keep the levels of areas. Where these say too
 * little, what is said of brightness tells how near a range is. */
START_TEST(ranges_of_blurred_encodes_are_named) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (const auto& [wider, reach] : {std::pair{false, 1}, {true, 1}, {false, 3}, {true, 3}}) {
      const double luma = wider ? 255.0 / 219 : 219.0 / 255, chroma = wider ? 255.0 / 224 : 224.0 / 255;
      const auto change = [&](Painted& p, int, Random&) {
        for (Samples& s : p.samples)
          s = clipped({(s[0] - (wider ? 16 : 0)) * luma + (wider ? 0 : 16), (s[1] - 128) * chroma + 128,
                       (s[2] - 128) * chroma + 128});
        p = blurred(p, reach);
      };
      const auto findings = findings_of(seed, as_it_is, change);
      const Finding* const brightness = find(findings, Kind::kBrightness);
      if (reach == 3 && seed > 0 && !find(findings, Kind::kRange)) {
        ck_assert(findings.empty() || (brightness && findings.size() == 1 && number(*brightness, "range_error") < 1.5));
        continue;
      }
      assert_found(findings, Kind::kRange, Certainty::kLikely);
      ck_assert_double_eq_tol(number(*f, "gain"), luma, 0.045);
    }
    const auto findings = findings_of(seed, as_it_is, [](Painted& p, int, Random&) { p = blurred(p, 3); });
    ck_assert(!find(findings, Kind::kRange));
  }
}
END_TEST

/* Luma alone has the gain of a range: that is a change of contrast. */
START_TEST(contrast_is_no_range) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const auto findings =
        findings_of(seed, [](const Samples& s) { return Samples{16 + s[0] * 219 / 255, s[1], s[2]}; });
    assert_found(findings, Kind::kBrightness, Certainty::kLikely);
    ck_assert(!find(findings, Kind::kRange));
  }
}
END_TEST

/* What an encoder that is short of bits shows has less contrast than the picture, as a guess at it has: the levels of
 * each area follow the reference's by the gain of a range, but the reference's follow them by 1. */
START_TEST(lost_contrast_is_no_range) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const Canvas lost(seed + 100);
    const auto add = [&](Painted& p, int n, float part) {
      const Painted error = blurred(seen(lost, {.left = 25.0 + 30 * n, .top = 15.0 + 20 * n}, kW, kH), 8);
      for (size_t k = 0; k < p.samples.size(); k++)
        for (int c = 0; c < 3; c++) p.samples[k][c] += part * (error.samples[k][c] - (c ? 128 : 114));
    };
    const auto prepare = [&](Painted& p, int n, Random&) {
      p = blurred(p, 8);
      add(p, n, 0.4F);
    };
    const auto findings = findings_of(seed, prepare, [&](Painted& p, int n, Random&) { add(p, n, -0.4F); });
    ck_assert_msg(!find(findings, Kind::kRange), "seed %d", seed);
  }
}
END_TEST

START_TEST(matrices_are_named) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (const ColorMistake& mistake : color_mistakes(format().color)) {
      if (mistake.what != ColorMistake::What::kMatrix) continue;
      const auto findings =
          findings_of(seed, [&](const Samples& s) { return clipped(mistake.apply({s[0], s[1], s[2]})); });
      assert_found(findings, Kind::kMatrix, Certainty::kLikely);
      ck_assert_double_eq(number(*f, "from"), mistake.from);
      ck_assert_double_eq(number(*f, "to"), mistake.to);
      ck_assert_int_eq(findings.size(), 1);
    }
  }
}
END_TEST

/* The errors of an encoder that is short of bits hide chroma's changes, and not those of luma. */
START_TEST(matrices_under_errors_are_named) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (const ColorMistake& mistake : color_mistakes(format().color)) {
      if (mistake.what != ColorMistake::What::kMatrix || mistake.from != 1) continue;
      const auto change = [&](Painted& p, int, Random& random) {
        for (Samples& s : p.samples) s = clipped(mistake.apply({s[0], s[1], s[2]}));
        add_blocks(p, random);
      };
      const auto findings = findings_of(seed, as_it_is, change);
      assert_found(findings, Kind::kMatrix, Certainty::kLikely);
      ck_assert_double_eq(number(*f, "to"), mistake.to);
    }
    const auto good = findings_of(seed, as_it_is, [](Painted& p, int, Random& random) { add_blocks(p, random); });
    ck_assert(!find(good, Kind::kMatrix) && !find(good, Kind::kPrimaries));
  }
}
END_TEST

START_TEST(primaries_are_named) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (const ColorMistake& mistake : color_mistakes(format().color)) {
      if (mistake.what != ColorMistake::What::kPrimaries || mistake.from != 1 || mistake.to < 9) continue;
      const auto findings =
          findings_of(seed, [&](const Samples& s) { return clipped(mistake.apply({s[0], s[1], s[2]})); });
      assert_found(findings, Kind::kPrimaries, Certainty::kPossible);
      ck_assert_double_eq(number(*f, "to"), mistake.to);
    }
  }
}
END_TEST

/* More saturation is no other primaries. */
START_TEST(saturation_is_no_mistake) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (const float gain : {0.8F, 1.15F}) {
      const auto findings = findings_of(
          seed, [&](const Samples& s) { return Samples{s[0], (s[1] - 128) * gain + 128, (s[2] - 128) * gain + 128}; });
      ck_assert_int_eq(findings.size(), 0);
    }
  }
}
END_TEST

/* White of BT.709 is 203 of HLG's 1000 cd/m2. */
START_TEST(hlg_is_named) {
  const auto to_hlg = [](const Samples& s) {
    const double light = 0.203 * light_of(kDisplay, (s[0] - 16) / 219);
    return Samples{static_cast<float>(16 + 219 * sample_of(18, std::pow(light, 1 / 1.2))), s[1], s[2]};
  };
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const auto findings = findings_of(seed, to_hlg);
    assert_found(findings, Kind::kTransfer, Certainty::kLikely);
    ck_assert_double_eq(number(*f, "from"), 1);
    ck_assert_double_eq(number(*f, "to"), 18);
  }
}
END_TEST

START_TEST(planes_that_are_exchanged_or_gray_are_named) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    {
      const auto findings = findings_of(seed, [](const Samples& s) { return Samples{s[0], s[2], s[1]}; });
      assert_found(findings, Kind::kChromaSwapped, Certainty::kSure);
      ck_assert_int_eq(findings.size(), 1);
    }
    const auto findings = findings_of(seed, [](const Samples& s) { return Samples{s[0], s[1], 128}; });
    assert_found(findings, Kind::kGray, Certainty::kSure);
    ck_assert_double_eq(number(*f, "plane"), 2);
    ck_assert_int_eq(findings.size(), 1);
  }
}
END_TEST

/* Levels that span little do not tell the gain of a range from another one. */
START_TEST(brightness_of_few_levels_may_be_a_range) {
  const auto prepare = [](Painted& p, int, Random&) {
    for (Samples& s : p.samples) s[0] = 22 + (s[0] - 22) / 7;
  };
  const auto change = [](Painted& p, int, Random&) {
    for (Samples& s : p.samples) s[0] = 1.1F * s[0] - 17;
  };
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const auto dark = findings_of(seed, prepare, change), light = findings_of(seed, as_it_is, change);
    assert_found(dark, Kind::kBrightness, Certainty::kLikely);
    ck_assert_double_lt(number(*f, "range_error"), 3);
    const Finding* const told = find(light, Kind::kBrightness);
    ck_assert_msg(told && !told->has("range_error"), "seed %d", seed);
  }
}
END_TEST

START_TEST(brightness_has_its_numbers) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    {
      const auto findings =
          findings_of(seed, [](const Samples& s) { return Samples{1.1F * s[0] - 6, s[1], s[2]}; }, 10);
      assert_found(findings, Kind::kBrightness, Certainty::kLikely);
      ck_assert_double_eq_tol(number(*f, "gain"), 1.1, 0.01);
      ck_assert_double_eq_tol(number(*f, "offset"), -6, 1);
    }
    const auto findings =
        findings_of(seed, [](const Samples& s) { return Samples{255 * std::pow(s[0] / 255, 1 / 1.3F), s[1], s[2]}; });
    assert_found(findings, Kind::kBrightness, Certainty::kLikely);
    ck_assert_double_eq_tol(number(*f, "gamma"), 1.3, 0.05);
  }
}
END_TEST

START_TEST(transfers_are_named) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const auto findings = findings_of(seed, [](const Samples& s) {
      const double light = light_of(kDisplay, (s[0] - 16) / 219.0) / 100;
      return Samples{static_cast<float>(16 + 219 * sample_of(16, light)), s[1], s[2]};
    });
    assert_found(findings, Kind::kTransfer, Certainty::kLikely);
    ck_assert_double_eq(number(*f, "to"), 16);
    for (int transfer : {1, kDisplay, 16, 18}) {
      for (double v = 0; v <= 1; v += 0.01)
        ck_assert_double_eq_tol(sample_of(transfer, light_of(transfer, v)), v, 1e-3);
    }
  }
}
END_TEST

/* Noise, softness, a fade, black and white, clipped light, bars, a logo, saturation: no sample means something else. */
START_TEST(nothing_is_said_of_good_encodes) {
  const int step = every_if_not_all(4) * every_under_sanitizers(6);
  for (int seed = 0; seed < 400; seed += step) {
    const int what = seed / step % 8;
    const auto prepare = [&](Painted& p, int n, Random& random) {
      if (what == 5) add_noise(p, 20, random);
      for (Samples& s : p.samples) {
        if (what == 1) s[0] = 16 + (s[0] - 16) * static_cast<float>(n + 1) / 8;
        if (what == 2) s = {s[0], 128, 128};
        if (what == 3) s[0] = std::clamp(2 * s[0] - 128, 16.0F, 235.0F);
      }
      if (what == 4) fill(p, 0, 0, kW, 24, {16, 128, 128});
    };
    const auto change = [&](Painted& p, int, Random& random) {
      if (what == 0) p = blurred(p, 2);
      if (what == 6) fill(p, 150, 8, 184, 30, {235, 90, 200});
      if (what == 7) add_noise(p, 20, random);
    };
    const auto findings = findings_of(seed, prepare, change, seed % 2 ? 10 : 8);
    ck_assert_msg(findings.empty(), "seed %d, %d: kind %d", seed, what, static_cast<int>(findings[0].kind));
  }
}
END_TEST

/* Levels that span too little for a gain. */
START_TEST(dark_pictures_that_are_all_brighter_are_told) {
  const auto darken = [](Painted& p, int, Random&) {
    for (Samples& s : p.samples) s[0] = 24 + s[0] * 16 / 255;
  };
  const int seed = 2;
  for (const float more : {0.0F, 1.0F, 6.0F, -6.0F}) {
    const auto brighten = [&](Painted& p, int, Random&) {
      for (Samples& s : p.samples) s[0] += more;
    };
    const auto findings = findings_of(seed, darken, brighten);
    if (std::abs(more) <= 1) {
      ck_assert(findings.empty());
      continue;
    }
    assert_found(findings, Kind::kBrightness, Certainty::kLikely);
    ck_assert_double_eq_tol(number(*f, "offset"), more, 0.5);
  }
}
END_TEST

/* A page of text with one colored picture. */
void page_with_a_picture(Painted& p, int x) {
  for (Samples& s : p.samples) s[1] = s[2] = 128;
  fill(p, x, 20, x + 40, 60, {120, 160, 100});
}

START_TEST(gray_spots_are_found) {
  for (const float kept : {0.0F, 1.0F}) {
    const auto findings = findings_of(
        1, [](Painted& p, int, Random&) { page_with_a_picture(p, 20); },
        [&](Painted& p, int, Random&) {
          for (Samples& s : p.samples)
            for (int k = 1; k < 3; k++) s[k] = 128 + kept * (s[k] - 128);
        });
    ck_assert(!!find(findings, Kind::kGray) == (kept == 0));
  }
}
END_TEST

/* An encoder that errs in luma by more than a faint color deviates may have left all of that color out. */
START_TEST(faint_colors_that_an_encoder_leaves_out_are_not_gray) {
  const auto is_gray = [](float saturation, float error) {
    const auto prepare = [&](Painted& p, int, Random&) {
      for (Samples& s : p.samples)
        for (int k = 1; k < 3; k++) s[k] = 128 + saturation * (s[k] - 128);
    };
    const auto change = [&](Painted& p, int, Random& random) {
      for (int top = 0; top < p.h; top += 24) {
        for (int left = 0; left < p.w; left += 24) {
          const float changed = 2 * error * (random() - 0.5F);
          for (int y = top; y < top + 24; y++)
            for (int x = left; x < left + 24; x++) p.at(x, y) = {p.at(x, y)[0] + changed, 128, 128};
        }
      }
    };
    const auto findings = findings_of(1, prepare, change);
    return find(findings, Kind::kGray) != nullptr;
  };
  ck_assert(is_gray(0.18F, 2));
  ck_assert(!is_gray(0.18F, 16));
  ck_assert(is_gray(1, 16));
}
END_TEST

START_TEST(colors_in_another_place_are_not_gray) {
  const auto findings = findings_of(
      1, [](Painted& p, int, Random&) { page_with_a_picture(p, 20); },
      [](Painted& p, int, Random&) { page_with_a_picture(p, 100); });
  ck_assert(!find(findings, Kind::kGray));
}
END_TEST

int main() {
  return run_suite("levels", {{"gray_spots", gray_spots_are_found},
                              {"colors_elsewhere", colors_in_another_place_are_not_gray},
                              {"faint_colors", faint_colors_that_an_encoder_leaves_out_are_not_gray},
                              {"range", ranges_are_named},
                              {"range_of_blurred", ranges_of_blurred_encodes_are_named},
                              {"contrast", contrast_is_no_range},
                              {"lost_contrast", lost_contrast_is_no_range},
                              {"matrix", matrices_are_named},
                              {"matrix_under_errors", matrices_under_errors_are_named},
                              {"primaries", primaries_are_named},
                              {"saturation", saturation_is_no_mistake},
                              {"hlg", hlg_is_named},
                              {"planes", planes_that_are_exchanged_or_gray_are_named},
                              {"dark", dark_pictures_that_are_all_brighter_are_told},
                              {"few_levels", brightness_of_few_levels_may_be_a_range},
                              {"brightness", brightness_has_its_numbers},
                              {"transfer", transfers_are_named},
                              {"good", nothing_is_said_of_good_encodes}});
}
