/* Structure: pictures of two moments are told from those of one, and the order of their fields. */
#include <functional>

#include "engine/look/structure.h"
#include "tests/engine/look/painter.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::look;
using namespace vmafx::test;

namespace {

constexpr int kW = 192, kH = 144, kSeeds = 4;
constexpr int64_t kFrames = 60;

VideoFormat format() {
  VideoFormat f;
  f.w = kW;
  f.h = kH;
  f.chroma = Chroma::k444;
  return f;
}

Camera camera_at(double time) { return {.left = 40 + 2.6 * time, .top = 60 + 4 * std::sin(time / 5)}; }

Painted at(const Canvas& canvas, double time) { return seen(canvas, camera_at(time), kW, kH); }

/* Even rows of one moment, odd ones of another. */
Painted woven(const Canvas& canvas, double even, double odd) {
  Painted p = at(canvas, even);
  const Painted other = at(canvas, odd);
  for (int y = 1; y < kH; y += 2) {
    for (int x = 0; x < kW; x++) p.at(x, y) = other.at(x, y);
  }
  return p;
}

using Shown = std::function<Painted(const Canvas&, double)>;
std::vector<Finding> findings_of(uint64_t seed, const Shown& ref, const Shown& dist, float noise = 3) {
  const Canvas canvas(seed);
  Random random(seed + 1000);
  Looking<Structure> looking(format());
  for (int64_t frame = 0; frame < kFrames; frame++) {
    const auto time = static_cast<double>(frame);
    Painted p = dist(canvas, time);
    add_noise(p, noise, random);
    looking.add(frame, ref(canvas, time), p);
  }
  return looking.finish();
}

Painted whole(const Canvas& canvas, double time) { return at(canvas, time); }
Painted top_first(const Canvas& canvas, double time) { return woven(canvas, time, time + 0.5); }
Painted bottom_first(const Canvas& canvas, double time) { return woven(canvas, time + 0.5, time); }

Painted doubled(const Canvas& canvas, double time) {
  Painted p = at(canvas, time);
  for (int y = 0; y + 1 < kH; y += 2) {
    for (int x = 0; x < kW; x++) p.at(x, y + 1) = p.at(x, y);
  }
  return p;
}

}  // namespace

START_TEST(combing_is_found_in_the_one_that_has_it) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    for (const auto& combed : {top_first, bottom_first}) {
      const auto one = findings_of(seed, whole, combed), other = findings_of(seed, combed, whole);
      ck_assert_msg(one.size() == 1 && other.size() == 1, "seed %d: %zu, %zu findings", seed, one.size(), other.size());
      ck_assert(one[0].kind == Kind::kCombed && one[0].certainty != Certainty::kPossible);
      ck_assert(other[0].kind == Kind::kReferenceCombed);
    }
  }
}
END_TEST

/* A camera that hardly moves, as in a scene that stands: the pictures' own rows say nothing. */
START_TEST(combing_of_small_motion_is_found) {
  const auto slow = [](const Shown& shown) {
    return [shown](const Canvas& canvas, double time) { return shown(canvas, time / 8); };
  };
  const auto combed = [](const Canvas& canvas, double time) { return woven(canvas, time / 8, (time + 0.5) / 8); };
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const auto one = findings_of(seed, slow(whole), combed), other = findings_of(seed, combed, slow(whole));
    ck_assert(find(one, Kind::kCombed) && one.size() == 1);
    ck_assert(find(other, Kind::kReferenceCombed) && !find(other, Kind::kCombed));
    ck_assert_int_eq(findings_of(seed, slow(whole), slow(whole)).size(), 0);
    ck_assert_int_eq(findings_of(seed, combed, combed).size(), 0);
  }
}
END_TEST

START_TEST(fields_in_the_other_order_are_found) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const auto findings = findings_of(seed, top_first, bottom_first);
    ck_assert_int_eq(findings.size(), 1);
    ck_assert(findings[0].kind == Kind::kFieldOrder && findings[0].certainty == Certainty::kSure);
    ck_assert_int_eq(findings[0].end, kFrames);
  }
}
END_TEST

START_TEST(rows_that_come_twice_are_fields_dropped) {
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    const auto findings = findings_of(seed, whole, doubled, 1);
    const Finding* const f = find(findings, Kind::kFieldsDropped);
    ck_assert_msg(f && f->certainty != Certainty::kPossible, "seed %d", seed);
  }
}
END_TEST

/* Noise, softness, a frame late; of whole and of combed pictures. */
START_TEST(nothing_is_said_of_good_encodes) {
  const int step = every_if_not_all(8) * every_under_sanitizers(6);
  for (int seed = 0; seed < 200; seed += step) {
    const int what = seed / step % 5;
    const Shown ref = what > 2 ? Shown(top_first) : Shown(whole);
    const auto dist = [&](const Canvas& canvas, double time) {
      Painted p = ref(canvas, what == 2 ? time - 1 : time);
      return what == 1 ? blurred(p, 1) : p;
    };
    const auto findings = findings_of(seed, ref, dist, what == 0 || what == 3 ? 25 : 4);
    ck_assert_msg(findings.empty(), "seed %d, %d: kind %d", seed, what, static_cast<int>(findings[0].kind));
  }
}
END_TEST

/* An encoder that is short of bits blurs the fields of some frames; one that deinterlaces blurs those of all. */
START_TEST(an_encode_that_keeps_fields_does_not_lack_them) {
  const auto blurs = [](int of) {
    return [of](const Canvas& canvas, double time) {
      const Painted p = top_first(canvas, time);
      return static_cast<int64_t>(time) / 3 % 5 < of ? blurred(p, 3) : p;
    };
  };
  for (int seed = 0; seed < kSeeds; seed += every_if_not_all(kSeeds)) {
    ck_assert_int_eq(findings_of(seed, top_first, blurs(2)).size(), 0);
    const auto all = findings_of(seed, top_first, blurs(5));
    ck_assert(find(all, Kind::kReferenceCombed));
  }
}
END_TEST

/* Fields that change in mid-stream are told from about there on: a chapter in which they change has both. */
START_TEST(fields_of_a_part_are_found_there) {
  constexpr int64_t kPairs = 192, kBegins = 96;
  const auto changed = [](const Shown& before, const Shown& after) {
    const Canvas canvas(2);
    Random random(3);
    Looking<Structure> looking(format());
    for (int64_t frame = 0; frame < kPairs; frame++) {
      const auto time = static_cast<double>(frame % 60);
      Painted p = (frame < kBegins ? before : after)(canvas, time);
      add_noise(p, 3, random);
      looking.add(frame, before(canvas, time), p);
    }
    return looking.finish();
  };
  const auto check = [](const std::vector<Finding>& findings, Kind kind) {
    const Finding* const f = find(findings, kind);
    ck_assert_msg(f && findings.size() == 1 && f->certainty != Certainty::kPossible, "%zu findings", findings.size());
    ck_assert_msg(std::abs(f->from - kBegins) <= 48 && f->end == kPairs, "%d to %d", static_cast<int>(f->from),
                  static_cast<int>(f->end));
  };
  check(changed(whole, top_first), Kind::kCombed);
  check(changed(top_first, whole), Kind::kReferenceCombed);
  check(changed(top_first, bottom_first), Kind::kFieldOrder);
}
END_TEST

/* Between frames that are not neighbors there is no motion to compare with. */
START_TEST(gaps_say_nothing) {
  const Canvas canvas(1);
  Looking<Structure> looking(format());
  for (int64_t frame = 0; frame < kFrames; frame += 2) {
    const auto time = static_cast<double>(frame);
    looking.add(frame, whole(canvas, time), top_first(canvas, time));
  }
  ck_assert_int_eq(looking.finish().size(), 0);
}
END_TEST

int main() {
  return run_suite("structure", {{"combed", combing_is_found_in_the_one_that_has_it},
                                 {"small_motion", combing_of_small_motion_is_found},
                                 {"order", fields_in_the_other_order_are_found},
                                 {"dropped", rows_that_come_twice_are_fields_dropped},
                                 {"kept", an_encode_that_keeps_fields_does_not_lack_them},
                                 {"part", fields_of_a_part_are_found_there},
                                 {"good", nothing_is_said_of_good_encodes},
                                 {"gaps", gaps_say_nothing}});
}
